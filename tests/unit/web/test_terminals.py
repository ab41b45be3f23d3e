"""A terminal is attached while somebody reads its stream, neither before nor after."""

from collections.abc import Sequence
from datetime import UTC, datetime

from jobclaw.model import InboundMessage, ReplyTarget, from_json
from jobclaw.spi import Accepted, Capabilities
from jobclaw.web.api.terminals import _attached  # pyright: ignore[reportPrivateUsage]
from jobclaw.web.terminals import Attaching, Line, Terminals

HERE = ReplyTarget(channel="console", account="default", conversation="ann")
ANN = Attaching(capabilities=Capabilities(), conversation="ann")


class NothingWaits:
    """The engine of a house where nobody has said anything."""

    async def accept(self, message: InboundMessage) -> Accepted:
        return Accepted(message_id=message.id, duplicate=False)

    async def settled(self, lanes: Sequence[str], chats: Sequence[str]) -> None:
        """Everything is."""

    def resume(self, chat: str) -> None:
        """Nothing to deliver."""


async def test_who_leaves_before_the_first_line_was_never_there() -> None:
    terminals = Terminals(NothingWaits(), lambda: datetime.now(UTC))
    lines = _attached(terminals, ANN)
    await lines.aclose()
    assert terminals.serving(HERE) is None


async def test_who_reads_is_served_until_it_goes() -> None:
    terminals = Terminals(NothingWaits(), lambda: datetime.now(UTC))
    lines = _attached(terminals, ANN)
    first = from_json(await anext(lines), Line)
    serving = terminals.serving(HERE)
    assert serving is not None
    assert (first.kind, first.id) == ("attached", serving.id)
    await lines.aclose()
    assert terminals.serving(HERE) is None
