"""The section `channels`: the seven of ours, and those that plugins bring."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Self, cast

from pydantic import ConfigDict, Field, model_serializer, model_validator

from jobclaw.errors import ConfigError
from jobclaw.settings.accounts import DEFAULT_ACCOUNT, Several
from jobclaw.settings.fields import Section, Switch, complain
from jobclaw.settings.masking import masked_by_name
from jobclaw.settings.platforms import (
    ConsoleChannel,
    DingtalkChannel,
    FeishuChannel,
    SlackChannel,
    TelegramChannel,
    WebChannel,
    WechatChannel,
)
from jobclaw.settings.secrets import reveal


class PluginChannel(Section):
    """A channel that a plugin brings; its other keys are the plugin's business."""

    model_config = ConfigDict(extra="allow")

    enabled: Switch = False
    """Whether the channel runs."""

    @model_serializer(mode="plain")
    def _masked(self) -> dict[str, object]:
        return cast("dict[str, object]", masked_by_name(dict(self)))


class ChannelSettings(Section):
    """Where people write. A name that is not listed here must be that of a plugin's channel."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PluginChannel] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    console: ConsoleChannel = Field(default_factory=ConsoleChannel)
    """The terminal."""

    web: WebChannel = Field(default_factory=WebChannel)
    """The chat page."""

    telegram: TelegramChannel = Field(default_factory=TelegramChannel)
    """Telegram bots."""

    slack: SlackChannel = Field(default_factory=SlackChannel)
    """Slack apps."""

    feishu: FeishuChannel = Field(default_factory=FeishuChannel)
    """Feishu and Lark apps."""

    dingtalk: DingtalkChannel = Field(default_factory=DingtalkChannel)
    """DingTalk robots."""

    wechat: WechatChannel = Field(default_factory=WechatChannel)
    """WeChat accounts."""

    def enabled(self) -> dict[str, dict[str, Section]]:
        """The enabled channels by name, each with its accounts by name."""
        found: dict[str, dict[str, Section]] = {}
        for name, channel in self:
            if isinstance(channel, Several):
                if channel.enabled:
                    found[name] = {**channel.by_account()}
            elif getattr(channel, "enabled", False):
                found[name] = {DEFAULT_ACCOUNT: channel}
        return found

    @model_validator(mode="after")
    def _is_no_slip(self) -> Self:
        complain(
            [
                ((name,), ConfigError("config.unknown-key", near=f"channels.{near[0]}"))
                for name in self.__pydantic_extra__
                if (near := difflib.get_close_matches(name, type(self).model_fields, 1))
            ]
        )
        return self


def for_adapter(account: Section) -> Mapping[str, object]:
    """The settings of one account as its adapter gets them: plain values, secrets as text."""
    return {name: reveal(value) for name, value in account}
