"""The composition root: the only place that knows every part and wires them.

`Core` is what one process needs to decide and explain; `Chat` adds what it needs to accept,
answer and deliver. Nothing here decides anything.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from jobclaw.bus.events import EventBus
from jobclaw.bus.inbox import Inbox
from jobclaw.bus.lanes import Lanes
from jobclaw.bus.outbox import Outbox, UnknownPolicy, preview_of
from jobclaw.bus.topics import (
    AGENT_FAILED,
    MESSAGE_HANDLED,
    MESSAGE_RECEIVED,
    OPERATOR_NOTICE,
    Notice,
)
from jobclaw.errors import ConfigError
from jobclaw.model import InboundMessage, OutboundMessage, ReplyTarget, Turn, chat_key
from jobclaw.observe.why import Explainer
from jobclaw.plugins.host import PluginHost
from jobclaw.registry.agents import AgentRegistry
from jobclaw.registry.commands import CommandSpec, CommandTable
from jobclaw.router.gate import ProfileGate
from jobclaw.router.msg_router import MsgRouter
from jobclaw.router.policy import Policy
from jobclaw.router.reading import Identities, Reader
from jobclaw.router.steps.binding import BindingStep
from jobclaw.router.steps.classify import ClassifyStep
from jobclaw.router.steps.command import CommandStep
from jobclaw.router.steps.execute import ExecuteStep, Surroundings
from jobclaw.router.steps.identity import IdentityStep
from jobclaw.router.steps.match import MatchStep
from jobclaw.router.steps.switch import SwitchStep
from jobclaw.router.system_commands import SYSTEM_COMMANDS, SystemCommands
from jobclaw.router.system_commands.account import AccountCommands
from jobclaw.router.system_commands.guide import GuideCommands
from jobclaw.router.system_commands.record import RecordCommands
from jobclaw.router.system_commands.session import SessionCommands
from jobclaw.router.turns import Stages, Turns
from jobclaw.router.voice import Voice
from jobclaw.service.live_classifier import LiveClassifier
from jobclaw.service.references import References, refuse
from jobclaw.settings import RoleFile, Settings
from jobclaw.spi.channel import Accepted, ChannelAdapter, Posted, Said
from jobclaw.spi.clock import Clock
from jobclaw.spi.local import AgentFailure, LocalAdapter
from jobclaw.spi.store import Handled, OutboxRow, Store
from jobclaw.storage import WorkspaceLock, open_store
from jobclaw.texts import Catalogue, core_folder

Plugins = PluginHost[AgentRegistry]
DRAIN_TURNS_S = 20.0
DRAIN_OUTBOX_S = 5.0


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """See `spi.Clock`."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See `spi.Clock`."""
        return time.monotonic()


def load_texts(settings: Settings) -> Catalogue:
    """The core's sentences under the deployment's own."""
    return Catalogue([core_folder(), settings.locale.dir])


def load_plugins(settings: Settings, texts: Catalogue) -> Plugins:
    """Load every plugin into a registry of its own; blocks, so off the loop once that runs."""
    system = [
        CommandSpec(name=name, kind="system", summary_id=f"command.{name}.summary")
        for name in SYSTEM_COMMANDS
    ]
    registry = AgentRegistry(
        CommandTable(system),
        disabled=settings.plugins.disabled,
        texts=texts,
        overrides=(settings.locale.dir,),
    )
    host = PluginHost(settings.plugins, registry)
    host.load()
    return host


def _policy(settings: Settings) -> Policy:
    return Policy(
        default_agent=settings.router.default_agent,
        gate=settings.router.identity_gate,
        required_fields=settings.router.required_fields,
        ttl=timedelta(hours=settings.binding.ttl_hours),
        sliding=settings.binding.renew == "sliding",
        escape=settings.binding.escape,
        default_pause=timedelta(minutes=settings.binding.default_agent_minutes),
        clarify=settings.intent.clarify.enabled,
        clarify_margin=settings.intent.clarify.margin,
        high=settings.intent.high,
        takeover=timedelta(minutes=settings.takeover.resume_minutes),
        agent_timeout_s=settings.agents.timeout_s,
        text_most=settings.limits.text_max_chars,
        locale=settings.locale.default,
    )


