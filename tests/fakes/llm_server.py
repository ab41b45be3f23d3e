"""A language model's server on loopback: OpenAI's chat completions, with every fault we know.

In a test, in its own thread (for tests that block) or on the loop:

    with LlmServer(answer='{"intent": "CHAT", "confidence": 0.9}') as server: …
    async with LlmServer(answer=[Answer(status=429, retry_after=1), "second"]) as server: …

`server.url` is what `llm.api_base` wants, `server.asked` what was asked so far, oldest first.
`server.answer` may be set anew at any time. As a process of its own it prints one line,
`{"url": "http://127.0.0.1:PORT/v1"}`, and serves until it is ended:

    python tests/fakes/llm_server.py --port 0 --script FILE

FILE holds JSON: a text, an object with the fields of `Answer`, or a list of them, the last of
which is repeated.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, cast

from aiohttp import web

WAIT_S = 30.0
Fault = Literal[
    "", "hang", "drip", "reset", "cut-off", "garbage", "no-choices", "long", "packed"
]


@dataclass(frozen=True)
class Answer:
    """One answer of the server.

    `fault`: hang (nothing is ever sent), drip (one byte each `drip_s`), reset (the connection
    breaks), cut-off (half a body), garbage (no JSON), no-choices (JSON that is no completion),
    long (a body without end), packed (a good answer in much space, packed though not asked).
    With `status` 400 and more, `text` is the message of the error.
    """

    text: str = ""
    status: int = 200
    retry_after: float | None = None
    fault: Fault = ""
    drip_s: float = 20.0
    delay_s: float = 0.0
    prompt_tokens: int = 100
    completion_tokens: int = 20


@dataclass(frozen=True)
class Asked:
    """One request: the model's name, system and user texts, the header, the whole body."""

    model: str
    system: str
    user: str
    authorization: str
    body: dict[str, Any] = field(repr=False)


Said = str | Answer
Plan = Said | Sequence[Said] | Callable[[Asked], Said]


class LlmServer:
    """Serves one plan of answers; see the module."""

    def __init__(self, answer: Plan = "", port: int = 0) -> None:
        self.asked: list[Asked] = []
        self.url = ""
        self._port = port
        self._plan: Plan = answer
        self._since = 0
        self._runner: web.AppRunner | None = None
        self._closing = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._started = threading.Event()

    @property
    def answer(self) -> Plan:
        """What is answered; a list set anew starts at its beginning."""
        return self._plan

    @answer.setter
    def answer(self, plan: Plan) -> None:
        self._plan, self._since = plan, len(self.asked)

    async def __aenter__(self) -> Self:
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._serve, name="llm-server", daemon=True)
        self._thread.start()
        assert self._started.wait(WAIT_S)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            await self._start()
            self._started.set()
            await self._closing.wait()
            await self._stop()

        asyncio.run(serve())

    async def _start(self) -> None:
        app = web.Application(client_max_size=16 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"

    async def _stop(self) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _models(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {"object": "list", "data": [{"id": "test", "object": "model"}]}
        )

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        asked = Asked(
            model=body["model"],
            system=_texts(body, "system"),
            user=_texts(body, "user"),
            authorization=request.headers.get("Authorization", ""),
            body=body,
        )
        self.asked.append(asked)
        said = self._next(asked)
        return await self._send(
            request, asked, Answer(text=said) if isinstance(said, str) else said
        )

    def _next(self, asked: Asked) -> Said:
        plan = self._plan
        if isinstance(plan, str | Answer):
            return plan
        if callable(plan):
            return plan(asked)
        return plan[min(len(self.asked) - self._since, len(plan)) - 1]

    async def _send(
        self, request: web.Request, asked: Asked, answer: Answer
    ) -> web.StreamResponse:
        await self._pause(answer.delay_s)
        if answer.fault == "hang":
            await self._closing.wait()
        if answer.fault in ("reset", "hang"):
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        if answer.fault == "long":
            return await self._send_without_end(request)
        if answer.fault == "packed":
            return _packed(asked, answer)
        if answer.fault in ("drip", "cut-off"):
            return await self._send_badly(request, asked, answer)
        if answer.fault == "garbage":
            return web.Response(text="<html>Bad gateway</html>", content_type="text/html")
        return _response(asked, answer)

    async def _send_badly(
        self, request: web.Request, asked: Asked, answer: Answer
    ) -> web.StreamResponse:
        data = json.dumps(_completion(asked, answer)).encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = len(data)
        await response.prepare(request)
        with contextlib.suppress(ConnectionResetError):  # the client has had enough
            if answer.fault == "cut-off":
                await response.write(data[: len(data) // 2])
            await self._drip(response, data if answer.fault == "drip" else b"", answer.drip_s)
        if request.transport is not None:
            request.transport.abort()
        return response

    async def _send_without_end(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionResetError):  # the client has had enough
            while not self._closing.is_set():
                await response.write(b" " * 65536)
        return response

    async def _drip(self, response: web.StreamResponse, data: bytes, drip_s: float) -> None:
        for at in range(len(data)):
            if self._closing.is_set():
                return
            await response.write(data[at : at + 1])
            await self._pause(drip_s)

    async def _pause(self, seconds: float) -> None:
        """Let time pass, unless the server closes."""
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), seconds)


def _texts(body: dict[str, Any], role: str) -> str:
    return "\n".join(part["content"] for part in body["messages"] if part["role"] == role)


def _response(asked: Asked, answer: Answer) -> web.Response:
    headers: dict[str, str] = {}
    if answer.retry_after is not None:
        headers["Retry-After"] = f"{answer.retry_after:g}"
    body: dict[str, Any] = _completion(asked, answer)
    if answer.status != web.HTTPOk.status_code:
        body = {"error": {"message": answer.text or "refused", "type": "error", "code": None}}
    elif answer.fault == "no-choices":
        body["choices"] = []
    return web.json_response(body, status=answer.status, headers=headers)


def _packed(asked: Asked, answer: Answer) -> web.Response:
    data = json.dumps(_completion(asked, answer)).encode() + b" " * 20_000_000
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return web.Response(body=gzip.compress(data), headers=headers)


def _completion(asked: Asked, answer: Answer) -> dict[str, Any]:
    total = answer.prompt_tokens + answer.completion_tokens
    return {
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 1,
        "model": asked.model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer.text},
            }
        ],
        "usage": {
            "prompt_tokens": answer.prompt_tokens,
            "completion_tokens": answer.completion_tokens,
            "total_tokens": total,
        },
    }


def _read_plan(file: Path) -> Plan:
    def said(value: Any) -> Said:
        return value if isinstance(value, str) else Answer(**value)

    plan: Any = json.loads(file.read_text("utf-8"))
    if isinstance(plan, list):
        return [said(value) for value in cast("list[Any]", plan)]
    return said(plan)


async def _main(port: int, plan: Plan) -> None:
    async with LlmServer(plan, port) as server:
        print(json.dumps({"url": server.url}), flush=True)  # noqa: T201 - read by who started it
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, required=True)
    options = parser.parse_args()
    asyncio.run(_main(options.port, _read_plan(options.script)))
