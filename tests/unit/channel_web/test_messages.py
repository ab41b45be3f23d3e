"""What a browser says is accepted once, durably, and from nobody else."""

import asyncio
from pathlib import Path

import pytest
from web_account import JSON, Browser, Place, header_of, json_of, texts_of

from jobclaw.errors import PermanentChannelError, StorageError
from jobclaw.model import Button, Buttons, InboundMessage, Markdown
from jobclaw.spi import Accepted
from jobclaw_channels.web.adapter import create
from jobclaw_channels.web.convert import COOKIE
from jobclaw_channels.web.identity import is_token, new_token, user_of


class TestPost:
    async def test_a_message_is_on_disk_when_it_is_acknowledged(
        self, place: Place, ann: Browser
    ) -> None:
        accepted = await ann.say("推荐 Java 岗位")
        row = await place.next()
        message = row.message
        assert (message.id, accepted["duplicate"]) == (accepted["id"], False)
        assert (message.text, message.kind, message.addressed) == (
            "推荐 Java 岗位",
            "message",
            True,
        )
        assert message.sender.id == message.conversation.id == accepted["me"]
        assert message.sender.locale == "en"
        assert message.conversation.kind == "direct"
        assert message.reply.in_reply_to == message.platform_message_id == "m1"
        [lane] = place.store.ready_lanes()
        assert place.store.ready(lane, 0, 10) == (row,)

    async def test_sent_again_it_is_recognised(self, ann: Browser) -> None:
        body = {"client_msg_id": "same", "text": "一"}
        first = json_of(await ann.post("/chat/api/messages", body))
        again = await ann.post("/chat/api/messages", {**body, "text": "改过"})
        assert (again.status, json_of(again)["duplicate"]) == (202, True)
        assert json_of(again)["id"] == first["id"]
        assert texts_of((await ann.history())["items"]) == ["一"]

    async def test_at_once_from_two_tabs_it_is_accepted_once(self, ann: Browser) -> None:
        await ann.history()
        body = {"client_msg_id": "hello", "text": "/start"}
        answers = await asyncio.gather(
            *(ann.post("/chat/api/messages", body) for _ in range(5))
        )
        assert [json_of(one)["duplicate"] for one in answers].count(False) == 1

    async def test_two_users_may_use_one_id(self, ann: Browser, bob: Browser) -> None:
        assert (await ann.say("一"))["duplicate"] is False
        assert (await bob.say("二"))["duplicate"] is False

    async def test_a_pressed_button_is_an_action_with_its_label(
        self, place: Place, ann: Browser
    ) -> None:
        await ann.say("选")
        await place.answer(Buttons((Button("b1", "甲"), Button("b2", "乙")), "哪个？"))
        await ann.say("乙", button="b2")
        message = (await place.next()).message
        assert (message.kind, message.action, message.text) == ("action", "b2", "乙")
        items = (await ann.history())["items"]
        assert items[1]["blocks"][0]["buttons"] == [
            {"id": "b1", "label": "甲"},
            {"id": "b2", "label": "乙"},
        ]
        assert (items[2]["text"], items[2]["pressed"]) == ("乙", True)

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            ({"client_msg_id": "a", "text": "  "}, 422, "web.empty-message"),
            ({"client_msg_id": "a"}, 422, "web.empty-message"),
            ({"text": "no id"}, 422, "web.bad-message"),
            ({"client_msg_id": "a\n", "text": "x"}, 422, "web.bad-message"),
            ({"client_msg_id": "a" * 65, "text": "x"}, 422, "web.bad-message"),
            ({"client_msg_id": "a", "text": "x", "role": "admin"}, 422, "web.bad-message"),
            ({"client_msg_id": "a", "text": 1}, 422, "web.bad-message"),
            ({"client_msg_id": "a", "text": "好" * 20_001}, 413, "web.text-too-long"),
            (
                {"client_msg_id": "a", "attachments": ["x" * 24]},
                422,
                "web.no-such-file",
            ),
            ([], 422, "web.bad-message"),
            (b"{", 422, "web.bad-message"),
            (b"\xff\xfe", 422, "web.bad-message"),
            (b"", 422, "web.bad-message"),
        ],
    )
    async def test_what_is_no_message_is_refused_with_a_sentence(
        self, place: Place, ann: Browser, body: object, status: int, error: str
    ) -> None:
        response = await ann.post("/chat/api/messages", body)
        assert (response.status, json_of(response)["error"]) == (status, error)
        assert json_of(response)["message"] != error
        assert place.received.empty()

    @pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded"])
    async def test_only_json_is_taken(self, place: Place, ann: Browser, kind: str) -> None:
        body = {"client_msg_id": "a", "text": "x"}
        response = await ann.post("/chat/api/messages", body, {"content-type": kind})
        assert response.status == 415
        assert place.received.empty()

    async def test_the_longest_text_is_taken(self, place: Place, ann: Browser) -> None:
        await ann.say("好" * 20_000)
        assert len((await place.next()).message.text) == 20_000

    async def test_refusals_come_in_the_readers_language(self, bob: Browser) -> None:
        said: list[str] = []
        for language in ("zh-CN,zh;q=0.9,en;q=0.8", "en-GB,en;q=0.9,zh;q=0.1", "fr"):
            headers = {**JSON, "accept-language": language}
            response = await bob.post("/chat/api/messages", {"client_msg_id": "a"}, headers)
            said.append(json_of(response)["message"])
        assert said == ["消息是空的。", "The message is empty.", "消息是空的。"]


