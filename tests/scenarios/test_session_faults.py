"""Session files in a real chat: ids, broken files, hand edits (SES-01 to SES-07)."""

import contextlib
import hashlib
import sqlite3
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from counting_agents import COUNTER
from driver import Deployment, decisions, replies

ALIKE = [
    ("x_1", "x/1", "x-1", "x.1", "x%2F1", "x:1"),
    ("\u00e9", "e", "e\u0301x", "\u00e9x\u0301"),
    ("User", "user", "USER"),
    ("a" * 499 + "x", "a" * 499 + "y", "a" * 500),
    ("😀" * 300, "😀" * 299 + "😁", "😀" * 299),
    ("con", "CON", "nul", "con.txt"),
    ("a", "a ", " a", "a."),
    ("1", "01", "1.0", "１"),
    ("张三", "張三", "张 三"),
]
HOSTILE = [
    "../../etc/cron.d/x",
    "..",
    ".",
    "a\u0000b",
    "%2e%2e%2f",
    "-rf",
    "/etc/passwd",
    "..\\..\\x",
    "~root",
    "$(touch x)",
    "a\nb",
    "*",
    "session-x.yaml",
    "\u202e",
    "COM1",
    "",
]
NUMERIC = [
    "0061234",
    "1e5",
    "no",
    "~",
    "1:30",
    "null",
    "0x1F",
    "1_000",
    "2026-08-03",
    "=",
    "true",
    "!!python",
    "-",
    "&a",
]


@pytest.fixture
def counting(deployment: Deployment) -> Deployment:
    """With an agent that counts the messages of its session."""
    deployment.drop_in("numbers", COUNTER)
    return deployment


def outside(folder: Path) -> set[Path]:
    """Every file around a workspace that is not in it."""
    return {path for path in folder.rglob("*") if "workspace" not in path.parts}


def test_ses01_different_users_never_share_anything(counting: Deployment):
    ids = [user for group in ALIKE for user in group]
    with counting.chat() as chat:
        for _ in range(2):
            for user in ids:
                chat.put(user=user, text="数一数")
        seen = replies(chat.wait())
        chat.end()
    by_user: dict[str, list[str]] = {}
    for reply in seen:
        by_user.setdefault(reply["conversation"], []).append(reply["text"])
    assert by_user == {user: ["1", "2"] for user in ids}
    files = counting.session_files()
    assert len(files) == len(ids)
    assert len({str(file).casefold() for file in files}) == len(ids)
    for file in files:
        for part in file.relative_to(counting.workspace).parts:
            assert len(part.encode()) <= 255


def test_ses01_composed_and_decomposed_ids_are_two_users(counting: Deployment):
    composed, decomposed = "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")
    with counting.chat() as chat:
        assert chat.say("数一数", user=composed)["text"] == "1"
        assert chat.say("数一数", user=decomposed)["text"] == "1"
        assert chat.say("数一数", user=composed)["text"] == "2"
        chat.end()
    assert len(counting.session_files()) == 2


def test_ses02_an_id_is_never_a_path(tmp_path: Path):
    deployment = Deployment(tmp_path / "a" / "b")
    deployment.drop_in("numbers", COUNTER)
    before = outside(tmp_path)
    with deployment.chat() as chat:
        for user in HOSTILE:
            assert chat.say("数一数", user=user)["text"] == "1", user
            assert chat.say("数一数", user=user, conversation=f"{user}/../c")["text"] == "1", (
                user
            )
        chat.end()
    made = {path for path in outside(tmp_path) - before if "__pycache__" not in path.parts}
    assert made == set()
    files = deployment.session_files()
    assert len(files) == 2 * len(HOSTILE)
    root = (deployment.workspace / "sessions").resolve()
    assert all(file.resolve().is_relative_to(root) and not file.is_symlink() for file in files)


LATER = b"2099-08-03T16:30:45Z"


