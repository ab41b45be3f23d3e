"""A session file that cannot be used is kept aside, reported, and stops nobody."""

import os

import pytest
from session_desk import KEY, USER, Desk
from store_samples import bound

from jobclaw.model import Session
from jobclaw.storage import FileProblem, open_store

BROKEN = {
    "empty": b"",
    "nul": b"\0" * 300,
    "half": b'sessionId: "console:main:c1:u1"\nboundAgentId: "job-se',
    "list": b"- 1\n- 2\n",
    "tag": b"!!python/object/apply:os.system ['touch /tmp/pwned']\n",
    "bad date": b'sessionId: "console:main:c1:u1"\nexpiresAt: soon\n',
    "alias": b'sessionId: &a "console:main:c1:u1"\nboundAgentId: *a\n',
    "other session": b'sessionId: "console:main:c2:u1"\nboundAgentId: "chat"\n',
    "too large": b'sessionId: "console:main:c1:u1"\n' + b"# filler\n" * 10_000,
    "not utf-8": b'sessionId: "console:main:c1:u1" # \xff\n',
    "number": b'sessionId: "console:main:c1:u1"\nboundAgentId: 12\n',
    "stale tail": b'sessionId: "console:main:c1:u1"\nboundAgentId: "chat"\nb-search"\n',
}


class TestBrokenFiles:
    @pytest.mark.parametrize("kind", BROKEN)
    @pytest.mark.parametrize("row", ["with row", "without row"])
    async def test_it_is_moved_aside_untouched_reported_and_the_row_counts(
        self, desk: Desk, kind: str, row: str
    ) -> None:
        if row == "with row":
            await desk.turn(bound(KEY))
            await desk.settle()
        desk.file.parent.mkdir(mode=0o700, exist_ok=True)
        desk.file.write_bytes(BROKEN[kind])
        fresh = bound(KEY) if row == "with row" else Session(key=KEY, user_id=USER)
        assert desk.read() == fresh
        [aside] = desk.asides()
        assert aside.read_bytes() == BROKEN[kind]
        [problem] = desk.problems
        assert (problem.path, problem.aside) == (str(desk.file), str(aside))
        assert problem.text_id.partition(".")[0] in {"yaml", "storage"}
        await desk.turn(bound(KEY))
        assert '"job-search"' in await desk.settle()
        assert desk.read() == bound(KEY)
        assert len(desk.problems) == 1

    async def test_every_broken_file_of_a_moment_is_kept(self, desk: Desk) -> None:
        desk.file.parent.mkdir(mode=0o700)
        for number in range(3):
            desk.file.write_text(f"- {number}")
            desk.read()
        assert sorted(path.read_text() for path in desk.asides()) == ["- 0", "- 1", "- 2"]

    async def test_a_link_is_not_followed(self, desk: Desk) -> None:
        secret = desk.workspace.parent / "secret.yaml"
        secret.write_text(f'sessionId: "{KEY}"\nboundAgentId: stolen\n')
        desk.file.parent.mkdir(mode=0o700)
        desk.file.symlink_to(secret)
        assert desk.read().bound_agent == ""
        await desk.turn(bound(KEY))
        await desk.settle()
        assert "stolen" in secret.read_text()
        assert [path.is_symlink() for path in desk.asides()] == [True]
        assert not desk.file.is_symlink()

    async def test_a_linked_folder_is_neither_read_nor_written(self, desk: Desk) -> None:
        outside = desk.workspace.parent / "outside"
        outside.mkdir()
        (outside / desk.file.name).write_text(f'sessionId: "{KEY}"\nboundAgentId: stolen\n')
        desk.file.parent.symlink_to(outside)
        assert desk.read().bound_agent == ""
        await desk.turn(bound(KEY))
        await desk.store.flush()
        assert [path.name for path in outside.iterdir()] == [desk.file.name]
        assert "stolen" in (outside / desk.file.name).read_text()
        assert desk.read() == bound(KEY)
        assert desk.problems

    @pytest.mark.parametrize("kind", ["folder", "fifo"])
    async def test_what_is_no_plain_file_is_moved_aside(self, desk: Desk, kind: str) -> None:
        desk.file.parent.mkdir(mode=0o700)
        if kind == "folder":
            desk.file.mkdir()
        else:
            os.mkfifo(desk.file)
        assert desk.read() == Session(key=KEY, user_id=USER)
        assert len(desk.asides()) == 1
        assert desk.problems[0].text_id == "storage.not-plain-file"

    async def test_reading_only_touches_nothing(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        await desk.settle()
        desk.file.write_text("- broken")
        problems: list[FileProblem] = []
        beside = open_store(desk.workspace, desk.clock, read_only=True, report=problems.append)
        assert beside.read(KEY, USER) == bound(KEY)
        await beside.close()
        assert desk.file.read_text() == "- broken"
        assert [problem.aside for problem in problems] == [""]
