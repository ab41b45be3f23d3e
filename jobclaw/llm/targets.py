"""The models of a configuration in the order they are asked, each with its address and key."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from jobclaw.settings.services import LlmSettings

LOCAL_PROVIDERS = frozenset({"ollama", "ollama_chat", "lm_studio", "llamafile"})
LOCAL_NAMES = frozenset({"localhost", "host.docker.internal"})


@dataclass(frozen=True)
class Target:
    """One model; empty `api_base` and `api_key`: as litellm finds them.

    `local`: on this machine or network, where the first answer may take long, since the model
    is loaded for it.
    """

    model: str
    api_base: str = ""
    api_key: str = field(default="", repr=False)
    local: bool = False

    @property
    def is_keyless(self) -> bool:
        """Whether it is a server of one's own that speaks OpenAI's protocol without a key."""
        return self.local and not self.api_key and _provider(self.model) == "openai"


def targets_of(settings: LlmSettings) -> tuple[Target, ...]:
    """The model and its fallbacks, without repetition.

    A key is never shown to another provider than the one it was written for.
    """
    own = _provider(settings.model)
    found: dict[str, Target] = {}
    for model in (settings.model, *settings.fallbacks):
        same = _provider(model) == own
        base = settings.api_base if same else ""
        key = settings.api_key.get_secret_value() if same else ""
        if model:
            found.setdefault(model, Target(model, base, key, is_local(model, base)))
    return tuple(found.values())


def is_local(model: str, api_base: str) -> bool:
    """Whether a model runs on this machine or network."""
    if not api_base:
        return _provider(model) in LOCAL_PROVIDERS
    host = urlsplit(api_base).hostname or ""
    if host in LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_private


def _provider(model: str) -> str:
    """What stands before the first slash; a bare name has none that could be compared."""
    return model.partition("/")[0] if "/" in model else ""
