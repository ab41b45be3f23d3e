"""Accounts of a channel: what all have, what they need, and what they take over.

The keys of a channel are the account `default`; `accounts: {sales: {…}}` adds others, which
take over what they do not say themselves, credentials apart. What an enabled channel needs in
its mode is checked here, so that an empty secret is an error at the start and never "off".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import Field, SecretStr, StringConstraints, field_validator, model_validator

from jobclaw.errors import ConfigError
from jobclaw.settings.fields import Section, Strings, Switch, complain
from jobclaw.settings.secrets import CHOSEN_LENGTH, ISSUED_LENGTH, is_default, reveal

DEFAULT_ACCOUNT = "default"
Access = Literal["open", "pairing", "allowlist"]
AccountName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
Problem = tuple[tuple[str, ...], ConfigError]
_CHOSEN = frozenset({"webhook_secret"})
S = TypeVar("S", bound=Section)
A = TypeVar("A", bound="Account")


class Account(Section):
    """What every account of a platform has."""

    access: Access = "open"
    """Who may write: `open` everybody, `pairing` who was let in with a code, `allowlist` only
    the senders of `allow`."""

    allow: Strings = ()
    """The platform's user ids, as text, that are let in; an empty list lets nobody in."""

    default_agent: str = ""
    """Agent for whatever finds no other one here; empty: `router.default_agent`."""

    agents: Strings = ()
    """Ids of the only agents that answer here; empty: all."""

    @field_validator("allow")
    @classmethod
    def _names_senders(cls, ids: tuple[str, ...]) -> tuple[str, ...]:
        if any(not one.strip() or one.strip() == "*" for one in ids):
            complain([((), ConfigError("config.allow-everybody"))])
        return ids

    def needs(self) -> tuple[str, ...]:
        """The dotted names of what may not be empty in the present mode."""
        return ()

    def problems(self) -> Iterator[Problem]:
        """Say what is missing or weak."""
        for dotted in self.needs():
            path = tuple(dotted.split("."))
            value: object = self
            for name in path:
                value = getattr(value, name)
            secret = value.get_secret_value() if isinstance(value, SecretStr) else None
            least = CHOSEN_LENGTH if path[-1] in _CHOSEN else ISSUED_LENGTH
            if not (value if secret is None else secret.strip()):
                yield path, ConfigError("config.channel-needs", key=dotted)
            elif secret is not None and (is_default(secret) or len(secret) < least):
                yield path, ConfigError("config.secret-weak", least=least)


class Several(Account, Generic[A]):
    """A platform that may have several accounts of the kind `A`."""

    enabled: Switch = False
    """Whether the channel runs."""

    accounts: dict[AccountName, A] = Field(default_factory=dict[AccountName, A])
    """Further accounts by name (lower-case letters, digits, - and _)."""

    def by_account(self) -> dict[str, Account]:
        """Every account by name, complete with what it takes over from the channel."""
        found: dict[str, Account] = {}
        if not self.accounts or _has_own(self):
            found[DEFAULT_ACCOUNT] = self
        for name, account in self.accounts.items():
            found[name] = _completed(account, self, own=name != DEFAULT_ACCOUNT)
        return found

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.enabled:
            complain(
                [
                    (("accounts", name, *path) if name in self.accounts else path, problem)
                    for name, account in self.by_account().items()
                    for path, problem in account.problems()
                ]
            )
        return self


def _has_own(section: Section) -> bool:
    """Whether any credential is given."""
    return any(
        _has_own(part)
        if isinstance(part, Section)
        else name in section.credentials and reveal(part)
        for name, part in section
    )


def _completed(account: S, channel: Section, *, own: bool) -> S:
    """The account with what it does not say itself taken from the channel."""
    update: dict[str, object] = {}
    for name in type(account).model_fields:
        mine, theirs = getattr(account, name), getattr(channel, name)
        if isinstance(mine, Section):
            update[name] = _completed(mine, theirs, own=own)
        elif name not in account.model_fields_set and not (own and name in account.credentials):
            update[name] = theirs
    return account.model_copy(update=update)