class TestUnavailable:
    async def test_before_start_and_after_stop_nothing_is_acknowledged(
        self, tmp_path: Path
    ) -> None:
        place = Place(tmp_path)
        browser = Browser(place)
        body = {"client_msg_id": "a", "text": "x"}
        assert (await browser.post("/chat/api/messages", body)).status == 503
        assert place.adapter.health().state == "down"
        await place.adapter.start(place)
        assert (await browser.post("/chat/api/messages", body)).status == 202
        assert place.adapter.health().state == "ok"
        assert place.adapter.health().last_in is not None
        await place.adapter.stop(1.0)
        refused = await browser.post("/chat/api/messages", {**body, "client_msg_id": "b"})
        assert (refused.status, header_of(refused, "retry-after")) == (503, "2")
        await place.close()

    async def test_a_store_that_refuses_is_no_acknowledgement(self, tmp_path: Path) -> None:
        class Full(Place):
            async def accept(self, message: InboundMessage) -> Accepted:  # noqa: ARG002
                raise StorageError("store.full", path="/secret/place")

        place = Full(tmp_path)
        await place.adapter.start(place)
        response = await Browser(place).post(
            "/chat/api/messages", {"client_msg_id": "a", "text": "x"}
        )
        assert response.status == 503
        assert "/secret" not in str(response)
        await place.close()

    async def test_a_disk_that_refuses_a_file_is_said_so(
        self, place: Place, ann: Browser
    ) -> None:
        (place.workspace / "uploads").write_text("in the way")
        response = await ann.upload("a.txt", b"x")
        assert (response.status, json_of(response)["error"]) == (503, "web.not-stored")


class TestIdentity:
    async def test_a_browser_is_known_by_its_cookie_alone(
        self, place: Place, ann: Browser, bob: Browser
    ) -> None:
        await ann.say("一")
        await place.answer(Markdown("答"))
        assert texts_of((await ann.history())["items"]) == ["一", "答"]
        assert (await bob.history())["items"] == []
        assert (await ann.history())["me"] != (await bob.history())["me"]

    async def test_the_cookie_is_for_this_page_and_no_script(self, place: Place) -> None:
        for secure in (False, True):
            response = await Browser(place, secure=secure).get("/chat/api/history")
            cookie = header_of(response, "set-cookie")
            name, _, flags = cookie.partition("; ")
            assert name.startswith(f"{COOKIE}=")
            assert is_token(name.partition("=")[2])
            wanted = "Path=/chat; Max-Age=34560000; HttpOnly; SameSite=Strict"
            assert flags == wanted + ("; Secure" if secure else "")

    @pytest.mark.parametrize("value", ["", "x", "a" * 42, "a" * 44, "a" * 42 + "=", "../" * 14])
    async def test_a_cookie_of_another_form_is_replaced(self, place: Place, value: str) -> None:
        browser = Browser(place, cookies={COOKIE: value})
        await browser.history()
        assert is_token(browser.cookies[COOKIE])

    async def test_a_known_browser_keeps_its_cookie(self, ann: Browser) -> None:
        await ann.history()
        for path in ("/chat", "/chat/api/history"):
            assert header_of(await ann.get(path), "set-cookie") == ""

    async def test_a_link_from_another_site_changes_nobodys_identity(
        self, place: Place
    ) -> None:
        browser = Browser(place)
        for site in ("cross-site", "same-site"):
            page = await browser.get("/chat", {"sec-fetch-site": site})
            assert header_of(page, "set-cookie") == ""
        assert header_of(await browser.get("/chat"), "set-cookie") != ""

    async def test_forgetting_begins_anew_and_ends_the_open_pages(self, ann: Browser) -> None:
        await ann.say("秘密")
        before = (await ann.history())["me"]
        listener = await ann.listen()
        answer = json_of(await ann.post("/chat/api/forget"))
        assert await listener.over()
        page = await ann.history()
        assert page["me"] == answer["me"] != before
        assert page["items"] == []

    async def test_the_token_is_nowhere_but_in_the_cookie(
        self, place: Place, ann: Browser
    ) -> None:
        await ann.say("一")
        await place.answer(Markdown("答"))
        await ann.upload("a.txt", b"x")
        token = ann.cookies[COOKIE]
        assert user_of(token) == (await ann.history())["me"]
        await place.store.flush()
        files = [path for path in place.workspace.rglob("*") if path.is_file()]
        assert files
        assert not [path for path in files if token.encode() in path.read_bytes()]

    def test_ids_have_one_form_and_tokens_are_not_guessed(self) -> None:
        tokens = {new_token() for _ in range(100)}
        assert len(tokens) == 100
        assert all(is_token(token) for token in tokens)
        assert {len(user_of(token)) for token in tokens} == {27}


@pytest.mark.parametrize("access", ["pairing", "allowlist"])
def test_an_anonymous_page_cannot_be_restricted_and_says_so(tmp_path: Path, access: str):
    with pytest.raises(PermanentChannelError) as caught:
        create("default", {"workspace": tmp_path, "access": access})
    assert caught.value.text_id == "web.access-open-only"
    assert caught.value.values["access"] == access
