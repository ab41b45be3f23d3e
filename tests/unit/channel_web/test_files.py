"""Files in both directions: kept apart by user, bounded, and never a way out."""

import os
import stat
import time
from pathlib import Path

import pytest
from web_account import Browser, Place, bytes_of, form, header_of, json_of

from jobclaw.errors import PermanentChannelError
from jobclaw.model import Attachment, File, Image, Markdown
from jobclaw_channels.web.multipart import read_file
from jobclaw_channels.web.settings import WebSettings
from jobclaw_channels.web.uploads import DAY_S, Uploads, clean_name

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 20
USER = "w" + "a" * 26


class TestUpload:
    @pytest.mark.parametrize(
        ("name", "data", "kind", "mime"),
        [
            ("我.png", PNG, "image", "image/png"),
            ("photo.jpg", JPEG, "image", "image/jpeg"),
            ("really-a-photo.txt", JPEG, "image", "image/jpeg"),
            ("fake.png", b"<script>", "file", "application/octet-stream"),
            ("evil.svg", b"<svg onload=alert(1)>", "file", "application/octet-stream"),
            ("cv.pdf", b"%PDF-1.4", "file", "application/pdf"),
            ("x.html", b"<script>", "file", "text/html"),
            ("empty", b"", "file", "application/octet-stream"),
        ],
    )
    async def test_what_a_file_is_is_seen_not_believed(
        self, ann: Browser, name: str, data: bytes, kind: str, mime: str
    ) -> None:
        response = await ann.upload(name, data)
        upload = json_of(response)
        assert response.status == 201
        assert (upload["kind"], upload["mime"], upload["size"]) == (kind, mime, len(data))

    async def test_a_message_brings_it_to_the_agent(self, place: Place, ann: Browser) -> None:
        upload = json_of(await ann.upload("简历.pdf", b"%PDF" + b"x" * 200_000))
        await ann.say("", attachments=[upload["id"]])
        [attachment] = (await place.next()).message.attachments
        assert (attachment.kind, attachment.name, attachment.size) == (
            "file",
            "简历.pdf",
            200_004,
        )
        chunks = [chunk async for chunk in place.adapter.fetch(attachment)]
        assert b"".join(chunks) == b"%PDF" + b"x" * 200_000
        assert len(chunks) > 1

    async def test_its_owner_sees_it_again_and_nobody_else_does(
        self, ann: Browser, bob: Browser
    ) -> None:
        upload = json_of(await ann.upload("a.png", PNG))
        await ann.say("看", attachments=[upload["id"]])
        [file] = (await ann.history())["items"][0]["files"]
        shown = await ann.get(file["href"])
        assert await bytes_of(shown) == PNG
        assert header_of(shown, "content-type") == "image/png"
        await bob.history()
        assert (await bob.get(file["href"])).status == 404
        refused = await bob.post(
            "/chat/api/messages",
            {"client_msg_id": "a", "text": "x", "attachments": [upload["id"]]},
        )
        assert json_of(refused)["error"] == "web.no-such-file"

    async def test_what_is_no_picture_is_downloaded(self, ann: Browser) -> None:
        upload = json_of(await ann.upload("页.html", b"<script>alert(1)</script>"))
        response = await ann.get(f"/chat/uploads/{upload['id']}")
        assert header_of(response, "content-type") == "application/octet-stream"
        assert header_of(response, "content-disposition").startswith("attachment; ")
        assert header_of(response, "x-content-type-options") == "nosniff"
        assert await bytes_of(response) == b"<script>alert(1)</script>"

    async def test_it_is_for_this_users_eyes_only_on_disk(
        self, place: Place, ann: Browser
    ) -> None:
        await ann.upload("a.txt", b"x")
        folder = place.workspace / "uploads"
        for path in folder.rglob("*"):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o700 if path.is_dir() else 0o600), path
        assert not list(folder.rglob("a.txt*"))

    async def test_a_file_that_is_too_large_is_refused(self, ann: Browser) -> None:
        assert (await ann.upload("a", b"x" * (10 * 1024 * 1024))).status == 201
        refused = await ann.upload("a", b"x" * (10 * 1024 * 1024 + 1))
        assert (refused.status, json_of(refused)["error"]) == (413, "web.file-too-large")

    async def test_room_is_bounded_for_each_user_and_for_all(self, tmp_path: Path) -> None:
        place = Place(tmp_path, uploads_most=25, storage_most=45)
        await place.adapter.start(place)
        ann, bob, eve = Browser(place), Browser(place), Browser(place)
        assert (await ann.upload("a", b"x" * 20)).status == 201
        assert (await ann.upload("b", b"x" * 20)).status == 429
        assert (await bob.upload("a", b"x" * 20)).status == 201
        assert (await eve.upload("a", b"x" * 20)).status == 507
        await place.close()

    @pytest.mark.parametrize(
        ("kind", "body", "status"),
        [
            ("application/json", b"{}", 415),
            ("multipart/form-data", b"", 415),
            ("multipart/form-data; boundary=frontier", b"garbage", 415),
            ("multipart/form-data; boundary=frontier", b"--frontier--\r\n", 422),
            ("multipart/form-data; boundary=frontier", b"", 422),
        ],
    )
    async def test_what_is_no_form_is_refused(
        self, ann: Browser, kind: str, body: bytes, status: int
    ) -> None:
        response = await ann.post("/chat/api/uploads", body, {"content-type": kind})
        assert response.status == status

    def test_the_first_file_of_a_form_is_read(self) -> None:
        kind = "multipart/form-data; boundary=frontier"
        text = b'--frontier\r\nContent-Disposition: form-data; name="t"\r\n\r\nhello\r\n'
        assert read_file(kind, text + form("a.bin", b"\r\n--x\0")) == ("a.bin", b"\r\n--x\0")
        with pytest.raises(PermanentChannelError):
            read_file(kind, (text * 20) + form("a.bin", b""))

    @pytest.mark.parametrize(
        ("given", "kept"),
        [
            ("../../etc/passwd", "passwd"),
            ("C:\\temp\\cv.pdf", "cv.pdf"),
            ("\u202etxt.exe", "txt.exe"),
            ("a\nb\0c.txt", "abc.txt"),
            ("..", "file"),
            ("", "file"),
            ("好" * 300 + ".pdf", "好" * 116 + ".pdf"),
        ],
    )
    def test_names_are_for_people_only(self, given: str, kept: str) -> None:
        assert clean_name(given) == kept


