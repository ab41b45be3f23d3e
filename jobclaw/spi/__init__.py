"""The public surface for plugins, and the ports that the core's parts meet at.

`from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl` is all that an
agent needs.
"""

from jobclaw.model import Button, Buttons, File, Image, Markdown, Progress, ReplyPart
from jobclaw.spi.agent import (
    Agent,
    AgentIntro,
    AgentRequest,
    Memory,
    PastTurn,
    Profile,
    Say,
    SessionView,
    Tools,
)
from jobclaw.spi.channel import (
    Accepted,
    Capabilities,
    ChannelAdapter,
    ChannelHealth,
    CommandInfo,
    Posted,
    Said,
    Sink,
)
from jobclaw.spi.clock import Clock
from jobclaw.spi.fetch import Fetched, Fetcher, FetchError
from jobclaw.spi.gate import IdentityGate
from jobclaw.spi.hooks import ChannelPlugin, Command, hookimpl
from jobclaw.spi.http import HttpChannel, HttpRoute, RawRequest, RawResponse
from jobclaw.spi.llm import LlmClient, LlmError, LlmMessage, LlmReply
from jobclaw.spi.local import AgentFailure, LocalAdapter
from jobclaw.texts import Catalogue

__all__ = [
    "Accepted",
    "Agent",
    "AgentFailure",
    "AgentIntro",
    "AgentRequest",
    "Button",
    "Buttons",
    "Capabilities",
    "Catalogue",
    "ChannelAdapter",
    "ChannelHealth",
    "ChannelPlugin",
    "Clock",
    "Command",
    "CommandInfo",
    "FetchError",
    "Fetched",
    "Fetcher",
    "File",
    "HttpChannel",
    "HttpRoute",
    "IdentityGate",
    "Image",
    "LlmClient",
    "LlmError",
    "LlmMessage",
    "LlmReply",
    "LocalAdapter",
    "Markdown",
    "Memory",
    "PastTurn",
    "Posted",
    "Profile",
    "Progress",
    "RawRequest",
    "RawResponse",
    "ReplyPart",
    "Said",
    "Say",
    "SessionView",
    "Sink",
    "Tools",
    "hookimpl",
]
