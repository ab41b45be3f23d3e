"""What the command line tells the console channel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from jobclaw.model import Locale


class ConsoleSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to talk: `mode` is a prompt, JSON lines, or one `text`.

    `user` and `role` are the defaults of every message (`role` empty: the stored one);
    `conversation` empty means the user's own. `history`: file of earlier prompts. `locales`:
    the catalogues of the core, then of the deployment.
    """

    mode: Literal["prompt", "jsonl", "once"] = "prompt"
    user: str = "u1"
    role: str = ""
    conversation: str = ""
    text: str = ""
    locale: Locale = "en"
    history: Path | None = None
    locales: tuple[Path, ...] = ()
    color: bool = False
