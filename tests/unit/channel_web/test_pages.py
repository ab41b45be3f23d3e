"""The page itself: its languages, colours and files, and nothing that the policy forbids."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from web_account import Browser, Place, bytes_of, header_of, json_of

import jobclaw_channels.web as channel

HERE = Path(channel.__file__).parent
STATIC = sorted(path.name for path in (HERE / "static").iterdir())


async def page_of(browser: Browser, path: str = "/chat") -> str:
    response = await browser.get(path)
    assert response.status == 200
    return (await bytes_of(response)).decode()


class TestLanguage:
    @pytest.mark.parametrize(
        ("path", "accepted", "cookie", "lang"),
        [
            ("/chat", "zh-CN,zh;q=0.9", "", "zh-CN"),
            ("/chat", "en-GB,zh;q=0.5", "", "en"),
            ("/chat", "zh;q=0.2, en;q=0.7", "", "en"),
            ("/chat", "fr-FR", "", "zh-CN"),
            ("/chat", "", "", "zh-CN"),
            ("/chat", "en;q=x, zh", "", "zh-CN"),
            ("/chat", "zh-CN", "en", "en"),
            ("/chat?lang=zh", "en", "en", "zh-CN"),
            ("/chat?lang=en", "zh", "", "en"),
            ("/chat?lang=fr", "en", "", "en"),
            ("/chat", "en", "<script>", "en"),
        ],
    )
    async def test_the_page_speaks_the_readers_language(
        self, place: Place, path: str, accepted: str, cookie: str, lang: str
    ) -> None:
        cookies = {"jobclaw_chat_lang": cookie} if cookie else {}
        browser = Browser(place, headers={"accept-language": accepted}, cookies=cookies)
        page = await page_of(browser, path)
        assert f'<html lang="{lang}"' in page
        assert ("今天想做点什么" in page) == (lang == "zh-CN")

    async def test_a_chosen_language_lasts(self, place: Place) -> None:
        browser = Browser(place, headers={"accept-language": "zh"})
        await page_of(browser, "/chat?lang=en")
        assert '<html lang="en"' in await page_of(browser)

    async def test_a_deployments_own_sentences_are_shown(self, tmp_path: Path) -> None:
        own = tmp_path / "own"
        own.mkdir()
        (own / "zh.po").write_text(
            'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
            'msgid "web.welcome"\nmsgstr "<b>欢迎</b>"\n',
            "utf-8",
        )
        place = Place(tmp_path / "workspace", locales=(own,))
        assert "&lt;b&gt;欢迎&lt;/b&gt;" in await page_of(Browser(place))
        await place.close()


@pytest.mark.parametrize(
    ("cookie", "theme"), [("dark", "dark"), ("light", "light"), ("x", "system"), ("", "system")]
)
async def test_the_chosen_colours_are_there_from_the_first_paint(
    place: Place, cookie: str, theme: str
):
    browser = Browser(place, cookies={"jobclaw_chat_theme": cookie})
    assert f'data-theme="{theme}"' in await page_of(browser)


class TestPolicy:
    async def test_nothing_on_the_page_needs_an_exception(self, ann: Browser) -> None:
        class Strict(HTMLParser):
            def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
                names = dict(attrs)
                assert tag != "style"
                assert tag != "script" or names.get("src")
                assert not [name for name in names if name == "style" or name.startswith("on")]
                for name in ("src", "href"):
                    assert (names.get(name) or "/chat").startswith(("/chat", "#"))

        Strict().feed(await page_of(ann))

    @pytest.mark.parametrize("name", [name for name in STATIC if name.endswith(".js")])
    def test_no_script_parses_text_as_html_or_code(self, name: str) -> None:
        source = (HERE / "static" / name).read_text("utf-8")
        forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?://"
        assert not re.search(forbidden, source)

    @pytest.mark.parametrize("name", [name for name in STATIC if name.endswith(".css")])
    def test_no_style_loads_anything_from_elsewhere(self, name: str) -> None:
        assert not re.search(r"url\(|@import", (HERE / "static" / name).read_text("utf-8"))


class TestStatic:
    @pytest.mark.parametrize("name", STATIC)
    async def test_each_file_is_served_and_revalidated(self, ann: Browser, name: str) -> None:
        response = await ann.get(f"/chat/static/{name}")
        assert await bytes_of(response) == (HERE / "static" / name).read_bytes()
        mime = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
        assert header_of(response, "content-type").startswith(mime[Path(name).suffix])
        etag = header_of(response, "etag")
        again = await ann.get(f"/chat/static/{name}", {"if-none-match": etag})
        assert (again.status, again.body) == (304, b"")
        other = await ann.get(f"/chat/static/{name}", {"if-none-match": '"other"'})
        assert other.status == 200

    @pytest.mark.parametrize(
        "name", ["absent.js", "..", "%2e%2e", "chat.html", "CHAT.JS", "\0"]
    )
    async def test_nothing_else_is_there(self, ann: Browser, name: str) -> None:
        response = await ann.get(f"/chat/static/{name}")
        assert (response.status, json_of(response)["error"]) == (404, "web.not-found")

    async def test_what_the_page_names_is_there(self, ann: Browser) -> None:
        page = await page_of(ann)
        names = re.findall(r'"/chat/static/([^"]+)"', page)
        assert {"chat.js", "chat.css", "icon.svg"} <= set(names)
        for name in names:
            assert (await ann.get(f"/chat/static/{name}")).status == 200

    def test_every_sentence_of_the_scripts_is_given_to_the_page(self) -> None:
        from jobclaw_channels.web.pages import SCRIPT_TEXTS  # noqa: PLC0415 - loads jinja2

        scripts = "".join(
            (HERE / "static" / name).read_text("utf-8")
            for name in STATIC
            if name.endswith(".js")
        )
        said = set(re.findall(r'say\("([a-z-]+)"\)', scripts))
        assert {f"web.{text_id}" for text_id in said} <= set(SCRIPT_TEXTS)
