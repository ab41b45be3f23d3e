"""A workspace with an open store, and a person beside it who edits session files."""

import asyncio
from pathlib import Path

from store_samples import SteppedClock, handled, ingest, message

from jobclaw.model import Session
from jobclaw.storage import FileProblem, SqliteStore, open_store

KEY = "console:main:c1:u1"
USER = "u1"


class Desk:
    """A workspace with an open store, and a person beside it who edits files."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.clock = SteppedClock()
        self.problems: list[FileProblem] = []
        self.file = workspace / "sessions/u1/session-console%3Amain%3Ac1%3Au1.yaml"
        self._number = 0
        self.store: SqliteStore = self._open()

    def _open(self) -> SqliteStore:
        return open_store(self.workspace, self.clock, report=self.problems.append)

    async def reopen(self) -> None:
        await self.store.close()
        self.store = self._open()

    def read(self) -> Session:
        return self.store.read(KEY, USER)

    def edit(self, old: str, new: str) -> None:
        """Edit as an editor does: a new file over the old one."""
        text = self.file.read_text("utf-8")
        assert old in text
        draft = self.file.with_suffix(".draft")
        draft.write_text(text.replace(old, new), "utf-8")
        draft.replace(self.file)

    async def turn(self, session: Session) -> None:
        """Handle one message that leaves the session so."""
        self._number += 1
        one = message(self._number)
        [seq] = await ingest(self.store, one)
        await self.store.commit(handled(seq, one, session=session))

    async def settle(self) -> str:
        """Have every file written; the text of the session's."""
        await self.store.flush()
        return self.file.read_text("utf-8")

    def asides(self) -> list[Path]:
        return sorted(self.file.parent.glob("*.broken-*"))


async def until_written(path: Path, part: str) -> None:
    """Let the file thread write, without a flush."""
    written = asyncio.Event()

    def look() -> None:
        if path.exists() and part in path.read_text("utf-8"):
            written.set()
        else:
            asyncio.get_running_loop().call_soon(look)

    look()
    async with asyncio.timeout(10):
        await written.wait()
