"""The month's budget, kept in the store, so that a restart does not begin a new one.

Dollars where the price is known; tokens, against a limit of their own, where it is not: an
unknown price is never free. Calls under way are not counted yet, so the limit may be passed by
as much as runs at the same moment.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from jobclaw.errors import StorageError
from jobclaw.llm.convert import Prices
from jobclaw.settings.services import LlmSettings
from jobclaw.spi.clock import Clock
from jobclaw.spi.llm import LlmReply
from jobclaw.spi.store import ModelUsage, UsageBook

_log = logging.getLogger(__name__)
Notify = Callable[[str, Mapping[str, str]], None]


class Budget:
    """Counts always; limits only when `llm.monthly_budget_usd` is set; tells once a month."""

    def __init__(
        self, book: UsageBook, settings: LlmSettings, clock: Clock, notify: Notify
    ) -> None:
        self._book = book
        self._usd = settings.monthly_budget_usd
        self._tokens = settings.monthly_budget_tokens
        self._clock = clock
        self._notify = notify
        self._told = ""

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._usd > 0

    def allows(self, model: str, prices: Prices) -> bool:
        """Whether a model may be asked in this month."""
        if not self.is_limited:
            return True
        usage = self._book.usage(self._month())
        if prices.is_known(model):
            spent = sum(row.cost_usd for row in usage)
            reached = spent >= self._usd
        else:
            unpriced = (row.tokens for row in usage if not prices.is_known(row.model))
            reached = sum(unpriced) >= self._tokens
        if reached:
            self._tell(model)
        return not reached

    async def count(self, reply: LlmReply) -> None:
        """Write down what an answer used; a store that cannot be written to stops no answer."""
        usage = ModelUsage(
            month=self._month(),
            model=reply.model,
            calls=1,
            tokens=reply.tokens,
            cost_usd=reply.cost_usd,
        )
        try:
            await self._book.add_usage(usage)
        except StorageError as error:
            _log.warning("the usage of %s was not written down: %s", reply.model, error)

    def _month(self) -> str:
        return self._clock.now().strftime("%Y-%m")

    def _tell(self, model: str) -> None:
        month = self._month()
        if self._told != month:
            self._told = month
            _log.warning("the budget of %s is used up; %s is no longer asked", month, model)
            self._notify("notice.llm-budget", {"month": month, "model": model})
