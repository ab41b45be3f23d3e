"""Finding and filling sentences; a wrong sentence is logged once and shown, never raised.

A folder holds `NAME.zh.po` and `NAME.en.po` for any number of names (or just `zh.po` and
`en.po`); ids are symbolic (`router.no-such-agent`), placeholders are named (`{agent}`), plural
forms are gettext's. Files are read when a language is first asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from gettext import GNUTranslations
from pathlib import Path

from jobclaw.texts.compiled import read_catalogue
from jobclaw.texts.language import Locale

_log = logging.getLogger(__name__)
_REPORT_LIMIT = 500
_OTHER: dict[Locale, Locale] = {"zh": "en", "en": "zh"}


def core_folder() -> Path:
    """The folder of the core's own catalogues."""
    return Path(__file__).parent / "locales"


def _sources(folder: Path, locale: Locale) -> list[Path]:
    """The catalogue files of a folder by name; a compiled one may stand without its source."""
    found = {path.with_suffix(".po") for path in folder.glob("*.[pm]o")}
    return sorted(path for path in found if f".{path.stem}".endswith(f".{locale}"))


class Catalogue:
    """The sentences of some folders, later ones overriding earlier ones, then of `parent`.

    An id that the asked language lacks is looked for in the other one; an id nobody knows comes
    back as it is.
    """

    def __init__(self, folders: Sequence[Path], *, parent: Catalogue | None = None) -> None:
        self._folders = tuple(folders)
        self._parent = parent
        self._loaded: dict[Locale, tuple[GNUTranslations, ...]] = {}
        self._plain: dict[tuple[Locale, str], str] = {}
        self._known: dict[tuple[Locale, str], bool] = {}
        self._reported: set[str] = set()

    def say(self, locale: Locale, text_id: str, /, **values: object) -> str:
        """Give the sentence with its values; with `n` among them, in the plural form for it."""
        template = self._plain.get((locale, text_id)) if "n" not in values else None
        if template is None:
            template = self._find(locale, text_id, values.get("n"))
        if not values and "{" not in template:
            return template
        try:
            return template.format_map(values)
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            self._report(text_id, f"cannot be filled in: {error!r}")
            return template

    def has(self, locale: Locale, text_id: str) -> bool:
        """Whether this language itself knows the id; asked for every message, so remembered."""
        known = self._known.get((locale, text_id))
        if known is None:
            known = self._known[locale, text_id] = (
                self.lookup(locale, text_id, None) is not None
            )
        return known

    def _find(self, locale: Locale, text_id: str, count: object) -> str:
        number = count if isinstance(count, int) else None
        found = self.lookup(locale, text_id, number)
        if found is None:
            found = self.lookup(_OTHER[locale], text_id, number)
            self._report(text_id, f"is missing in {locale!r}")
            return text_id if found is None else found
        if number is None:
            self._plain[locale, text_id] = found
        return found

    def lookup(self, locale: Locale, text_id: str, number: int | None) -> str | None:
        """Find the unfilled sentence of one language, None if it lacks the id."""
        for part in self._parts(locale):
            found = part.gettext(text_id) if number is None else _plural(part, text_id, number)
            if found != text_id:
                return found
        return None if self._parent is None else self._parent.lookup(locale, text_id, number)

    def _parts(self, locale: Locale) -> tuple[GNUTranslations, ...]:
        """The files of a language, the one that overrides the others first."""
        parts = self._loaded.get(locale)
        if parts is None:
            sources = [file for folder in self._folders for file in _sources(folder, locale)]
            parts = tuple(part for file in reversed(sources) if (part := self._read(file)))
            self._loaded[locale] = parts
        return parts

    def _read(self, source: Path) -> GNUTranslations | None:
        try:
            return read_catalogue(source)
        except (OSError, ValueError) as error:
            _log.warning("catalogue %s cannot be read and is left out: %s", source, error)
            return None

    def _report(self, text_id: str, problem: str) -> None:
        if text_id not in self._reported and len(self._reported) < _REPORT_LIMIT:
            self._reported.add(text_id)
            _log.warning("sentence %s %s", text_id, problem)


def _plural(part: GNUTranslations, text_id: str, number: int) -> str:
    """The plural form for `number`, or the plain sentence where there are no plural forms."""
    found = part.ngettext(text_id, text_id, number)
    return part.gettext(text_id) if found == text_id else found
