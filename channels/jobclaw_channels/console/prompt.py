"""`jobclaw chat` for people: a prompt with history, answers as they are written."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobclaw.model import (
    DeliveryReceipt,
    OutboundMessage,
    Progress,
    ReplyTarget,
    RouteDecision,
)
from jobclaw.spi import AgentFailure, Capabilities, Catalogue, Sink
from jobclaw_channels.console.convert import Line, text_of, to_message
from jobclaw_channels.console.settings import ConsoleSettings
from jobclaw_channels.console.source import LineSource
from jobclaw_channels.console.terminal import Terminal

HISTORY_LINES = 1000
Answer = str | OSError | None


class PromptAdapter(Terminal):
    """Asks, waits for the answer, asks again; Ctrl-D ends, Ctrl-C too, in mid-line as well."""

    capabilities = Capabilities(markdown="plain", stream="native")

    def __init__(self, account: str, settings: ConsoleSettings) -> None:
        super().__init__()
        self._account = account
        self._settings = settings
        folders = (Path(__file__).parent / "locales", *settings.locales)
        self._texts = Catalogue(folders)
        self._streamed: dict[str, str] = {}
        self._tty = _state_of_terminal() if settings.mode == "prompt" else None

    async def read(self, sink: Sink) -> None:
        """See `Terminal`."""
        if self._settings.mode == "once":
            await self._say(sink, self._settings.text)
            return
        if os.isatty(0):
            self._print(self._texts.say(self._settings.locale, "console.hello"))
        async for text in self._typed():
            if text.strip():
                await self._say(sink, text)

    async def stop(self, grace_s: float) -> None:
        """See `spi.ChannelAdapter`; a prompt that still waits has the echo off: put it back."""
        await super().stop(grace_s)
        if self._tty is not None:
            import termios  # noqa: PLC0415 - not on every system

            with contextlib.suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(0, termios.TCSADRAIN, self._tty)
            self._print("")

    async def send(self, message: OutboundMessage) -> DeliveryReceipt:
        """See `spi.ChannelAdapter`; a preview shows what is new of the text."""
        self._last_out = datetime.now(UTC)
        if message.op == "stream_delta":
            self._preview(message)
            return self.receipt(message.id)
        shown = self._streamed.pop(message.id, None)
        text = text_of(message)
        if shown is None:
            self._print(f"{self._head(message)}{text}")
        elif text.startswith(shown):
            self._print(text[len(shown) :])
        else:  # the final text is another one: show it whole
            self._print(f"\n{self._head(message)}{text}")
        return self.receipt(message.id)

    def serves(self, target: ReplyTarget) -> bool:
        """See `spi.LocalAdapter`; another conversation's answer would pass for one of this."""
        own = self._settings.conversation or self._settings.user
        return target.conversation == own and super().serves(target)

    def decided(self, decision: RouteDecision) -> None:
        """See `spi.LocalAdapter`; a person asks `/why` instead."""

    def failed(self, failure: AgentFailure) -> None:
        """See `spi.LocalAdapter`."""
        head = self._texts.say(
            self._settings.locale,
            "console.agent-failed",
            agent=failure.agent,
            reason=failure.reason,
            id=failure.error_id,
        )
        sys.stderr.write(f"{head}\n{failure.traceback}")
        sys.stderr.flush()

    def _preview(self, message: OutboundMessage) -> None:
        if any(isinstance(part, Progress) for part in message.parts):
            return
        key, text = message.stream_id, text_of(message)
        shown = self._streamed.get(key)
        if shown is None:
            self._write(self._head(message) + text)
        elif text.startswith(shown):
            self._write(text[len(shown) :])
        else:
            return
        self._streamed[key] = text

    def _head(self, message: OutboundMessage) -> str:
        name = message.agent or "jobclaw"
        return f"\x1b[36m{name} ›\x1b[0m " if self._settings.color else f"{name} › "

    async def _say(self, sink: Sink, text: str) -> None:
        self._last_in = datetime.now(UTC)
        message = to_message(Line(text=text), self._account, self._settings, self._last_in)
        await sink.accept(message)
        await sink.idle()

    async def _typed(self) -> AsyncIterator[str]:
        """What is typed, a line at a time, asked for only when the answer is out."""
        if not os.isatty(0):
            async for line in LineSource(0).lines():
                yield line.decode(errors="replace")
            return
        loop = asyncio.get_running_loop()
        self._recall()
        while True:
            answer: asyncio.Future[Answer] = loop.create_future()
            asking = threading.Thread(target=_ask, args=(loop, answer), daemon=True)
            asking.start()
            text = await answer
            if isinstance(text, OSError):
                self.lose(text)
                return
            if text is None:
                return
            self._remember()
            yield text

    def _recall(self) -> None:
        if self._settings.history is None:
            return
        import readline  # noqa: PLC0415 - changes what `input` does, so only at a terminal

        readline.set_history_length(HISTORY_LINES)
        with contextlib.suppress(FileNotFoundError):
            readline.read_history_file(self._settings.history)

    def _remember(self) -> None:
        path = self._settings.history
        if path is None:
            return
        import readline  # noqa: PLC0415 - as above

        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        readline.write_history_file(path)

    def _print(self, text: str) -> None:
        self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        self.put(text.encode(errors="backslashreplace"))


def _state_of_terminal() -> list[Any] | None:
    """How the terminal is set now; None where standard input is none."""
    if not os.isatty(0):
        return None
    import termios  # noqa: PLC0415 - not on every system

    return termios.tcgetattr(0)


def _ask(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Answer]) -> None:
    """Read one line at the prompt, on a thread; None at the end of input."""
    try:
        text: Answer = input("› ")
    except EOFError:
        text = None
    except UnicodeDecodeError:
        text = ""
    except OSError as error:
        text = error
    if not loop.is_closed():
        loop.call_soon_threadsafe(_give, answer, text)


def _give(answer: asyncio.Future[Answer], text: Answer) -> None:
    if not answer.done():
        answer.set_result(text)
