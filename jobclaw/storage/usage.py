"""What models were used for, a row a month and model."""

from __future__ import annotations

from jobclaw.spi.store import ModelUsage
from jobclaw.storage.part import Part
from jobclaw.storage.writer import Txn, run_each

_ADD = """
    INSERT INTO model_usage (month, model, calls, tokens, cost_usd) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (month, model) DO UPDATE SET calls = calls + excluded.calls,
        tokens = tokens + excluded.tokens, cost_usd = cost_usd + excluded.cost_usd"""
_MONTH = "SELECT model, calls, tokens, cost_usd FROM model_usage WHERE month = ? ORDER BY model"


class UsagePart(Part):
    """`spi.store.UsageBook`."""

    def usage(self, month: str) -> tuple[ModelUsage, ...]:
        """See `UsageBook.usage`."""
        return tuple(
            ModelUsage(month=month, model=model, calls=calls, tokens=tokens, cost_usd=cost)
            for model, calls, tokens, cost in self._reader.all(_MONTH, (month,))
        )

    async def add_usage(self, usage: ModelUsage) -> None:
        """See `UsageBook.add_usage`."""
        row = (usage.month, usage.model, usage.calls, usage.tokens, usage.cost_usd)

        def write(txn: Txn) -> None:
            txn.db.execute(_ADD, row)

        await self._writer.submit(run_each, write)
