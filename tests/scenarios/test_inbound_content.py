"""What people and scripts send (public faults, inbound-content), as JSON lines."""

import unicodedata
from collections.abc import Iterator

import pytest
from driver import Chat, Deployment, JsonLine, Speaker, decisions, replies

ECHO = """
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Echo(Agent):
        intro = AgentIntro(id="echo", name="Echo", description="says what it got")

        async def handle(self, request):
            past = len(request.session.history())
            yield Markdown(f"{len(request.text)} {request.text[:60]!r} after {past}")

    @hookimpl
    def jobclaw_agents():
        return [Echo()]
"""
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def shared_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    deployment = Deployment(tmp_path_factory.mktemp("inbound"))
    deployment.drop_in("echo", ECHO)
    with deployment.chat() as running:
        yield running


@pytest.fixture
def chat(shared_chat: Chat, request: pytest.FixtureRequest) -> Speaker:
    """A user of its own, bound to the agent that says what it got."""
    speaker = Speaker(shared_chat, request.node.nodeid)
    speaker.say("/echo")
    return speaker


BLANK = [
    "",
    " ",
    "\n",
    "\t \r\n",
    "\u3000",
    "\u00a0",
    "\u200b",
    "\ufeff",
    "\u2060\u200d",
    "\0",
    "\x1b\x07",
    "\u202e",
]


@pytest.mark.parametrize("text", BLANK)
def test_inb06_a_blank_message_gets_a_hint_and_leaves_no_trace(chat: Speaker, text: str):
    lines = chat.tell(text)
    assert decisions(lines)[0]["outcome"] == "hint"
    assert "文字" in replies(lines)[0]["text"]
    assert chat.say("推荐")["text"] == "2 '推荐' after 0"
    assert chat.say("推荐岗位")["agent"] == "job-recommend"


@pytest.mark.parametrize(
    "text",
    [
        "👨\u200d💻 岗位",
        "👨\u200d👩\u200d👧\u200d👦",
        "🏳\ufe0f\u200d🌈",
        "\u202eabc\u202c",
        "مرحبا بالعالم",
        "a\0b",
        "e\u0301",
        "\u200fשלום",
        "Z̸̡͇a̵͎͠l̷g̶o̴",
        "\\u0041 \\n",
        "'; DROP TABLE inbox; --",
        "{name} %s {0.__class__} ${HOME}",
        "<script>alert(1)</script>",
        "ﷺ",
        "\u2028line\u2029",
    ],
)
def test_inb06_a_text_reaches_the_agent_as_it_was_written(chat: Speaker, text: str):
    composed = unicodedata.normalize("NFC", text)
    assert chat.say(text)["text"] == f"{len(composed)} {composed[:60]!r} after 0"


@pytest.mark.parametrize("size", [19_999, 20_000, 20_001, 250_000])
@pytest.mark.parametrize("char", ["a", "字", "😀"])
def test_a_long_text_is_cut_not_refused(chat: Speaker, size: int, char: str):
    kept = min(size, 20_000)
    assert chat.say(char * size)["text"].startswith(f"{kept} '{char}")
    assert chat.say("好")["text"].startswith("1 '好'")


