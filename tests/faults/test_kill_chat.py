"""`kill -9` of `jobclaw chat --jsonl` at any moment: nothing is lost, reordered or repeated.

What the process accepted is known from its journal, read after the kill; what it answered,
from its output. A reply may be written twice only in the crash window of one call, and then
under the same id.
"""

import random
import sqlite3
from collections import defaultdict

import pytest
from driver import Chat, Deployment, JsonLine, decisions, replies

CONVERSATIONS = 4
MESSAGES = 120
KILLS = 6
COUNTER = '''
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Counter(Agent):
        """Counts the messages of its session; a message handled twice would show."""

        intro = AgentIntro(id="counter", name="Counter", description="counts")
        intents = ("COUNT",)
        keywords = {"COUNT": {"数一数": 1.0}}

        async def handle(self, request):
            count = int(request.session.memory.get("count", "0")) + 1
            request.session.memory.set("count", str(count))
            yield Markdown(f"{count}:{request.text}")

    @hookimpl
    def jobclaw_agents():
        return [Counter()]
'''
CONFIG = """
    router: {identity_gate: "off"}
    plugins: {watch: false}
"""


def accepted(deployment: Deployment) -> set[str]:
    """The ids of the messages in the journal."""
    journal = deployment.workspace / "journal.db"
    if not journal.exists():
        return set()
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT key FROM dedup").fetchall()
    db.close()
    return {str(key).rpartition('"m')[2].rstrip('"]') for (key,) in rows}


def put(chat: Chat, number: int) -> None:
    chat.put(id=f"m{number}", user=f"u{number % CONVERSATIONS}", text=f"数一数 第{number}句")


@pytest.mark.parametrize("seed", range(3))
def test_every_accepted_message_is_answered_once_and_in_order(
    deployment: Deployment, seed: int
):
    chance = random.Random(seed)
    deployment.configure(CONFIG)
    deployment.drop_in("counter", COUNTER)
    lines: list[JsonLine] = []
    cuts = sorted(chance.sample(range(5, MESSAGES), KILLS))
    sent = 0
    for cut in cuts:
        with deployment.chat() as chat:
            start, sent = sent, cut
            for number in range(cut):  # as a platform does: all that was not acknowledged
                put(chat, number)
            reading = chat.read()
            for _ in range(chance.randrange(2 * (cut - start))):  # two lines a new message
                lines.append(next(reading))  # noqa: PERF401 - it may not read on
            lines += chat.kill()
    with deployment.chat() as chat:
        for number in range(MESSAGES):  # as a platform does: everything once more
            put(chat, number)
        lines += chat.wait()
        lines += chat.end()
    check(lines)
    assert len(accepted(deployment)) == MESSAGES


def check(lines: list[JsonLine]) -> None:
    """Each message one answer, one count, and the order of its conversation."""
    by_id = {reply["id"]: reply for reply in replies(lines)}
    answers = {reply["in_reply_to"]: reply for reply in by_id.values()}
    assert set(answers) == {f"m{number}" for number in range(MESSAGES)}
    assert len(by_id) == MESSAGES
    seen: defaultdict[str, list[int]] = defaultdict(list)
    for reply in sorted(by_id.values(), key=lambda reply: int(reply["in_reply_to"][1:])):
        seen[reply["conversation"]].append(int(reply["text"].split(":")[0]))
    for conversation, counts in seen.items():
        assert counts == list(range(1, len(counts) + 1)), conversation
    order: defaultdict[str, list[int]] = defaultdict(list)
    for reply in replies(lines):
        number = int(reply["in_reply_to"][1:])
        if number not in order[reply["conversation"]]:
            order[reply["conversation"]].append(number)
    for conversation, numbers in order.items():
        assert numbers == sorted(numbers), conversation
    handled = [decision["message"] for decision in decisions(lines)]
    assert len(handled) == len(set(handled))


def test_what_was_accepted_is_answered_without_being_sent_again(deployment: Deployment):
    deployment.configure(CONFIG)
    deployment.drop_in("counter", COUNTER)
    lines: list[JsonLine] = []
    with deployment.chat() as chat:
        for number in range(40):
            put(chat, number)
        reading = chat.read()
        lines.append(next(reading))
        lines += chat.kill()
    known = accepted(deployment)
    with deployment.chat() as chat:
        lines += chat.wait()
    answered = {reply["in_reply_to"] for reply in replies(lines)}
    assert answered == {f"m{number}" for number in known}
    assert known


def test_the_end_of_input_answers_everything_and_exits_zero(deployment: Deployment):
    deployment.configure(CONFIG)
    deployment.drop_in("counter", COUNTER)
    with deployment.chat() as chat:
        for number in range(50):
            put(chat, number)
        assert len(replies(chat.end())) == 50


def test_sigterm_drains_and_leaves_the_rest_for_the_next_start(deployment: Deployment):
    deployment.configure(CONFIG)
    deployment.drop_in("counter", COUNTER)
    with deployment.chat() as chat:
        for number in range(MESSAGES):
            put(chat, number)
        reading = chat.read()
        lines = [next(reading)]
        chat.process.terminate()
        lines += list(reading)
        assert chat.process.wait(timeout=30) == 0, chat.errors()
    with deployment.chat() as chat:
        for number in range(MESSAGES):
            put(chat, number)
        lines += chat.wait()
    check(lines)


def test_a_repeated_id_is_answered_once(deployment: Deployment):
    with deployment.chat() as chat:
        first = chat.tell("推荐几个Java岗位", id="a")
        again = chat.tell("推荐几个Java岗位", id="a")
        assert len(replies(first)) == 1
        assert replies(again) == []
        assert [line["type"] for line in again] == ["duplicate"]
        other = chat.tell("推荐几个Java岗位", id="a", user="u2")
        assert len(replies(other)) == 1
        assert len(replies(chat.tell("推荐几个Java岗位"))) == 1
        assert len(replies(chat.tell("推荐几个Java岗位"))) == 1
        chat.end()
    with deployment.chat() as chat:
        assert replies(chat.tell("推荐几个Java岗位", id="a")) == []
