"""The table of slash commands: system commands, those that route, and what was meant by a typo.

Ids of agents (`/job-recommend`) are explicit switches, not commands, and are not in here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from jobclaw.errors import PluginError
from jobclaw.model import ROLES, Locale, Role, may_use
from jobclaw.texts import Catalogue

CommandKind = Literal["system", "intent", "agent"]
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_SHORT_NAME = 5
_SYSTEM = "jobclaw"


def _no_summary() -> dict[Locale, str]:
    return {}


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command; `name` is without its slash and with `-` for `_`.

    The sentence about it is `summary_id` in `texts` (the core's catalogue when None), else
    `summary` by language.
    """

    name: str
    kind: CommandKind
    intent: str = ""
    agent: str = ""
    role: Role = "free"
    summary_id: str = ""
    summary: Mapping[Locale, str] = field(default_factory=_no_summary)
    texts: Catalogue | None = None
    source: str = _SYSTEM

    def describe(self, locale: Locale, core: Catalogue) -> str:
        """Say what the command does; empty if nobody wrote it down."""
        texts = self.texts or core
        if self.summary_id and texts.has(locale, self.summary_id):
            return texts.say(locale, self.summary_id)
        return self.summary.get(locale) or next(iter(self.summary.values()), "")

    def means(self, other: CommandSpec) -> bool:
        """Whether both do the same, so that two sources may name it."""
        return (self.kind, self.intent, self.agent) == (other.kind, other.intent, other.agent)


def _key(name: str) -> str:
    return name.casefold().replace("_", "-")


class CommandTable:
    """Commands by name, over all sources; each change replaces the whole view at once.

    Names of the system are nobody else's. What the operator maps (the `commands` of the keyword
    file) wins over plugins; between plugins the first keeps a name.
    """

    def __init__(self, system: Sequence[CommandSpec] = ()) -> None:
        self._sources: dict[str, tuple[CommandSpec, ...]] = {}
        self._operators: frozenset[str] = frozenset()
        self._by_name: dict[str, CommandSpec] = {}
        self._by_role: dict[Role, tuple[CommandSpec, ...]] = dict.fromkeys(ROLES, ())
        self.revision = 0
        self.replace(_SYSTEM, system)

    def get(self, name: str) -> CommandSpec | None:
        """The command of this name; `-` and `_` are equal, case does not matter."""
        return self._by_name.get(name) or self._by_name.get(_key(name))

    def all(self, role: Role = "admin") -> tuple[CommandSpec, ...]:
        """The commands that a role may use, the system's first, the others by name."""
        return self._by_role[role]

    def near(self, name: str, role: Role = "admin") -> str | None:
        """The registered name that was probably meant, the nearest, then the first by letter.

        Near is one slip (a letter too many, too few, wrong, or two swapped) for names of up to
        five letters, two for longer ones.
        """
        typed = _key(name)
        best: tuple[int, str] | None = None
        for spec in self.all(role):
            limit = 1 if len(spec.name) <= _SHORT_NAME else 2
            if abs(len(spec.name) - len(typed)) > limit:
                continue
            found = (_slips(typed, spec.name), spec.name)
            if found[0] <= limit and (best is None or found < best):
                best = found
        return None if best is None else best[1]

    def replace(
        self, source: str, specs: Sequence[CommandSpec], *, operator: bool = False
    ) -> None:
        """Set all commands of a source; on an error nothing has changed.

        Raises:
            PluginError: a name is malformed, twice in `specs`, or taken.
        """
        sources = dict(self._sources)
        sources[source] = tuple(replace(spec, source=source) for spec in specs)
        operators = self._operators | {source} if operator else self._operators - {source}
        self._by_name = self._merge(source, sources, operators)
        self._sources, self._operators = sources, operators
        self._arrange()

    def unregister(self, source: str) -> None:
        """Forget the commands of a source."""
        sources = {name: specs for name, specs in self._sources.items() if name != source}
        if len(sources) != len(self._sources):
            self._by_name = self._merge(source, sources, self._operators)
            self._sources = sources
            self._arrange()

    def _merge(
        self,
        changed: str,
        sources: Mapping[str, tuple[CommandSpec, ...]],
        operators: frozenset[str],
    ) -> dict[str, CommandSpec]:
        ranked = sorted(sources, key=lambda name: (name != _SYSTEM, name not in operators))
        merged: dict[str, CommandSpec] = {}
        for source in ranked:
            for spec in _checked(source, sources[source]):
                known = merged.get(spec.name)
                if known is None:
                    merged[spec.name] = spec
                elif not known.means(spec) and known.source not in operators:
                    owner = known.source if source == changed else source
                    raise PluginError(
                        "plugins.command-taken", plugin=changed, command=spec.name, owner=owner
                    )
        return merged

    def _arrange(self) -> None:
        order = {spec.name: at for at, spec in enumerate(self._sources.get(_SYSTEM, ()))}
        ordered = sorted(
            self._by_name.values(),
            key=lambda spec: (order.get(spec.name, len(order)), spec.name),
        )
        self._by_role = {
            role: tuple(spec for spec in ordered if may_use(role, spec.role)) for role in ROLES
        }
        self.revision += 1


def _checked(source: str, specs: Sequence[CommandSpec]) -> Sequence[CommandSpec]:
    seen: set[str] = set()
    for spec in specs:
        if not _NAME.fullmatch(spec.name):
            raise PluginError("plugins.bad-command", plugin=source, command=spec.name)
        if spec.name in seen:
            raise PluginError(
                "plugins.command-taken", plugin=source, command=spec.name, owner=source
            )
        seen.add(spec.name)
    return specs


def _slips(left: str, right: str) -> int:
    """The edit distance with transpositions of neighbours (optimal string alignment)."""
    before: list[int] = []
    above = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]