@dataclass(frozen=True)
class Core:
    """Everything that decides, over one store."""

    settings: Settings
    texts: Catalogue
    store: Store
    clock: Clock
    plugins: Plugins
    classifier: LiveClassifier
    policy: Policy
    bus: EventBus
    settings_revision: str

    @property
    def agents(self) -> AgentRegistry:
        """The agents that are there."""
        return self.plugins.registry

    @property
    def voice(self) -> Voice:
        """The router's sentences."""
        return Voice(self.texts, self.agents)

    @property
    def explainer(self) -> Explainer:
        """Puts decisions into words."""
        return Explainer(self.texts, self.voice.agent)

    def revision(self) -> str:
        """The keywords and settings in use, as decisions are stamped."""
        return f"{self.classifier.revision}-{self.settings_revision}"

    def gate(self) -> ProfileGate:
        """The profile gate in use."""
        return ProfileGate(self.plugins.gate, self.policy, self.agents)

    def reader(self) -> Reader:
        """Makes turns of messages."""
        channels = self.plugins.channels
        identities = Identities(
            roles=RoleFile(self.settings.roles.file),
            trusted_roles=lambda name: name in channels and channels[name].trusted_roles,
            bot_names=lambda name, _account: _bot_names(self.plugins, name),
        )
        return Reader(self.store, self.agents, self.agents.table, identities, self.policy)

    def router(self) -> MsgRouter:
        """The six steps that decide."""
        agents, voice, policy = self.agents, self.voice, self.policy
        classify = self.classifier.classify
        gate = self.gate()
        commands = SystemCommands(
            SessionCommands(self.store, agents, voice, policy, self._person_wanted).actions(),
            GuideCommands(agents, agents.table, voice, self.plugins.broken).actions(),
            AccountCommands(self.store, voice).actions(),
            RecordCommands(self.store, agents, voice, self.explainer).actions(),
        )
        return MsgRouter(
            (
                IdentityStep(gate, voice, policy),
                CommandStep(commands, voice),
                SwitchStep(agents, voice, policy),
                BindingStep(agents, classify, voice, policy),
                ClassifyStep(agents, classify, voice, policy),
                MatchStep(agents, gate, voice, policy),
            )
        )

    def _person_wanted(self, turn: Turn) -> None:
        values = {"session": turn.session.key, "user": turn.user.id}
        self.bus.publish(OPERATOR_NOTICE, Notice(text_id="notice.person-wanted", values=values))


def _unknown_policy(settings: Settings) -> UnknownPolicy:
    return UnknownPolicy(settings.unknown_send.answers, settings.unknown_send.pushes)


def _bot_names(plugins: Plugins, channel: str) -> frozenset[str]:
    plugin = plugins.channels.get(channel)
    return frozenset() if plugin is None else plugin.bot_names


def build_core(
    settings: Settings, store: Store, clock: Clock, texts: Catalogue, plugins: Plugins
) -> Core:
    """Wire what decides.

    Raises:
        ConfigError: the keyword table is wrong, or there is no such agent or field.
    """
    classifier = LiveClassifier(
        settings.intent,
        settings.intent.keywords_file,
        settings.keywords_overlay,
        plugins.registry,
    )
    refuse(settings, References(settings, plugins).router_problems())
    return Core(
        settings=settings,
        texts=texts,
        store=store,
        clock=clock,
        plugins=plugins,
        classifier=classifier,
        policy=_policy(settings),
        bus=EventBus(),
        settings_revision=settings.revision,
    )