class TestPurge:
    def test_what_no_message_named_is_removed_after_a_day(self, tmp_path: Path) -> None:
        uploads = Uploads(WebSettings(workspace=tmp_path))
        kept = uploads.keep(USER, "kept.txt", b"kept")
        left = uploads.keep(USER, "left.txt", b"left")
        uploads.attach(USER, [kept.id])
        uploads.purge(time.time())
        assert uploads.find(USER, left.id) is not None
        uploads.purge(time.time() + DAY_S + 60)
        assert uploads.find(USER, left.id) is None
        assert uploads.find(USER, kept.id) == kept
        names = sorted(path.name for path in (tmp_path / "uploads" / USER).iterdir())
        assert names == sorted([kept.id, f"{kept.id}.json"])

    def test_naming_a_file_twice_is_harmless(self, tmp_path: Path) -> None:
        uploads = Uploads(WebSettings(workspace=tmp_path))
        upload = uploads.keep(USER, "a", b"a")
        assert uploads.attach(USER, [upload.id]) == uploads.attach(USER, [upload.id] * 2)

    def test_a_note_that_a_crash_cut_short_is_no_file(self, tmp_path: Path) -> None:
        uploads = Uploads(WebSettings(workspace=tmp_path))
        upload = uploads.keep(USER, "a", b"a")
        (tmp_path / "uploads" / USER / f"{upload.id}.new").write_bytes(b'{"id"')
        assert uploads.find(USER, upload.id) is None


class TestLinks:
    """Nothing follows a link, wherever one was put."""

    @pytest.mark.parametrize("which", ["file", "folder", "root"])
    async def test_a_link_in_the_way_of_an_upload_is_not_followed(
        self, tmp_path: Path, which: str
    ) -> None:
        outside = tmp_path / "outside"
        (outside / USER).mkdir(parents=True)
        uploads = Uploads(WebSettings(workspace=tmp_path / "workspace"))
        upload = uploads.keep(USER, "a", b"a")
        folder = tmp_path / "workspace" / "uploads"
        place = {"file": folder / USER / upload.id, "folder": folder / USER, "root": folder}[
            which
        ]
        place.rename(tmp_path / "moved")
        place.symlink_to(outside)
        attachment = Attachment(kind="file", ref=f"uploads/{USER}/{upload.id}")
        with pytest.raises(PermanentChannelError):
            [chunk async for chunk in uploads.fetch(attachment)]
        if which != "file":
            with pytest.raises(OSError, match=r"."):
                uploads.keep(USER, "b", b"b")
            assert not list((outside / USER).iterdir())

    @pytest.mark.parametrize(
        "ref",
        [
            "uploads/../journal.db",
            "uploads/x",
            "/etc/passwd",
            "uploads/a/b/c",
            "sessions/u1/x",
            "",
            "uploads/\0/x",
        ],
    )
    async def test_only_uploads_are_fetched(self, tmp_path: Path, ref: str) -> None:
        uploads = Uploads(WebSettings(workspace=tmp_path))
        with pytest.raises(PermanentChannelError):
            [chunk async for chunk in uploads.fetch(Attachment(kind="file", ref=ref))]


