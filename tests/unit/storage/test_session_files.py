"""Session files: written behind the rows, read back when a person edits them."""

import asyncio
import stat
from datetime import timedelta
from itertools import pairwise

import msgspec
import pytest
from session_desk import KEY, USER, Desk, until_written
from store_samples import START, bound, entry

from jobclaw.model import HISTORY_LIMIT, Session


class TestWriting:
    async def test_a_new_binding_is_written_at_once(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        await until_written(desk.file, 'boundAgentId: "job-search"')
        await desk.turn(msgspec.structs.replace(bound(KEY), bound_agent=""))
        await until_written(desk.file, "boundAgentId: null")

    async def test_a_renewal_is_written_within_ten_minutes(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        before = await desk.settle()
        desk.read()
        renewed = msgspec.structs.replace(bound(KEY), expires_at=START + timedelta(hours=9))
        await desk.turn(renewed)
        await desk.store.save(bound("console:main:other:u1"))  # wakes the thread
        other = desk.file.with_name("session-console%3Amain%3Aother%3Au1.yaml")
        await until_written(other, "job-search")
        assert desk.file.read_text("utf-8") == before
        desk.clock.move(timedelta(minutes=10))
        await desk.store.save(bound("console:main:third:u1"))
        await until_written(desk.file, "expiresAt: 2026-08-03T19:30:45Z")

    async def test_closing_writes_what_is_left(self, desk: Desk) -> None:
        await desk.turn(Session(key=KEY, user_id=USER, history=(entry(1),)))
        await desk.store.close()
        assert '"I1"' in desk.file.read_text("utf-8")

    async def test_files_and_folders_are_for_the_owner_alone(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        await desk.settle()
        for path in (desk.file, desk.workspace / "journal.db"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for path in (desk.file.parent, desk.file.parent.parent, desk.workspace):
            assert stat.S_IMODE(path.stat().st_mode) == 0o700

    @pytest.mark.parametrize(
        "user",
        [
            "../../etc/cron.d/x",
            "..",
            "a\0b",
            "%2e%2e%2f",
            "-rf",
            "x" * 500,
            "😀" * 300,
            "con",
            "",
        ],
    )
    async def test_no_id_leaves_the_folder(self, desk: Desk, user: str) -> None:
        outside = {
            path for path in desk.workspace.parent.rglob("*") if "sessions" not in str(path)
        }
        sessions = [bound(f"console:main:{user}{end}:u", user + end) for end in ("", "x", "X")]
        for session in sessions:
            await desk.turn(session)
        await desk.reopen()
        assert [desk.store.read(one.key, one.user_id) for one in sessions] == sessions
        files = [path for path in desk.workspace.rglob("*.yaml") if path.is_file()]
        assert len(files) == 3
        assert len({path.parent for path in files}) == 3
        assert all(path.parent.parent == desk.workspace / "sessions" for path in files)
        after = {
            path for path in desk.workspace.parent.rglob("*") if "sessions" not in str(path)
        }
        assert after == outside

    @pytest.mark.parametrize("id_", ["0061234", "1e5", "no", "~", "1:30"])
    async def test_ids_that_look_like_numbers_bind_across_restarts(
        self, desk: Desk, id_: str
    ) -> None:
        session = bound(f"console:main:{id_}:{id_}", id_, agent=id_)
        await desk.turn(session)
        await desk.reopen()
        (desk.workspace / "journal.db").unlink()
        await desk.reopen()
        restored = desk.store.read(session.key, id_)
        assert (restored.key, restored.bound_agent) == (session.key, id_)

    async def test_an_unwritable_folder_is_reported_and_the_row_counts(
        self, desk: Desk
    ) -> None:
        desk.file.parent.write_text("in the way")
        await desk.turn(bound(KEY))
        await desk.store.flush()
        assert {problem.text_id for problem in desk.problems} == {"storage.session-not-written"}
        await desk.reopen()
        assert desk.read() == bound(KEY)
        desk.file.parent.unlink()
        desk.clock.move(timedelta(minutes=11))
        assert '"job-search"' in await desk.settle()


class TestEdits:
    @pytest.mark.parametrize("where", ["warm", "cold"])
    @pytest.mark.parametrize(
        ("old", "new", "changes"),
        [
            ('"job-search"', '"chat"', {"bound_agent": "chat"}),
            ('"job-search"', "chat", {"bound_agent": "chat"}),
            ('"job-search"', "", {"bound_agent": "", "bound_at": None, "expires_at": None}),
            (
                'boundAgentId: "job-search"\n',
                "",
                {"bound_agent": "", "bound_at": None, "expires_at": None},
            ),
            ("T16:30:45Z", "T11:30:45Z", {"expires_at": START + timedelta(hours=1)}),
            ("sessionId", "# by hand\nsessionId", {}),
        ],
    )
    async def test_an_edit_counts_at_the_next_message_and_stays(
        self, desk: Desk, where: str, old: str, new: str, changes: dict[str, object]
    ) -> None:
        full = msgspec.structs.replace(bound(KEY), history=(entry(1),), greeted=True)
        await desk.turn(full)
        await desk.settle()
        assert desk.read() == full
        if where == "cold":
            await desk.store.close()
        desk.edit(old, new)
        if where == "cold":
            await desk.reopen()
        edited = msgspec.structs.replace(full, **changes)
        assert desk.read() == edited
        assert desk.read() == edited
        assert new in await desk.settle()
        later = msgspec.structs.replace(edited, history=(entry(1), entry(2)))
        await desk.turn(later)
        assert '"I2"' in await desk.settle()
        await desk.reopen()
        assert desk.read() == later
        assert desk.problems == []

    async def test_an_edit_in_place_of_the_same_size_is_seen(self, desk: Desk) -> None:
        await desk.turn(bound(KEY, agent="agent-a"))
        await desk.settle()
        for old, new in pairwise(b"abcdefgh"):
            desk.read()
            text = desk.file.read_bytes()
            desk.file.write_bytes(text.replace(b"agent-%c" % old, b"agent-%c" % new))
            assert desk.read().bound_agent == f"agent-{new:c}"

    async def test_an_edit_made_during_a_turn_is_not_lost(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        await desk.settle()
        before = desk.read()
        desk.edit('"job-search"', '"chat"')
        await desk.turn(msgspec.structs.replace(before, history=(entry(1),)))
        await desk.store.flush()
        now = desk.read()
        assert (now.bound_agent, now.history) == ("chat", (entry(1),))

    async def test_an_edit_that_somebody_else_read_during_a_turn_is_not_lost(
        self, desk: Desk
    ) -> None:
        await desk.turn(bound(KEY))
        await desk.settle()
        before = desk.read()
        desk.edit('"job-search"', '"chat"')
        assert desk.read().bound_agent == "chat"  # the console looks
        await desk.turn(msgspec.structs.replace(before, history=(entry(1),)))
        await desk.store.flush()
        now = desk.read()
        assert (now.bound_agent, now.history) == ("chat", (entry(1),))
        await desk.turn(now)
        assert '"chat"' in await desk.settle()

    async def test_a_switch_after_the_edit_wins(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        await desk.settle()
        desk.edit('"job-search"', '"chat"')
        seen = desk.read()
        later = START + timedelta(seconds=5)
        await desk.turn(msgspec.structs.replace(seen, bound_agent="job-search", bound_at=later))
        assert 'boundAgentId: "job-search"' in await desk.settle()
        await desk.reopen()
        assert (desk.read().bound_agent, desk.read().bound_at) == ("job-search", later)

    async def test_pairs_of_messages_with_edits_between_keep_history_and_edits(
        self, desk: Desk
    ) -> None:
        lane = asyncio.Lock()

        async def work(number: int) -> None:
            async with lane:
                session = desk.read()
                history = (*session.history, entry(number))[-HISTORY_LIMIT:]
                await desk.turn(msgspec.structs.replace(session, history=history))

        await desk.turn(bound(KEY, agent="agent-0"))
        await desk.settle()
        for pair in range(100):
            first = asyncio.create_task(work(2 * pair))
            second = asyncio.create_task(work(2 * pair + 1))
            if pair % 10 == 5:
                await asyncio.sleep(0)
                desk.edit("sessionId", f"# edit {pair}\nsessionId")
                desk.edit(f'"agent-{pair // 10}"', f'"agent-{pair // 10 + 1}"')
            await asyncio.gather(first, second)
            if pair % 10 == 9:
                await work_until_known(desk, f"agent-{pair // 10 + 1}")
        assert [one.intent for one in desk.read().history] == [f"I{n}" for n in range(190, 200)]
        assert desk.read().bound_agent == "agent-10"
        assert '"I199"' in await desk.settle()
        assert desk.problems == []


async def work_until_known(desk: Desk, agent: str) -> None:
    """A turn after the edit carries it; then the file may be written."""
    session = desk.read()
    assert session.bound_agent == agent
    await desk.turn(session)
    assert f'"{agent}"' in await desk.settle()


class TestLosses:
    async def test_a_deleted_file_is_written_again_from_the_row(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        text = await desk.settle()
        desk.file.unlink()
        assert desk.read() == bound(KEY)
        await until_written(desk.file, text)

    async def test_a_file_restores_a_session_whose_row_is_gone(self, desk: Desk) -> None:
        full = msgspec.structs.replace(bound(KEY), history=(entry(1),))
        await desk.turn(full)
        await desk.store.close()
        for path in desk.workspace.glob("journal.db*"):
            path.unlink()
        await desk.reopen()
        assert desk.read() == full
        await desk.turn(desk.read())
        await desk.reopen()
        assert desk.read() == full

    async def test_an_old_file_does_not_undo_a_newer_row_after_a_crash(
        self, desk: Desk
    ) -> None:
        await desk.turn(bound(KEY, agent="one"))
        old = await desk.settle()
        await desk.turn(bound(KEY, agent="two"))
        await desk.settle()
        await desk.turn(msgspec.structs.replace(bound(KEY, agent="two"), greeted=True))
        await desk.store.close()
        desk.file.write_text(old.replace('"one"', '"two"'), "utf-8")
        await desk.reopen()
        assert desk.read().greeted

    async def test_the_file_follows_its_sender_to_another_user(self, desk: Desk) -> None:
        await desk.turn(bound(KEY))
        await desk.settle()
        await desk.turn(desk.store.read(KEY, "u2"))
        await desk.store.flush()
        assert not desk.file.exists()
        assert (desk.workspace / "sessions/u2" / desk.file.name).exists()