def broken(good: bytes) -> dict[str, bytes]:
    """A good file, spoilt in every way."""
    half = good[: len(good) // 2]
    return {
        "empty": b"",
        "blank": b"  \n\n",
        "nul": b"\0" * len(good),
        "nul in it": good.replace(b"counter", b"coun\0ter"),
        "half": half + b'"',
        "stale tail": good + good[-40:],
        "list": b"- a\n- b\n",
        "scalar": b"hello\n",
        "tag": good.replace(b'"counter"', b"!!python/object/apply:os.system ['touch hacked']"),
        "date": good.replace(LATER, b'"soon"'),
        "date number": good.replace(LATER, b"5"),
        "anchors": b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n" + good,
        "twice": good + b"boundAgentId: paid\n",
        "agent list": good.replace(b'boundAgentId: "counter"', b"boundAgentId: [counter]"),
        "tabs": good.replace(b"boundAgentId: ", b"boundAgentId:\t- "),
        "not utf-8": good.replace(b'"counter"', b"\xff\xfe"),
        "utf-16": good.decode().encode("utf-16"),
        "huge": good + b"# " + b"x" * 200_000,
        "deep": b"a: " + b"[" * 50_000,
        "two documents": good + b"---\n" + good,
        "unknown key": good + b"surprise: 1\n",
        "another session": good.replace(b"sessionId", b"sessionID"),
    }


def files_of(deployment: Deployment) -> dict[str, Path]:
    """The session files by the sender that their key names."""
    found: dict[str, Path] = {}
    for file in deployment.session_files():
        key = yaml.safe_load(file.read_text("utf-8"))["sessionId"]
        found[key.rpartition(":")[2].replace("%25", "%").replace("%3A", ":")] = file
    return found


def forget_rows(deployment: Deployment) -> None:
    """Take the sessions out of the journal, so that only the files know them."""
    with contextlib.closing(sqlite3.connect(deployment.workspace / "journal.db")) as db:
        db.execute("DELETE FROM session_file")
        db.execute("DELETE FROM session")
        db.commit()


def spoil(deployment: Deployment) -> dict[Path, bytes]:
    """Spoil each file in the way that its user is named after; what they hold then."""
    spoilt: dict[Path, bytes] = {}
    for name, file in files_of(deployment).items():
        text = file.read_bytes()
        assert b'boundAgentId: "counter"' in text
        [line] = [line for line in text.splitlines() if line.startswith(b"expiresAt")]
        spoilt[file] = broken(text.replace(line, b"expiresAt: " + LATER))[name]
        file.write_bytes(spoilt[file])
    return spoilt


@pytest.mark.parametrize("with_row", [True, False])
def test_ses03_a_broken_file_stops_nobody_and_is_kept(counting: Deployment, with_row: bool):
    names = list(broken(b""))
    with counting.chat() as chat:
        for name in names:
            chat.put(user=name, text="数一数")
        chat.wait()
        chat.end()
    spoilt = spoil(counting)
    if not with_row:
        forget_rows(counting)
    with counting.chat() as chat:
        for name in names:
            lines = chat.tell("随便说说", user=name)
            assert len(replies(lines)) == 1, name
            expected = "counter" if with_row else "chat"
            assert decisions(lines)[0]["agent"] == expected, name
        chat.end()
    assert not (counting.folder / "hacked").exists()
    log = (counting.workspace / "logs" / "jobclaw.log").read_text("utf-8")
    for file, data in spoilt.items():
        [kept] = [path for path in file.parent.iterdir() if path.read_bytes() == data]
        assert kept != file
        assert file.name in log


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("at", [0, 18, 100, 5000])
def test_ses04_a_damaged_journal_is_never_overwritten(counting: Deployment, at: int):
    with counting.chat() as chat:
        for number in range(50):
            chat.put(user=f"u{number}", text="数一数")
        chat.wait()
        chat.end()
    journal = counting.workspace / "journal.db"
    data = bytearray(journal.read_bytes())
    data[at : at + 16] = b"\xa5" * 16
    journal.write_bytes(data)
    before = digest(journal)
    done = counting.run("chat", "--once", "数一数")
    if done.returncode == 0:  # the page is not one that the start or the message needs
        assert at == 5000
        return
    assert done.returncode == 65
    assert "jobclaw" in done.stderr
    assert "Traceback" not in done.stderr
    assert digest(journal) == before
    assert counting.run("doctor").returncode != 0
    assert digest(journal) == before


def test_ses04_one_broken_binding_of_fifty_is_kept_and_told(counting: Deployment):
    with counting.chat() as chat:
        for number in range(50):
            chat.put(user=f"u{number}", text="数一数")
        chat.wait()
        chat.end()
    file = files_of(counting)["u7"]
    file.write_bytes(file.read_bytes().replace(b'"counter"', b'"counter', 1))
    before = digest(file)
    with counting.chat() as chat:
        for number in range(50):
            assert chat.say("随便说说", user=f"u{number}")["agent"] == "counter"
        chat.end()
    kept = [path for path in file.parent.iterdir() if digest(path) == before]
    assert len(kept) == 1
    assert file.name in (counting.workspace / "logs" / "jobclaw.log").read_text("utf-8")


def test_ses06_pairs_sent_at_once_are_both_in_the_history(counting: Deployment):
    with counting.chat() as chat:
        for number in range(100):
            chat.put(id=f"a{number}", text=f"数一数 {number}")
            chat.put(id=f"b{number}", text=f"/counter {number}")
        seen = replies(chat.wait())
        chat.end()
    assert [reply["text"] for reply in seen] == [str(n) for n in range(1, 201)]
    expected = [f"{kind}{number}" for number in range(100) for kind in "ab"]
    assert [reply["in_reply_to"] for reply in seen] == expected
    [session] = counting.json("sessions", "list")
    shown = counting.json("sessions", "show", session["key"])
    assert len(shown["history"]) <= 10


def edit(file: Path, change: Callable[[str], str]) -> None:
    """Edit a session file as an editor does: write the whole anew."""
    new = file.with_suffix(".edited")
    new.write_text(change(file.read_text("utf-8")), "utf-8")
    new.replace(file)


def without(prefix: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        return (
            "\n".join(line for line in text.splitlines() if not line.startswith(prefix)) + "\n"
        )

    return change


EDITS: dict[str, tuple[Callable[[str], str], str]] = {
    "another agent": (lambda text: rebound(text, "progress"), "progress"),
    "nobody": (without("boundAgentId"), "chat"),
    "nobody, empty": (lambda text: rebound(text, '""'), "chat"),
    "an agent that is none": (lambda text: rebound(text, "nix"), "chat"),
    "one that is forbidden": (lambda text: rebound(text, "paid"), "chat"),
    "a comment": (lambda text: f"# mine\n{text}", "counter"),
    "nonsense": (lambda text: f"{text}: [", "counter"),
}


@pytest.mark.parametrize(("change", "agent"), EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("running", [True, False])
def test_ses06_a_hand_edit_counts_at_the_next_message(
    counting: Deployment, change: Callable[[str], str], agent: str, running: bool
):
    with counting.chat() as chat:
        chat.say("数一数")
        [file] = counting.session_files()
        if running:
            edit(file, change)
            assert chat.decide("随便说说")["agent"] == agent
        chat.end()
    if running:
        return
    edit(file, change)
    with counting.chat() as chat:
        assert chat.decide("随便说说")["agent"] == agent


def test_ses06_edits_between_many_messages_are_never_lost(counting: Deployment):
    with counting.chat() as chat:
        chat.say("数一数")
        [file] = counting.session_files()
        for number in range(20):
            wanted = ("progress", "counter")[number % 2]
            edit(file, lambda text, to=wanted: rebound(text, to))
            assert chat.decide("随便说说")["agent"] == wanted, number


def rebound(text: str, agent: str) -> str:
    [line] = [line for line in text.splitlines() if line.startswith("boundAgentId")]
    return text.replace(line, f"boundAgentId: {agent}")


def test_ses07_ids_that_yaml_would_read_as_something_else(counting: Deployment):
    with counting.chat() as chat:
        for user in NUMERIC:
            assert chat.say("数一数", user=user)["text"] == "1"
        chat.end()
    for user in NUMERIC:
        assert counting.run("users", "role", f"console:default:{user}", "vip").returncode == 0
    with counting.chat() as chat:
        for user in NUMERIC:
            lines = chat.tell("数一数", user=user)
            assert replies(lines)[0]["text"] == "2", user
            assert (decisions(lines)[0]["step"], decisions(lines)[0]["role"]) == (
                "binding",
                "vip",
            )
        chat.end()
    assert len(counting.session_files()) == len(NUMERIC)
    for file in counting.session_files():
        shown = yaml.safe_load(file.read_text("utf-8"))
        assert isinstance(shown["sessionId"], str)
        assert isinstance(shown["boundAgentId"], str)


@pytest.mark.parametrize("entry", ["0061234", "1e5", "no", "~", "1:30", "[a]", "'*'", "'u1'"])
def test_ses07_a_bare_id_in_the_roles_is_refused_with_its_line(
    counting: Deployment, entry: str
):
    roles = counting.folder / "config" / "roles.yaml"
    roles.write_text(f"vip:\n- 'console:default:u9'\n- {entry}\n", "utf-8")
    done = counting.run("config", "check")
    assert done.returncode == 78
    assert "roles.yaml" in done.stdout + done.stderr
    assert "3" in done.stdout + done.stderr
    with counting.chat() as chat:
        assert chat.decide("付费", user="u9")["outcome"] == "refused"


def test_ses07_quoted_ids_in_the_roles_count(counting: Deployment):
    lines = "".join(f"- {yaml_text(f'console:default:{user}')}\n" for user in NUMERIC)
    (counting.folder / "config" / "roles.yaml").write_text(f"vip:\n{lines}", "utf-8")
    with counting.chat() as chat:
        for user in NUMERIC:
            assert chat.decide("付费", user=user)["agent"] == "paid"
        assert chat.decide("付费", user="1E5")["outcome"] == "refused"


def yaml_text(text: str) -> str:
    return yaml.safe_dump(text, default_style='"').strip()