class TestReplyFiles:
    async def answered(self, place: Place, ann: Browser, *parts: File | Image) -> str:
        await ann.say("给我文件")
        await place.answer(Markdown("这里"), *parts)
        return str((await ann.history())["items"][-1]["blocks"][1]["href"])

    @pytest.mark.parametrize("absolute", [True, False])
    async def test_a_file_of_ones_own_reply_is_served(
        self, place: Place, ann: Browser, bob: Browser, absolute: bool
    ) -> None:
        path = place.workspace / "exports" / "计划.csv"
        path.parent.mkdir()
        path.write_bytes(b"a,b\n")
        ref = str(path) if absolute else "exports/计划.csv"
        href = await self.answered(place, ann, File(ref, name="我的计划.csv"))
        response = await ann.get(href)
        assert (response.status, await bytes_of(response)) == (200, b"a,b\n")
        assert "attachment; filename*=UTF-8''%E6%88%91" in header_of(
            response, "content-disposition"
        )
        await bob.history()
        assert (await bob.get(href)).status == 404
        assert (await Browser(place).get(href)).status == 401

    async def test_a_picture_is_shown(self, place: Place, ann: Browser) -> None:
        (place.workspace / "charts").mkdir()
        (place.workspace / "charts" / "a").write_bytes(PNG)
        response = await ann.get(await self.answered(place, ann, Image("charts/a", alt="图")))
        assert header_of(response, "content-type") == "image/png"
        assert header_of(response, "content-disposition").startswith("inline")
        assert await bytes_of(response) == PNG

    async def test_an_address_is_a_link(self, place: Place, ann: Browser) -> None:
        href = await self.answered(place, ann, Image("https://e.com/a.png", alt="图"))
        assert href == "https://e.com/a.png"
        item = (await ann.history())["items"][-1]
        assert item["blocks"][1]["t"] == "link"
        assert (await ann.get(f"/chat/files/{item['seq']}/1")).status == 404

    @pytest.mark.parametrize(
        "ref",
        [
            "../outside.txt",
            "exports/../../outside.txt",
            "/etc/passwd",
            "journal.db",
            "operator.token",
            "sessions/u1/session-1.yaml",
            "logs/jobclaw.log",
            ".hidden",
            "exports",
            "exports/link",
            "exports/absent",
            "linked/outside.txt",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "exports/pipe",
        ],
    )
    async def test_what_is_not_for_users_is_not_served(
        self, place: Place, ann: Browser, ref: str
    ) -> None:
        workspace = place.workspace
        (workspace.parent / "outside.txt").write_text("outside")
        for name in (
            "operator.token",
            "sessions/u1/session-1.yaml",
            "logs/jobclaw.log",
            ".hidden",
        ):
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_text("secret")
        (workspace / "exports").mkdir()
        (workspace / "exports" / "link").symlink_to(workspace.parent / "outside.txt")
        (workspace / "linked").symlink_to(workspace.parent)
        os.mkfifo(workspace / "exports" / "pipe")
        response = await ann.get(await self.answered(place, ann, File(ref)))
        assert (response.status, json_of(response)["error"]) == (404, "web.not-found")

    @pytest.mark.parametrize(
        "path", ["1/9", "99/0", "x/0", "1/x", "-1/0", "1/-1", "9" * 30 + "/0", "1/0", "0/0"]
    )
    async def test_a_place_without_a_file_is_not_found(
        self, place: Place, ann: Browser, path: str
    ) -> None:
        await self.answered(place, ann, File("https://e.com/x"))
        assert (await ann.get(f"/chat/files/{path}")).status == 404
