"""What the daemon offers and what it uses: web server, databases, model, tasks, tools."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Self

from pydantic import Field, model_validator

from jobclaw.errors import ConfigError
from jobclaw.settings.fields import (
    NO_SECRET,
    Count,
    Limit,
    Number,
    OptionalUrl,
    Seconds,
    Secret,
    Section,
    Share,
    Strings,
    Switch,
    complain,
)
from jobclaw.settings.secrets import CHOSEN_LENGTH, is_default

_OPEN_LENGTH = 32


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class WebSettings(Section):
    """The server for web chat, console, API and webhooks."""

    host: str = "127.0.0.1"
    """Address to listen on; another one than loopback also needs `--allow-remote`."""

    port: Annotated[Count, Field(le=65535)] = 8790
    """TCP port; 0 takes any free one."""

    public_url: OptionalUrl = ""
    """The address that people and platforms use, if a proxy stands in front."""

    allowed_hosts: Strings = ()
    """Further host names that requests may name (protection against DNS rebinding)."""

    operator_token: Secret = NO_SECRET
    """Bearer token of the operator; empty: a random one in workspace/operator.token (0600)."""

    @model_validator(mode="after")
    def _token_is_strong(self) -> Self:
        token = self.operator_token.get_secret_value()
        least = CHOSEN_LENGTH if _is_loopback(self.host) else _OPEN_LENGTH
        if token and (is_default(token) or len(token.encode()) < least):
            problem = ConfigError("config.secret-weak", least=least)
            complain([(("operator_token",), problem)])
        return self


class StoreSettings(Section):
    """The journal of messages, sessions and decisions."""

    url: Secret = NO_SECRET
    """Empty: SQLite in the workspace; `postgresql://…` for several machines."""


class DatabaseSettings(Section):
    """The job domain's own database."""

    url: Secret = NO_SECRET
    """Empty: SQLite in the workspace; else an async SQLAlchemy URL (postgresql+asyncpg://…,
    mysql+asyncmy://…)."""


class LlmSettings(Section):
    """The language model of the third tier and of agents."""

    model: str = ""
    """Name as litellm knows it, such as openai/gpt-4o-mini; empty: no model, all else works."""

    api_base: OptionalUrl = ""
    """Address of the provider, if not its usual one."""

    api_key: Secret = NO_SECRET
    """Key of the provider."""

    fallbacks: Strings = ()
    """Models tried in this order when the first one fails; address and key above are used for
    those of the same provider, others take theirs from the environment as litellm does."""

    timeout_s: Seconds = 8.0
    """Wall-clock seconds for one question, all attempts included; with fallbacks, a model that
    does not answer gets 60 % of what is left, so that the next one has its chance."""

    max_attempts: Limit = 2
    """Calls to one model for one question, the first included."""

    max_tokens: Limit = 2048
    """Most tokens of one answer."""

    cache_minutes: Annotated[Number, Field(ge=0)] = 60.0
    """Minutes for which the same question is answered from memory; 0: never."""

    breaker_failures: Limit = 3
    """Failures in a row after which a model is left alone for a while."""

    breaker_open_s: Seconds = 30.0
    """Seconds for which it is left alone, doubled up to five minutes while it stays bad."""

    monthly_budget_usd: Annotated[Number, Field(ge=0)] = 0.0
    """US dollars a month (UTC) after which the model is no longer asked; 0: no limit."""

    monthly_budget_tokens: Limit = 5_000_000
    """Tokens a month for models whose price is not known; only with `monthly_budget_usd`."""


class ControllerSettings(Section):
    """Tasks that users start, pause and change."""

    enable_intent_recognition: Switch = True
    """Whether messages are read for task intents at all."""

    intent_llm_id: str = ""
    """Model for task intents; empty: `llm.model`."""

    intent_confidence_threshold: Share = 0.7
    """Least confidence at which a task intent counts."""

    intent_type_list: Strings = (
        "create_task",
        "pause_task",
        "resume_task",
        "cancel_task",
        "continue_task",
        "supplement_task",
        "modify_task",
        "switch_task",
        "unknown_task",
    )
    """Task intents that may be recognised."""

    max_concurrent_tasks: Limit = 5
    """Tasks running at the same time in all."""

    per_session: Limit = 2
    """Tasks running at the same time for one session."""

    task_timeout_s: Seconds = 600.0
    """Seconds after which a task is ended."""


class McpServer(Section):
    """One tool server: started by `command`, or reached at `url`."""

    command: Strings = ()
    """Program and arguments of a local server."""

    url: OptionalUrl = ""
    """Address of a remote server."""

    env: dict[str, Secret] = Field(default_factory=dict[str, Secret])
    """Environment of a local server."""

    headers: dict[str, Secret] = Field(default_factory=dict[str, Secret])
    """Headers sent to a remote server."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            complain([((), ConfigError("config.mcp-target"))])
        return self


class McpSettings(Section):
    """Tool servers for agents."""

    servers: dict[str, McpServer] = Field(default_factory=dict[str, McpServer])
    """Servers by name."""
