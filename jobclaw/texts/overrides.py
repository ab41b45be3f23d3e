"""Checks the sentences that a deployment puts in place of shipped ones.

At run time a wrong one is left out or shown unfilled; here it is named with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Formatter

from jobclaw.errors import ConfigError
from jobclaw.texts.catalogue import Catalogue
from jobclaw.texts.language import LOCALES

_COUNTS = (None, 1, 2)


def check_overrides(
    folder: Path, shipped: Sequence[Path], foreign: Sequence[str] = ()
) -> Iterator[ConfigError]:
    """Find what is wrong in the sources of `folder`, compared with the `shipped` folders.

    Ids whose first word is in `foreign` belong to catalogues that are not known here.
    """
    catalogues = [Catalogue([one]) for one in shipped]
    for file in sorted(folder.glob("*.po")):
        for line, text_id, sentence in _sentences(file):
            if isinstance(sentence, ConfigError):
                yield sentence
                continue
            problem = _problem(catalogues, text_id, sentence, foreign)
            if problem is not None:
                problem.values.update(where=f"{file}:{line}", path=text_id)
                yield problem


def _problem(
    catalogues: Sequence[Catalogue], text_id: str, sentence: str, foreign: Sequence[str]
) -> ConfigError | None:
    try:
        used = _placeholders(sentence)
    except ValueError as error:
        return ConfigError("config.catalogue-bad-form", reason=str(error))
    if text_id.partition(".")[0] in foreign:
        return None
    originals = list(_originals(catalogues, text_id))
    if not originals:
        return ConfigError("config.catalogue-unknown-id")
    known = set[str]().union(*map(_placeholders, originals))
    if used <= known:
        return None
    names = ", ".join(sorted(used - known))
    return ConfigError(
        "config.catalogue-unknown-value", name=names, known=", ".join(sorted(known))
    )


def _originals(catalogues: Sequence[Catalogue], text_id: str) -> Iterator[str]:
    for catalogue in catalogues:
        for locale in LOCALES:
            for count in _COUNTS:
                found = catalogue.lookup(locale, text_id, count)
                if found is not None:
                    yield found


def _placeholders(sentence: str) -> set[str]:
    """The names in braces; ValueError where braces do not fit."""
    names = {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}
    return {name.partition(".")[0].partition("[")[0] for name in names}


def _sentences(file: Path) -> Iterator[tuple[int, str, str | ConfigError]]:
    """Every translated form with its line and id, or why the file is of no use."""
    from babel.messages.pofile import PoFileError, read_po  # noqa: PLC0415 - slow, seldom needed

    if not file.is_file():
        yield 0, "", ConfigError("file.not-plain", file=str(file))
        return
    try:
        with file.open("rb") as source:
            catalogue = read_po(source, abort_invalid=True)
    except (PoFileError, OSError, ValueError, LookupError) as error:
        yield 0, "", ConfigError("config.catalogue-unusable", file=str(file), reason=str(error))
        return
    for message in catalogue:
        text_id = message.id if isinstance(message.id, str) else message.id[0]
        forms = (message.string,) if isinstance(message.string, str) else message.string
        for form in () if message.fuzzy or not text_id else forms or ():
            if form:
                yield message.lineno or 0, text_id, form
