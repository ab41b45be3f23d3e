"""The settings of each platform: its credentials, its mode, its addresses."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from jobclaw.settings.accounts import Access, Account, Several
from jobclaw.settings.fields import NO_SECRET, Secret, Section, SocketUrl, Switch, Url


class ConsoleChannel(Section):
    """The terminal."""

    enabled: Switch = True
    """Whether the channel runs."""


class WebChannel(Account):
    """The chat page of the web server."""

    enabled: Switch = True
    """Whether the channel runs."""


class TelegramAccount(Account):
    """One Telegram bot."""

    credentials: ClassVar[frozenset[str]] = frozenset(
        {"token", "webhook_secret", "bot_username"}
    )

    access: Access = "pairing"
    """As for every channel; anybody can find a bot there, so the default lets in by code."""

    token: Secret = NO_SECRET
    """Token from @BotFather."""

    mode: Literal["polling", "webhook"] = "polling"
    """`polling` needs no public address; `webhook` needs `webhook_secret`."""

    api_base: Url = "https://api.telegram.org"
    """Address of the Bot API."""

    webhook_secret: Secret = NO_SECRET
    """Secret that Telegram sends with every webhook call, chosen by you."""

    bot_username: str = ""
    """Name of the bot; empty: asked from Telegram."""

    def needs(self) -> tuple[str, ...]:
        """The token, and the secret for webhooks."""
        return ("token", "webhook_secret") if self.mode == "webhook" else ("token",)


class SlackAccount(Account):
    """One Slack app in one workspace."""

    credentials: ClassVar[frozenset[str]] = frozenset(
        {"bot_token", "app_token", "signing_secret"}
    )

    bot_token: Secret = NO_SECRET
    """Bot token (xoxb-…)."""

    app_token: Secret = NO_SECRET
    """App-level token (xapp-…) for socket mode."""

    signing_secret: Secret = NO_SECRET
    """Secret that signs requests in http mode."""

    mode: Literal["socket", "http"] = "socket"
    """`socket` needs no public address; `http` is for webhooks."""

    api_base: Url = "https://slack.com/api/"
    """Address of the Web API."""

    def needs(self) -> tuple[str, ...]:
        """The bot token, and what the mode authenticates with."""
        return "bot_token", "app_token" if self.mode == "socket" else "signing_secret"


class FeishuAccount(Account):
    """One Feishu or Lark app."""

    credentials: ClassVar[frozenset[str]] = frozenset(
        {"app_id", "app_secret", "encrypt_key", "verification_token"}
    )

    app_id: str = ""
    """App ID (cli_…)."""

    app_secret: Secret = NO_SECRET
    """App secret."""

    mode: Literal["websocket", "webhook"] = "websocket"
    """`websocket` needs no public address; `webhook` needs `encrypt_key`."""

    domain: Url = "https://open.feishu.cn"
    """Address of the open platform; https://open.larksuite.com for Lark."""

    encrypt_key: Secret = NO_SECRET
    """Key that encrypts and signs webhook calls; without it nothing would be signed."""

    verification_token: Secret = NO_SECRET
    """Token in webhook calls of old apps."""

    def needs(self) -> tuple[str, ...]:
        """The app's id and secret, and the key for webhooks."""
        own = ("app_id", "app_secret")
        return (*own, "encrypt_key") if self.mode == "webhook" else own


class DingtalkAccount(Account):
    """One DingTalk robot, in stream mode."""

    credentials: ClassVar[frozenset[str]] = frozenset({"client_id", "client_secret"})

    client_id: str = ""
    """Client ID (AppKey)."""

    client_secret: Secret = NO_SECRET
    """Client secret (AppSecret)."""

    api_base: Url = "https://api.dingtalk.com"
    """Address of the API."""

    oapi_base: Url = "https://oapi.dingtalk.com"
    """Address of the older API (uploads)."""

    card_template_id: str = ""
    """Template of AI cards for streaming; empty: plain Markdown messages."""

    def needs(self) -> tuple[str, ...]:
        """The client's id and secret."""
        return "client_id", "client_secret"


class IlinkSettings(Section):
    """A personal account through iLink."""

    credentials: ClassVar[frozenset[str]] = frozenset({"bot_token"})

    base_url: Url = "https://ilinkai.weixin.qq.com"
    """Address of the gateway."""

    cdn_base: Url = "https://novac2c.cdn.weixin.qq.com/c2c"
    """Address of pictures and files."""

    bot_token: Secret = NO_SECRET
    """Token of a login; empty: `jobclaw wechat login` gets one."""


class WecomSettings(Section):
    """A WeCom robot over a long connection."""

    credentials: ClassVar[frozenset[str]] = frozenset({"bot_id", "secret"})

    bot_id: str = ""
    """Id of the robot."""

    secret: Secret = NO_SECRET
    """Secret of the robot."""

    ws_url: SocketUrl = "wss://openws.work.weixin.qq.com"
    """Address of the long connection."""


class MpSettings(Section):
    """An official account."""

    credentials: ClassVar[frozenset[str]] = frozenset(
        {"app_id", "app_secret", "token", "encoding_aes_key"}
    )

    app_id: str = ""
    """App id of the account."""

    app_secret: Secret = NO_SECRET
    """App secret of the account."""

    token: Secret = NO_SECRET
    """Token that signs the server's messages, chosen by you."""

    encoding_aes_key: Secret = NO_SECRET
    """Key of the safe mode (43 characters)."""

    api_base: Url = "https://api.weixin.qq.com"
    """Address of the API."""


class WechatAccount(Account):
    """One WeChat account in one of three ways."""

    access: Access = "pairing"
    """As for every channel; strangers may add an account, so the default lets in by code."""

    mode: Literal["ilink", "wecom", "mp"] = "ilink"
    """Which of the three sections below is used."""

    ilink: IlinkSettings = Field(default_factory=IlinkSettings)
    """Mode `ilink`."""

    wecom: WecomSettings = Field(default_factory=WecomSettings)
    """Mode `wecom`."""

    mp: MpSettings = Field(default_factory=MpSettings)
    """Mode `mp`."""

    def needs(self) -> tuple[str, ...]:
        """What the mode authenticates with; ilink logs in later."""
        return {
            "ilink": (),
            "wecom": ("wecom.bot_id", "wecom.secret"),
            "mp": ("mp.app_id", "mp.app_secret", "mp.token"),
        }[self.mode]


class TelegramChannel(TelegramAccount, Several[TelegramAccount]):
    """Telegram."""


class SlackChannel(SlackAccount, Several[SlackAccount]):
    """Slack."""


class FeishuChannel(FeishuAccount, Several[FeishuAccount]):
    """Feishu and Lark."""


class DingtalkChannel(DingtalkAccount, Several[DingtalkAccount]):
    """DingTalk."""


class WechatChannel(WechatAccount, Several[WechatAccount]):
    """WeChat."""
