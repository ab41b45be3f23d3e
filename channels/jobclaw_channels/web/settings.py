"""What the deployment tells the web channel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from jobclaw.model import Locale

MIB = 1024 * 1024


class WebSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where it keeps files, who may write, and its bounds.

    `locales`: the catalogues of the core, then of the deployment. `locale`: the page's language
    for a browser that names neither. `text_most` counts characters, `upload_most` and
    `uploads_most` (of one user in a day) bytes, `streams_most` the open tabs of one user.
    """

    workspace: Path
    access: Literal["open", "pairing", "allowlist"] = "open"
    locale: Locale = "zh"
    locales: tuple[Path, ...] = ()
    text_most: int = 20_000
    upload_most: int = 10 * MIB
    uploads_most: int = 50 * MIB
    storage_most: int = 2048 * MIB
    streams_most: int = 20
