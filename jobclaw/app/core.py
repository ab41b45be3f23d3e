"""Wires what decides: plugins, classifier, registry, router, over one store."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobclaw.app.models import Models, open_models
from jobclaw.bus.events import EventBus
from jobclaw.bus.topics import OPERATOR_NOTICE, Notice
from jobclaw.model import Turn
from jobclaw.observe.redaction import Redactor
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
from jobclaw.router.steps.identity import IdentityStep
from jobclaw.router.steps.match import MatchStep
from jobclaw.router.steps.switch import SwitchStep
from jobclaw.router.system_commands import SYSTEM_COMMANDS, SystemCommands
from jobclaw.router.system_commands.account import AccountCommands
from jobclaw.router.system_commands.guide import GuideCommands
from jobclaw.router.system_commands.record import RecordCommands
from jobclaw.router.system_commands.session import SessionCommands
from jobclaw.router.third_tier import ThirdTier
from jobclaw.router.voice import Voice
from jobclaw.service.live_classifier import LiveClassifier
from jobclaw.service.references import References, refuse
from jobclaw.settings import RoleFile, Settings
from jobclaw.spi.clock import Clock
from jobclaw.spi.store import Store
from jobclaw.texts import Catalogue, core_folder

Plugins = PluginHost[AgentRegistry]


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
    models: Models
    policy: Policy
    bus: EventBus
    redactor: Redactor
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
                ClassifyStep(agents, classify, voice, policy, self._third_tier()),
                MatchStep(agents, gate, voice, policy),
            )
        )

    async def watch(self, stop: asyncio.Event) -> None:
        """Load changed drop-ins and keyword tables until `stop` is set, if so configured."""
        if self.settings.plugins.watch:
            await self.plugins.watch(
                stop,
                self.classifier.paths,
                on_plugins=self.classifier.refresh,
                on_files=self.classifier.reload,
            )

    def _third_tier(self) -> ThirdTier | None:
        tier = self.models.tier
        if tier is None:
            return None
        return ThirdTier(tier, self.store.history, self.agents, self.voice, self.policy)

    def _person_wanted(self, turn: Turn) -> None:
        values = {"session": turn.session.key, "user": turn.user.id}
        self.bus.publish(OPERATOR_NOTICE, Notice(text_id="notice.person-wanted", values=values))


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
    bus = EventBus()
    redactor = Redactor(settings.secrets())
    return Core(
        settings=settings,
        texts=texts,
        store=store,
        clock=clock,
        plugins=plugins,
        classifier=classifier,
        models=open_models(settings, store, clock, bus, redactor),
        policy=_policy(settings),
        bus=bus,
        redactor=redactor,
        settings_revision=settings.revision,
    )
