"""Makes the adapters of the enabled channels, and starts and stops them, each for itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import datetime

from jobclaw.app.core import Plugins
from jobclaw.errors import ChannelError, ConfigError
from jobclaw.model import Locale, ReplyTarget
from jobclaw.settings import Settings, check_channels
from jobclaw.settings.accounts import DEFAULT_ACCOUNT, Account
from jobclaw.settings.channels import for_adapter
from jobclaw.settings.fields import Section
from jobclaw.spi.channel import ChannelAdapter, ChannelHealth, Sink
from jobclaw.spi.hooks import ChannelPlugin
from jobclaw.spi.http import HttpChannel
from jobclaw.texts import Catalogue, core_folder

_log = logging.getLogger(__name__)
CONSOLE = "console"
START_PATIENCE_S = 5.0
LET_GO_S = 1.0
Place = tuple[str, str]


class Channels:
    """The adapters of one daemon, by channel and account.

    One that cannot start is `down` with its reason, and stops no other. One that takes long is
    `down` until it has started, and nobody waits for it.
    """

    def __init__(
        self,
        adapters: Mapping[Place, ChannelAdapter],
        unmade: Mapping[Place, ChannelHealth],
        disabled: tuple[str, ...],
        now: Callable[[], datetime],
    ) -> None:
        self._adapters = dict(adapters)
        self._unmade = dict(unmade)
        self._disabled = disabled
        self._failed: dict[Place, ChannelHealth] = {}
        self._starting: dict[Place, asyncio.Task[None]] = {}
        self._stopping = False
        self._now = now

    @property
    def served_by_web(self) -> tuple[HttpChannel, ...]:
        """Those that people or platforms reach through the web server."""
        return tuple(one for one in self._adapters.values() if isinstance(one, HttpChannel))

    def of(self, target: ReplyTarget) -> ChannelAdapter | None:
        """Who delivers to a target; None if its account is not there or did not start."""
        place = (target.channel, target.account)
        return None if place in self._failed else self._adapters.get(place)

    def has(self, channel: str, account: str) -> bool:
        """Whether an account of a channel is enabled."""
        return (channel, account) in self._adapters

    async def start(self, sink: Sink) -> None:
        """Start all of them; returns when all are ready, or have had `START_PATIENCE_S`."""
        for place in self._adapters:
            self._starting[place] = asyncio.create_task(self._start(place, sink))
        if self._starting:
            await asyncio.wait(self._starting.values(), timeout=START_PATIENCE_S)
        for channel, account in self._starting:
            _log.warning("channel %s/%s is still starting", channel, account)

    async def stop(self, grace_s: float, *, web: bool) -> None:
        """Stop those that the web server serves, or all others; one that hangs is left."""
        self._stopping = True
        if starting := tuple(self._starting.values()):
            for task in starting:
                task.cancel()
            await asyncio.wait(starting, timeout=LET_GO_S)
        stopping = [
            self._stop(place, adapter, grace_s)
            for place, adapter in self._adapters.items()
            if isinstance(adapter, HttpChannel) is web and place not in self._failed
        ]
        await asyncio.gather(*stopping)

    def health(self) -> dict[str, ChannelHealth]:
        """How each is, by NAME, or NAME/ACCOUNT for other accounts than the default."""
        found = {name: ChannelHealth(state="disabled") for name in self._disabled}
        for name, account in (*self._adapters, *self._unmade):
            shown = name if account == DEFAULT_ACCOUNT else f"{name}/{account}"
            place = (name, account)
            found[shown] = self._unmade.get(place) or self._health(place)
        return found

    async def _start(self, place: Place, sink: Sink) -> None:
        try:
            await self._adapters[place].start(sink)
        except asyncio.CancelledError as error:
            self._did_not_start(place, error)
            if self._stopping:
                raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an adapter's fault stops no other channel
            self._did_not_start(place, error)
        finally:
            del self._starting[place]

    def _did_not_start(self, place: Place, error: BaseException) -> None:
        _log.error("channel %s/%s did not start", *place, exc_info=error)
        self._failed[place] = _down(error, self._now())

    async def _stop(self, place: Place, adapter: ChannelAdapter, grace_s: float) -> None:
        stopping = asyncio.create_task(self._ask_to_stop(place, adapter, grace_s))
        done, _ = await asyncio.wait((stopping,), timeout=grace_s + LET_GO_S)
        if not done:
            _log.error("channel %s/%s does not stop", *place)
            stopping.cancel()

    async def _ask_to_stop(self, place: Place, adapter: ChannelAdapter, grace_s: float) -> None:
        try:
            await adapter.stop(grace_s)
        except (Exception, SystemExit):  # noqa: BLE001 - as above
            _log.exception("channel %s/%s did not stop well", *place)

    def _health(self, place: Place) -> ChannelHealth:
        if place in self._failed:
            return self._failed[place]
        if place in self._starting:
            return ChannelHealth(state="down", since=self._now(), reason="still starting")
        try:
            return _checked(self._adapters[place].health())
        except Exception as error:  # noqa: BLE001 - as above
            _log.exception("channel %s/%s does not say how it is", *place)
            return _down(error, self._now())


def _checked(health: object) -> ChannelHealth:
    if not isinstance(health, ChannelHealth):
        raise TypeError(f"health() gave {type(health).__name__}")
    return health


def _down(error: BaseException, now: datetime) -> ChannelHealth:
    return ChannelHealth(state="down", since=now, reason=f"{type(error).__name__}: {error}")


def open_channels(
    settings: Settings, plugins: Plugins, locale: Locale, now: Callable[[], datetime]
) -> Channels:
    """Make an adapter for every enabled account; the console's terminals come by themselves.

    Blocks while SDKs are imported, so off the loop. `locale` is that of whoever reads errors.

    Raises:
        ConfigError: a channel has no plugin, its adapter refuses its settings, or a setting has
            no effect yet.
    """
    check_channels(settings, plugins.channels)
    common: dict[str, object] = {
        "workspace": settings.workspace,
        "locale": settings.locale.default,
        "locales": (core_folder(), settings.locale.dir),
        "text_most": settings.limits.text_max_chars,
    }
    enabled = settings.channels.enabled()
    adapters: dict[Place, ChannelAdapter] = {}
    unmade: dict[Place, ChannelHealth] = {}
    for name, accounts in enabled.items():
        if name == CONSOLE:
            continue
        plugin = plugins.channels[name]
        for account, section in accounts.items():
            _refuse_later(name, section)
            given = {**for_adapter(section), **common}
            try:
                adapters[name, account] = _made(plugin, account, given, locale)
            except ConfigError:
                raise
            except (Exception, SystemExit) as error:  # noqa: BLE001 - as above
                _log.exception("channel %s/%s cannot be made", name, account)
                unmade[name, account] = _down(error, now())
    disabled = tuple(name for name in plugins.channels if name not in enabled)
    return Channels(adapters, unmade, disabled, now)


def _refuse_later(channel: str, section: Section) -> None:
    """Refuse what the router does not obey yet: a limit that limits nothing misleads."""
    if not isinstance(section, Account):
        return
    for key in ("agents", "default_agent"):
        if getattr(section, key):
            raise ConfigError("config.channel-later", channel=channel, key=key)


def _made(
    plugin: ChannelPlugin, account: str, given: Mapping[str, object], locale: Locale
) -> ChannelAdapter:
    try:
        return plugin.create(account, given)
    except ChannelError as error:
        folders = [core_folder()] if plugin.locales is None else [core_folder(), plugin.locales]
        problem = Catalogue(folders).say(locale, error.text_id, **error.values)
        raise ConfigError(
            "config.channel-refused", channel=plugin.name, account=account, problem=problem
        ) from error
