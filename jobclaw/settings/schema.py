"""All settings, one field a section; the names are those of config/jobclaw.yaml.

Every field says below it what it does, its unit, its default and why. `config/jobclaw.yaml`
shows the same to the people who edit it, and a test keeps both together.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import cast

from pydantic import Field, PrivateAttr, model_validator

from jobclaw.settings.channels import ChannelSettings
from jobclaw.settings.fields import Origin, RootedPath, Section
from jobclaw.settings.masking import masked
from jobclaw.settings.operation import (
    AgentSettings,
    FetchSettings,
    LocaleSettings,
    LoggingSettings,
    OperatorSettings,
    PluginSettings,
    RolesSettings,
    UnknownSendSettings,
)
from jobclaw.settings.routing import (
    BindingSettings,
    BusSettings,
    IntentSettings,
    LimitSettings,
    RouterSettings,
    TakeoverSettings,
)
from jobclaw.settings.secrets import secret_values
from jobclaw.settings.services import (
    ControllerSettings,
    DatabaseSettings,
    LlmSettings,
    McpSettings,
    StoreSettings,
    WebSettings,
)


class Settings(Section):
    """The whole configuration, checked and complete."""

    workspace: RootedPath = Path("workspace")
    """Folder for everything that is written at run time; back it up, never share it."""

    locale: LocaleSettings = Field(default_factory=LocaleSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    channels: ChannelSettings = Field(default_factory=ChannelSettings)
    llm: LlmSettings = Field(default_factory=LlmSettings)
    router: RouterSettings = Field(default_factory=RouterSettings)
    binding: BindingSettings = Field(default_factory=BindingSettings)
    takeover: TakeoverSettings = Field(default_factory=TakeoverSettings)
    intent: IntentSettings = Field(default_factory=IntentSettings)
    controller: ControllerSettings = Field(default_factory=ControllerSettings)
    mcp: McpSettings = Field(default_factory=McpSettings)
    bus: BusSettings = Field(default_factory=BusSettings)
    agents: AgentSettings = Field(default_factory=AgentSettings)
    plugins: PluginSettings = Field(default_factory=PluginSettings)
    fetch: FetchSettings = Field(default_factory=FetchSettings)
    unknown_send: UnknownSendSettings = Field(default_factory=UnknownSendSettings)
    roles: RolesSettings = Field(default_factory=RolesSettings)
    operator: OperatorSettings = Field(default_factory=OperatorSettings)
    logging: LoggingSettings = Field(default_factory=LoggingSettings)
    limits: LimitSettings = Field(default_factory=LimitSettings)

    _root: Path = PrivateAttr(default=Path())
    _files: tuple[Path, ...] = PrivateAttr(default=())

    @property
    def root(self) -> Path:
        """The folder that relative paths start from: the one that holds `config/`."""
        return self._root

    @property
    def files(self) -> tuple[Path, ...]:
        """The files these settings were read from, the overlay last."""
        return self._files

    @property
    def keywords_overlay(self) -> Path:
        """Where the operator's own keywords are, whether the file exists or not."""
        table = self.intent.keywords_file
        folder = table.parent if table.is_relative_to(self._root) else self._root / "config"
        return folder / f"{table.stem}.local{table.suffix}"

    @property
    def revision(self) -> str:
        """A short hash of the effective settings; secrets count only as given or not."""
        plain = json.dumps(self.show(), sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(plain.encode(), digest_size=5).hexdigest()

    def show(self) -> dict[str, object]:
        """The effective settings as JSON values, secrets masked."""
        return cast("dict[str, object]", masked(self.model_dump(mode="json")))

    def secrets(self) -> frozenset[str]:
        """Every secret value, for redaction."""
        return frozenset(secret_values(self))

    @model_validator(mode="before")
    @classmethod
    def _has_every_section(cls, data: object) -> object:
        """A section that is not there is an empty one, so its paths are rooted as well."""
        if not isinstance(data, dict):
            return data
        given = cast("dict[str, object]", data)
        sections: dict[str, object] = {
            name: {} for name in cls.model_fields if name != "workspace"
        }
        return sections | given

    def model_post_init(self, context: object, /) -> None:
        """Remember where the settings came from."""
        if isinstance(context, Origin):
            self._root, self._files = context.root, context.files
