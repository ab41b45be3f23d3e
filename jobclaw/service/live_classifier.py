"""The classifier in use, from the keyword table and the agents' own keywords.

It is replaced when either changes. A broken new table keeps the old one and says so. A new
table is read and built on a thread, since a large one takes seconds, which nobody shall wait.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from jobclaw.errors import ConfigError, PluginError
from jobclaw.intent.cascade import Cascade
from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.model import Classification
from jobclaw.registry.agents import AgentRegistry
from jobclaw.registry.commands import CommandSpec
from jobclaw.settings.keywords import KeywordFile, load_keywords
from jobclaw.settings.routing import IntentSettings
from jobclaw.texts import LOCALES

_log = logging.getLogger(__name__)
KEYWORD_FILE_SOURCE = "keywords"
EXAMPLES, EXAMPLE_LEAST_BYTES = "intro.examples", 8


class LiveClassifier:
    """Classifies with the newest good table; `problem` tells why a newer one is not used."""

    def __init__(
        self, settings: IntentSettings, table: Path, overlay: Path, agents: AgentRegistry
    ) -> None:
        self._settings = settings
        self._paths = (table, overlay)
        self._agents = agents
        self._file = load_keywords(table, overlay)
        self.problem: ConfigError | None = None
        self._changes = 0
        self._cascade = self._build()

    @property
    def revision(self) -> str:
        """Which keywords are in use."""
        return self._cascade.revision

    @property
    def keyword_file(self) -> KeywordFile:
        """The table as it was read last."""
        return self._file

    @property
    def paths(self) -> tuple[Path, Path]:
        """The table and its overlay."""
        return self._paths

    def classify(self, text: str) -> Classification:
        """See `intent.cascade.Cascade`."""
        return self._cascade.classify(text)

    async def reload(self) -> bool:
        """Read the table again; False if it is broken and the old one stays."""
        kept = self._file
        try:
            new = await asyncio.to_thread(load_keywords, *self._paths)
            table = await self._built(new)
            self._file = new
            self._cascade = self._over(table)
        except ConfigError as error:
            self._file, self.problem = kept, error
            _log.warning("the new keyword table is not used: %s", error)
            return False
        self.problem = None
        return True

    def refresh(self) -> None:
        """Build the classifier anew, as after a change of the agents."""
        self._changes += 1
        self._cascade = self._build()

    async def _built(self, file: KeywordFile) -> KeywordTable:
        """Build on a thread, and again if agents change meanwhile."""
        while True:
            seen, keywords = self._changes, self._keywords(file)
            priorities = self._agents.priorities()
            table = await asyncio.to_thread(KeywordTable.build, keywords, priorities)
            if seen == self._changes:
                return table

    def _build(self) -> Cascade:
        keywords = self._keywords(self._file)
        return self._over(KeywordTable.build(keywords, self._agents.priorities()))

    def _keywords(self, file: KeywordFile) -> Mapping[str, Mapping[str, float]]:
        """All words by intent: the table's, the agents' own, what they tell people to say."""
        merged = {intent: dict(words) for intent, words in file.intents.items()}
        for intent, words in self._agents.keywords().items():
            merged[intent] = {**words, **merged.get(intent, {})}
        for intent, example in self._examples():
            merged.setdefault(intent, {}).setdefault(example, 1.0)
        return merged

    def _over(self, table: KeywordTable) -> Cascade:
        """The classifier over a table; the commands of the file are known from now on."""
        try:
            self._agents.table.replace(KEYWORD_FILE_SOURCE, self._commands(), operator=True)
        except PluginError as error:
            raise ConfigError(
                "keywords.command-taken",
                file=str(self._paths[0]),
                command=error.values.get("command", ""),
            ) from error
        return Cascade(
            table,
            high=self._settings.high,
            medium=self._settings.medium,
            margin=self._settings.clarify.margin,
        )

    def _examples(self) -> Iterator[tuple[str, str]]:
        """What agents tell people to say, which must find them from any binding.

        Very short ones are left out: as keywords they would be heard in anything.
        """
        for entry in self._agents.all():
            if entry.disabled or not entry.intents:
                continue
            shown = "\n".join(entry.agent.intro.examples)
            for locale in LOCALES:
                if entry.texts is not None and entry.texts.has(locale, EXAMPLES):
                    shown = f"{shown}\n{entry.texts.say(locale, EXAMPLES)}"
            for example in dict.fromkeys(line.strip() for line in shown.splitlines()):
                if len(example.encode()) >= EXAMPLE_LEAST_BYTES:
                    yield entry.intents[0], example

    def _commands(self) -> list[CommandSpec]:
        """The intent commands of the table, with the role of who serves them."""
        specs: list[CommandSpec] = []
        for name, intent in self._file.commands.items():
            serving = self._agents.serving(intent)
            if serving:
                specs.append(
                    CommandSpec(
                        name=name.removeprefix("/"),
                        kind="intent",
                        intent=intent,
                        role=serving[-1].role,
                    )
                )
        return specs
