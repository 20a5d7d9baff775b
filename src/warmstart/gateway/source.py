"""Where a message came from: platform, chat, thread and person.

The names of platforms are stored in keys, so a member is never renamed. A name that this version
does not know is refused where it is used (``Platform("pager")``) and kept aside where it is only
read (``find_platform``): a newer gateway's file must not stop an older one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from warmstart.gateway.errors import ConfigError, RecordError, show_value

_TEXTS = ("chat_name", "user_id", "user_name", "thread_id", "chat_topic")
_RARE_TEXTS = ("user_id_alt", "chat_id_alt", "guild_id", "parent_chat_id", "message_id")
"""Stored only where they are known."""
_ALL_TEXTS = (*_TEXTS, *_RARE_TEXTS)


class Platform(StrEnum):
    """Where a conversation takes place."""

    LOCAL = "local"
    TELEGRAM = "telegram"
    DISCORD = "discord"
    WHATSAPP = "whatsapp"
    WHATSAPP_CLOUD = "whatsapp_cloud"
    SLACK = "slack"
    SIGNAL = "signal"
    MATTERMOST = "mattermost"
    MATRIX = "matrix"
    HOMEASSISTANT = "homeassistant"
    EMAIL = "email"
    SMS = "sms"
    DINGTALK = "dingtalk"
    API_SERVER = "api_server"
    WEBHOOK = "webhook"
    MSGRAPH_WEBHOOK = "msgraph_webhook"
    FEISHU = "feishu"
    WECOM = "wecom"
    WECOM_CALLBACK = "wecom_callback"
    WEIXIN = "weixin"
    BLUEBUBBLES = "bluebubbles"
    QQBOT = "qqbot"
    YUANBAO = "yuanbao"
    RELAY = "relay"

    @classmethod
    def _missing_(cls, value: object) -> Platform:
        known = {member.value: member for member in cls}
        found = known.get(value.strip().lower()) if isinstance(value, str) else None
        if found is None:
            raise ConfigError("platform", value, "one of " + ", ".join(known))
        return found


def find_platform(name: Any) -> Platform | None:
    """The platform of that name, or None for one this version does not know."""
    try:
        return Platform(name)
    except ConfigError:
        return None


@dataclass(slots=True)
class SessionSource:
    """The origin of a message; enough to answer it and to find its session again."""

    platform: Platform
    chat_id: str
    chat_name: str | None = None
    chat_type: str = "dm"
    """"dm", "group", "channel" or "thread"."""
    user_id: str | None = None
    user_name: str | None = None
    thread_id: str | None = None
    """A forum topic or thread inside the chat."""
    chat_topic: str | None = None
    """What the chat says it is about; written by its members."""
    user_id_alt: str | None = None
    """A second, stabler id of the person (Signal's UUID beside a phone number)."""
    chat_id_alt: str | None = None
    is_bot: bool = False
    guild_id: str | None = None
    parent_chat_id: str | None = None
    message_id: str | None = None

    @property
    def description(self) -> str:
        """The source in a few words, for people."""
        if self.platform is Platform.LOCAL:
            return "CLI terminal"
        if self.chat_type == "dm":
            place = f"DM with {self.user_name or self.user_id or 'user'}"
        elif self.chat_type in ("group", "channel"):
            place = f"{self.chat_type}: {self.chat_name or self.chat_id}"
        else:
            place = self.chat_name or self.chat_id
        return f"{place}, thread: {self.thread_id}" if self.thread_id else place

    def to_dict(self) -> dict[str, Any]:
        """The source as plain JSON."""
        data: dict[str, Any] = {
            "platform": self.platform.value,
            "chat_id": self.chat_id,
            "chat_type": self.chat_type,
        }
        data |= {name: getattr(self, name) for name in _TEXTS}
        data |= {name: getattr(self, name) for name in _RARE_TEXTS if getattr(self, name)}
        return data | ({"is_bot": True} if self.is_bot else {})

    @classmethod
    def from_dict(cls, data: Any) -> SessionSource:
        """A source as it was stored.

        Raises:
            ValueError: it names no chat, or a platform this version does not know.
        """
        if not isinstance(data, Mapping) or "platform" not in data or data.get("chat_id") is None:
            raise RecordError(f"{show_value(data)} names no platform and chat", value=data)
        return cls(
            platform=Platform(data["platform"]),
            chat_id=str(data["chat_id"]),
            chat_type=_as_text(data.get("chat_type")) or "dm",
            is_bot=data.get("is_bot") is True,
            **{name: _as_text(data[name]) for name in _ALL_TEXTS if name in data},
        )

    @classmethod
    def local_cli(cls) -> SessionSource:
        """The terminal on this machine."""
        return cls(platform=Platform.LOCAL, chat_id="cli", chat_name="CLI terminal", chat_type="dm")


def _as_text(value: Any) -> str | None:
    """The text, also from a number, as some platforms send ids; None for anything else."""
    if isinstance(value, str):
        return value
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else None
