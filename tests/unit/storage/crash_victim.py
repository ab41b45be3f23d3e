"""Handles messages in many lanes until it is killed; prints what it was told is on disk."""

import asyncio
import sys
from pathlib import Path

import msgspec
from store_samples import SteppedClock, bound, handled, message, reply

from jobclaw.spi.store import MemoryWrite, Store
from jobclaw.storage import open_store

LANES = 40


async def lane(store: Store, lane_number: int, first: int) -> None:
    """Accept and handle one message after the other."""
    chat = f"c{lane_number}"
    key = f"console:main:{chat}:u1"
    counted = bool(lane_number % 2)  # the first attempts in the same transactions
    for number in range(first + lane_number, first + 1_000_000, LANES):
        one = message(number, chat, keys=(f"k{number}",))
        accepted = await store.ingest(one, claimed=counted)
        print("in", one.id, flush=True)  # noqa: T201
        if not counted:
            await store.claim(accepted.seq)
        session = store.read(key, "u1")
        session = msgspec.structs.replace(session, last_message=one.id)
        if not session.bound_agent:
            session = msgspec.structs.replace(bound(key), last_message=one.id)
        memory = MemoryWrite(session=key, agent="a", key=one.id, value="1")
        done = handled(accepted.seq, one, reply(one, 0), reply(one, 1), session=session)
        done = msgspec.structs.replace(done, memory=(memory,))
        await store.commit(done, sending=counted)
        print("done", one.id, flush=True)  # noqa: T201


async def main() -> None:
    """Run all lanes; the second argument is the first message's number."""
    store = open_store(Path(sys.argv[1]), SteppedClock())
    await asyncio.gather(*(lane(store, n, int(sys.argv[2])) for n in range(LANES)))


if __name__ == "__main__":
    asyncio.run(main())
