"""Reading one catalogue file: the compiled form where it is current, else the source.

The build compiles every `.po` (hatch_build.py). A source that is newer than its `.mo`, or has
none (a plugin under development), is parsed here, which costs the import of babel.
"""

from __future__ import annotations

import io
import struct
from gettext import GNUTranslations
from pathlib import Path


def _is_current(compiled: Path, source: Path) -> bool:
    try:
        return compiled.stat().st_mtime_ns >= source.stat().st_mtime_ns
    except FileNotFoundError:
        return compiled.is_file()


def _parse(source: Path) -> GNUTranslations:
    from babel.messages.mofile import write_mo  # noqa: PLC0415  (90 ms, seldom needed)
    from babel.messages.pofile import PoFileError, read_po  # noqa: PLC0415

    if not source.is_file():  # a pipe would never end
        raise ValueError("not a plain file")
    compiled = io.BytesIO()
    try:
        with source.open("rb") as text:
            write_mo(compiled, read_po(text, abort_invalid=True))
    except PoFileError as error:
        raise ValueError(str(error)) from error
    compiled.seek(0)
    return GNUTranslations(compiled)


def read_catalogue(source: Path) -> GNUTranslations:
    """Load NAME.po, or the NAME.mo beside it when that is not older.

    Raises:
        OSError, ValueError: the file cannot be read, or is no catalogue.
    """
    compiled = source.with_suffix(".mo")
    if _is_current(compiled, source):
        try:
            with compiled.open("rb") as binary:
                return GNUTranslations(binary)
        except struct.error as error:
            raise ValueError(str(error)) from error
    return _parse(source)