class Raw:
    """Writes bytes and reads what comes of them."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def __call__(self, data: bytes) -> list[JsonLine]:
        self.chat.put_raw(data)
        return self.chat.wait()


BROKEN = {
    "half an object": b'{"text":"a\n',
    "no value": b'{"text":\n',
    "no JSON": b"hello\n",
    "array": b'["text"]\n',
    "null": b"null\n",
    "number": b"5\n",
    "no text": b"{}\n",
    "null text": b'{"text":null}\n',
    "text number": b'{"text":5}\n',
    "text list": b'{"text":["a"]}\n',
    "unknown key": b'{"text":"x","foo":1}\n',
    "key in capitals": b'{"Text":"x"}\n',
    "kind": b'{"text":"x","kind":"channel"}\n',
    "role": b'{"text":"x","role":"root"}\n',
    "role number": b'{"text":"x","role":5}\n',
    "addressed": b'{"text":"x","addressed":"yes"}\n',
    "user float": b'{"text":"x","user":1.5}\n',
    "user true": b'{"text":"x","user":true}\n',
    "user list": b'{"text":"x","user":["u1"]}\n',
    "NaN": b'{"text":"x","id":NaN}\n',
    "op": b'{"op":"stop"}\n',
    "button number": b'{"button":5}\n',
    "bad UTF-8": b'{"text":"\xff"}\n',
    "raw surrogate": b'{"text":"a\xed\xa0\x80b"}\n',
    "lone surrogate": b'{"text":"a\\ud800b"}\n',
    "lone low surrogate": b'{"text":"a\\udc00b"}\n',
    "surrogate as user": b'{"text":"x","user":"\\udc00"}\n',
    "two objects": b'{"text":"x"}{"text":"y"}\n',
    "single quotes": b"{'text':'x'}\n",
    "trailing comma": b'{"text":"x",}\n',
    "deep": b'{"text":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "deep key": b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"\n",
    "over a MiB": b'{"text":"' + b"a" * MIB + b'"}\n',
    "five MiB": b'{"text":"' + "字".encode() * (5 * MIB // 3) + b'"}\n',
    "binary": bytes(range(1, 10)) + bytes(range(11, 256)) + b"\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_one_error_and_nothing_else(shared_chat: Chat, name: str):
    lines = Raw(shared_chat)(BROKEN[name])
    assert [line["type"] for line in lines] == ["error"]
    assert lines[0]["error"]
    assert lines[0]["line"] > 0
    assert "Traceback" not in lines[0]["error"]
    assert shared_chat.say("/whoami", user="after")["text"]


GOOD = {
    "plain": b'{"text":"x"}\n',
    "CRLF": b'{"text":"x"}\r\n',
    "byte-order mark": b'\xef\xbb\xbf{"text":"x"}\n',
    "spaces": b' \t{ "text" : "x" } \n',
    "blank lines": b'\n\r\n   \n{"text":"x"}\n',
    "nulls": b'{"text":"x","id":null,"user":null,"role":null,"button":null,"op":null}\n',
    "empty conversation": b'{"text":"x","conversation":""}\n',
    "escapes": b'{"\\u0074ext":"\\u0078"}\n',
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_line_in_any_dress_is_a_message(shared_chat: Chat, name: str):
    lines = Raw(shared_chat)(GOOD[name])
    assert [line["type"] for line in lines] == ["decision", "reply"]
    assert decisions(lines)[0]["text"] == "x"


@pytest.mark.parametrize("user", [7, 12345678901234567890123, -1, 0])
def test_a_number_is_the_same_id_as_its_text(shared_chat: Chat, user: int):
    shared_chat.tell("/lang en", user=user)
    shared_chat.tell("/echo", user=user)
    [reply] = replies(shared_chat.tell("x", user=str(user)))
    assert reply["agent"] == "echo"
    assert reply["conversation"] == str(user)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n  \n", b"\r"])
def test_the_last_line_needs_no_end(deployment: Deployment, end: bytes):
    with deployment.chat() as chat:
        chat.put_raw(b'{"text":"/whoami","id":"last"}' + end)
        [reply] = replies(chat.end())
        assert reply["in_reply_to"] == "last"


def test_lines_may_come_in_pieces(deployment: Deployment):
    with deployment.chat() as chat:
        for byte in '{"text":"/current","id":"一"}\n'.encode():
            chat.put_raw(bytes([byte]))
        assert replies(chat.wait())[0]["in_reply_to"] == "一"


def test_one_user_errors_delay_and_confuse_nobody(shared_chat: Chat):
    for number, data in enumerate(BROKEN.values()):
        shared_chat.put_raw(data)
        shared_chat.put(id=f"mixed{number}", user=f"mixed{number}", text="/whoami")
    lines = shared_chat.wait()
    answered = {reply["in_reply_to"] for reply in replies(lines)}
    assert answered == {f"mixed{number}" for number in range(len(BROKEN))}
    assert sum(line["type"] == "error" for line in lines) == len(BROKEN)


@pytest.mark.parametrize(
    "text",
    [
        "@bot /whoami",
        "@JobClawBot /whoami",
        "@JOBCLAW　/whoami",
        "  @bot   /whoami  ",
        "/whoami@JobClawBot",
        "/whoami",
        "@bot\n/whoami",
    ],
)
def test_inb01_the_mention_of_the_bot_is_no_part_of_the_command(chat: Speaker, text: str):
    decision = chat.decide(text, kind="group", conversation="g")
    assert (decision["step"], decision["detail"]) == ("command", "/whoami")


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("@bot https://jobs.example/a/b", "https://jobs.example/a/b"),
        ("@JobClawBot2 你好", "@JobClawBot2 你好"),
        ("@botanist 你好", "@botanist 你好"),
        ("你好 @bot", "你好 @bot"),
        ("@bot @bot 你好", "@bot 你好"),
        ("@bot你好", "@bot你好"),
        ("@someone /whoami", "@someone /whoami"),
        ("a@bot.example", "a@bot.example"),
    ],
)
def test_inb04_only_the_mention_that_addresses_the_bot_is_taken_out(
    chat: Speaker, text: str, got: str
):
    assert chat.say(text)["text"] == f"{len(got)} {got!r} after 0"


@pytest.mark.parametrize("text", ["你好", "推荐岗位", "1", ""])
def test_inb08_what_is_said_in_a_group_to_others_is_met_with_silence(chat: Speaker, text: str):
    lines = chat.tell(text, kind="group", conversation="g", addressed=False)
    assert replies(lines) == []
    assert (decisions(lines)[0]["outcome"], decisions(lines)[0]["detail"]) == (
        "dropped",
        "not-addressed",
    )
    assert chat.tell("你好", addressed=False)[-1]["type"] == "reply"
