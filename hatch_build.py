"""Build hook: compile every message catalogue (.po) to the .mo that gettext loads."""

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileCatalogues(BuildHookInterface):  # type: ignore[type-arg]
    """Writes NAME.mo beside every NAME.po under the package roots."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Run before every build, the editable one of `make run` included."""
        for root in ("jobclaw", "channels", "agents"):
            for source in sorted((Path(self.root) / root).rglob("locales/*.po")):
                with source.open("rb") as text, source.with_suffix(".mo").open("wb") as binary:
                    write_mo(binary, read_po(text, abort_invalid=True))