class Chat:
    """One local channel with the whole way of a message behind it; also its sink."""

    def __init__(self, core: Core, adapter: LocalAdapter) -> None:
        self._core = core
        self._adapter = adapter
        self.inbox = Inbox(core.store, core.bus)
        self.outbox = Outbox(
            core.store, core.bus, self._adapter_of, _unknown_policy(core.settings)
        )
        surroundings = Surroundings(
            missing=core.gate().missing,
            streams=self._streams,
            preview=self._preview,
            failed=lambda failure: core.bus.publish(AGENT_FAILED, failure),
            abandon=self._abandon,
        )
        execute = ExecuteStep(core.agents, core.store, core.voice, core.policy, surroundings)
        stages = Stages(core.reader(), core.router(), execute)
        self._turns = Turns(stages, core.gate(), core.voice, core.clock, core.revision)
        self.lanes = Lanes(
            core.store,
            self._turns,
            self._committed,
            max_parallel=core.settings.bus.max_parallel,
        )
        core.bus.attach(MESSAGE_RECEIVED, self.lanes.offer)
        core.bus.attach(MESSAGE_HANDLED, adapter.decided)
        core.bus.attach(AGENT_FAILED, adapter.failed)

    async def run(self, stop: asyncio.Event) -> None:
        """Take up what was left, serve until the input ends or `stop` is set, then drain."""
        done = asyncio.Event()
        watching = asyncio.create_task(self._watch(done))
        self.outbox.recover()
        self.lanes.recover()
        outbox_s = 0.0  # when the channel fails, nothing more can be delivered
        try:
            await self._adapter.start(self)
            await self._served(stop)
            outbox_s = DRAIN_OUTBOX_S
        finally:
            done.set()
            await self._adapter.stop(DRAIN_OUTBOX_S)
            await self.lanes.drain(DRAIN_TURNS_S)
            await self.outbox.drain(outbox_s)
            await watching
            await self._core.bus.close()

    async def _served(self, stop: asyncio.Event) -> None:
        """Return when the input has ended and is answered, or when `stop` is set."""
        ending = asyncio.create_task(self._ended())
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait((ending, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if ending.done():
            ending.result()
        else:
            ending.cancel()

    async def _ended(self) -> None:
        await self._adapter.closed()
        await self.idle()

    async def accept(self, message: InboundMessage) -> Accepted:
        """See `spi.Sink`."""
        return await self.inbox.accept(message)

    async def idle(self) -> None:
        """See `spi.Sink`."""
        await self.lanes.idle()
        await self.outbox.idle()
        await self._core.store.flush()

    def said(self, target: ReplyTarget, before: int, limit: int) -> tuple[Said, ...]:
        """See `spi.Sink`."""
        return self._core.store.said(chat_key(target), before, limit)

    def posted(self, target: ReplyTarget, after: int, limit: int) -> tuple[Posted, ...]:
        """See `spi.Sink`."""
        return self._core.store.posted(chat_key(target), after, limit)

    def _adapter_of(self, target: ReplyTarget) -> ChannelAdapter | None:
        served = target.channel == "console" and self._adapter.serves(target)
        return self._adapter if served else None

    def _streams(self, message: InboundMessage) -> bool:
        adapter = self._adapter_of(message.reply)
        return adapter is not None and adapter.capabilities.stream != "none"

    def _preview(self, message: OutboundMessage) -> None:
        self.outbox.preview(preview_of(message))

    def _abandon(self, task: asyncio.Task[object], failure: AgentFailure) -> None:
        self.lanes.abandon(task, partial(self._turns.abandoned, failure))

    def _committed(self, handled: Handled, rows: tuple[OutboxRow, ...]) -> None:
        self._core.bus.publish(MESSAGE_HANDLED, handled.decision)
        self.outbox.dispatch(rows)

    async def _watch(self, stop: asyncio.Event) -> None:
        core = self._core
        if core.settings.plugins.watch:
            await core.plugins.watch(
                stop,
                core.classifier.paths,
                on_plugins=core.classifier.refresh,
                on_files=core.classifier.reload,
            )


@asynccontextmanager
async def open_chat(
    settings: Settings, console: Mapping[str, object], holder: str
) -> AsyncGenerator[Chat]:
    """Hold the workspace, open the store, load the plugins, and make the console's channel.

    Raises:
        StorageError: the workspace is held by another process, or the store cannot be opened.
        ConfigError: the keyword table is wrong, or there is no console channel.
    """
    clock = SystemClock()
    with WorkspaceLock(settings.workspace).hold(holder, clock.now()):
        texts = load_texts(settings)
        plugins = load_plugins(settings, texts)
        plugin = plugins.channels.get("console")
        if plugin is None:
            raise ConfigError("config.no-console")
        store = open_store(settings.workspace, clock, dedup_days=settings.bus.dedup_days)
        try:
            core = build_core(settings, store, clock, texts, plugins)
            adapter = plugin.create("default", console)
            yield Chat(core, _local(adapter))
        finally:
            await store.close()


def _local(adapter: ChannelAdapter) -> LocalAdapter:
    if not isinstance(adapter, LocalAdapter):
        raise ConfigError("config.no-console")
    return adapter
