"""The port of a channel whose user is the operator of this machine: the console."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jobclaw.model import ReplyTarget, RouteDecision, Value
from jobclaw.spi.channel import ChannelAdapter


class AgentFailure(Value, frozen=True):
    """An agent that raised, hung or said nothing; `traceback` is for the operator's eyes.

    `chat` is the key of the chat (`model.chat_key`) in which it happened.
    """

    error_id: str
    agent: str
    message: str
    reason: str
    traceback: str = ""
    chat: str = ""


@runtime_checkable
class LocalAdapter(ChannelAdapter, Protocol):
    """A channel that ends with its input, and may show what other channels must not."""

    async def closed(self) -> None:
        """Return when the input has ended and everything read from it is answered.

        Raises what makes it useless to go on: the chat ends with it, and what was not shown
        stays in the outbox.
        """
        ...

    def serves(self, target: ReplyTarget) -> bool:
        """Whether this run shows what goes to `target`; else it waits for one that does."""
        ...

    def decided(self, decision: RouteDecision) -> None:
        """Show how a message was routed."""
        ...

    def failed(self, failure: AgentFailure) -> None:
        """Show an agent's traceback."""
        ...
