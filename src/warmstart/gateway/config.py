"""The gateway's settings as objects: platforms, home channels, reset policies.

Objects are plain and may be changed by their owner before a store is made from them. What a file
says is checked in ``from_dict``; ``to_dict`` gives back everything, also settings and platforms of
other versions. Secrets never show in a ``repr``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from warmstart.gateway.errors import ConfigError
from warmstart.gateway.platforms import Platform, find_platform
from warmstart.gateway.policy import SessionResetPolicy
from warmstart.gateway.section import Section
from warmstart.home import find_home

TRANSCRIPTS = ("jsonl+db", "db")
DM_BEHAVIORS = ("pair", "ignore")
RESET_TRIGGERS = ("/new", "/reset")
_Setting = TypeVar("_Setting")

_SETTINGS_INSTEAD_OF_TOKEN: dict[Platform, tuple[str, ...]] = {
    Platform.WHATSAPP: (),
    Platform.API_SERVER: (),
    Platform.WEBHOOK: (),
    Platform.MSGRAPH_WEBHOOK: (),
    Platform.RELAY: (),
    Platform.SIGNAL: ("http_url",),
    Platform.EMAIL: ("address",),
    Platform.SMS: ("account_sid",),
    Platform.FEISHU: ("app_id",),
    Platform.WECOM: ("bot_id",),
    Platform.WECOM_CALLBACK: ("corp_id",),
    Platform.WEIXIN: ("account_id",),
    Platform.DINGTALK: ("client_id", "client_secret"),
    Platform.BLUEBUBBLES: ("server_url", "password"),
    Platform.QQBOT: ("app_id",),
    Platform.YUANBAO: ("app_id",),
}
"""Platforms that need no token: what must stand in ``extra`` for them to be reachable."""


def find_sessions_dir(home: Path | None = None) -> Path:
    """Where a gateway keeps its sessions unless its settings say otherwise."""
    return (home or find_home()) / "gateway"


@dataclass(slots=True)
class HomeChannel:
    """Where a platform's messages go when no chat is named."""

    platform: Platform
    chat_id: str
    name: str = "Home"
    thread_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        data = {"platform": self.platform.value, "chat_id": self.chat_id, "name": self.name}
        return data | ({"thread_id": self.thread_id} if self.thread_id else {})

    @classmethod
    def from_dict(cls, data: Any, where: str = "home_channel") -> HomeChannel:
        """A home channel from a table of settings."""
        section = Section.of(data, where)
        chat_id = section.text("chat_id")
        if not chat_id:
            raise ConfigError(section.name("chat_id"), chat_id, "the id of a chat")
        return cls(
            platform=Platform(section.data.get("platform", "")),
            chat_id=chat_id,
            name=section.text("name") or "Home",
            thread_id=section.text("thread_id"),
        )


@dataclass(slots=True)
class PlatformConfig:
    """How one platform is reached."""

    enabled: bool = False
    token: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    home_channel: HomeChannel | None = None
    reply_to_mode: str = "first"
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    """Settings that only the platform's own adapter understands."""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON; what is not set is left out."""
        data: dict[str, Any] = {
            "enabled": self.enabled,
            "extra": dict(self.extra),
            "reply_to_mode": self.reply_to_mode,
        }
        if self.token:
            data["token"] = self.token
        if self.api_key:
            data["api_key"] = self.api_key
        if self.home_channel:
            data["home_channel"] = self.home_channel.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: Any, where: str = "platform") -> PlatformConfig:
        """A platform's settings; keys of its own may stand in ``extra`` or beside the others."""
        section = Section.of(data, where)
        known = ("enabled", "token", "api_key", "home_channel", "reply_to_mode", "extra")
        home = section.data.get("home_channel")
        return cls(
            enabled=section.flag("enabled", default=False),
            token=section.text("token"),
            api_key=section.text("api_key"),
            home_channel=HomeChannel.from_dict(home, section.name("home_channel"))
            if home
            else None,
            reply_to_mode=section.text("reply_to_mode") or "first",
            extra=section.others(known) | dict(section.table("extra").data),
        )

    def is_connected(self, platform: Platform) -> bool:
        """Whether this is enough to talk to the platform."""
        if not self.enabled:
            return False
        if self.token or self.api_key:
            return True
        needed = _SETTINGS_INSTEAD_OF_TOKEN.get(platform)
        return needed is not None and all(self.extra.get(name) for name in needed)


@dataclass(slots=True)
class GatewayConfig:
    """Everything a gateway is told before it starts."""

    platforms: dict[Platform, PlatformConfig] = field(default_factory=dict)
    default_reset_policy: SessionResetPolicy = field(default_factory=SessionResetPolicy)
    reset_by_type: dict[str, SessionResetPolicy] = field(default_factory=dict)
    reset_by_platform: dict[Platform, SessionResetPolicy] = field(default_factory=dict)
    reset_triggers: list[str] = field(default_factory=lambda: list(RESET_TRIGGERS))
    quick_commands: dict[str, Any] = field(default_factory=dict)
    sessions_dir: Path = field(default_factory=find_sessions_dir)
    database: str | None = field(default=None, repr=False)
    """A path or a postgresql:// URL; None is ``state.db`` in ``sessions_dir``."""
    scope: str = "main"
    """Which gateway's keys these are, where several share one database."""
    transcripts: str = "jsonl+db"
    write_sessions_json: bool = False
    """Keep ``sessions.json`` as a mirror of the index; costs a whole write for each change."""
    always_log_local: bool = True
    stt_enabled: bool = True
    group_sessions_per_user: bool = True
    thread_sessions_per_user: bool = False
    legacy_dm_keys: bool = False
    """One session for all direct messages of a platform, as before keys held the chat."""
    unauthorized_dm_behavior: str = "pair"
    unknown_platforms: dict[str, Any] = field(default_factory=dict, repr=False)
    """Platforms this version does not know: not used, not lost."""
    unknown_policies: dict[str, Any] = field(default_factory=dict, repr=False)
    """Reset policies of such platforms."""
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    """Settings this version does not know: not used, not lost."""

    def get_reset_policy(
        self, platform: Platform | None = None, session_type: str | None = None
    ) -> SessionResetPolicy:
        """The policy for a session: its platform's, else its type's, else the default."""
        if platform is not None and platform in self.reset_by_platform:
            return self.reset_by_platform[platform]
        if session_type is not None and session_type in self.reset_by_type:
            return self.reset_by_type[session_type]
        return self.default_reset_policy

    def get_connected_platforms(self) -> list[Platform]:
        """The platforms that are enabled and have what they need."""
        return [name for name, config in self.platforms.items() if config.is_connected(name)]

    def get_home_channel(self, platform: Platform) -> HomeChannel | None:
        """Where a platform's messages go when no chat is named."""
        config = self.platforms.get(platform)
        return config.home_channel if config else None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, secrets included: this is what a configuration file holds."""
        data = dict(self.extra)
        data |= {name: getattr(self, name) for name in _PLAIN_SETTINGS}
        data["platforms"] = self.unknown_platforms | {
            platform.value: config.to_dict() for platform, config in self.platforms.items()
        }
        data["default_reset_policy"] = self.default_reset_policy.to_dict()
        data["reset_by_type"] = {name: p.to_dict() for name, p in self.reset_by_type.items()}
        data["reset_by_platform"] = self.unknown_policies | {
            platform.value: policy.to_dict() for platform, policy in self.reset_by_platform.items()
        }
        data["reset_triggers"] = list(self.reset_triggers)
        data["quick_commands"] = dict(self.quick_commands)
        data["sessions_dir"] = str(self.sessions_dir)
        return data

    @classmethod
    def from_dict(cls, data: Any) -> GatewayConfig:
        """A configuration from a table of settings.

        Raises:
            ConfigError: a value cannot be right; the error names the key and the value.
        """
        section = Section.of(data)
        platforms, unknown = _split(section.table("platforms"), PlatformConfig.from_dict)
        by_platform, other_policies = _split(
            section.table("reset_by_platform"), SessionResetPolicy.from_dict
        )
        sessions_dir = section.text("sessions_dir")
        return cls(
            platforms=platforms,
            unknown_platforms=unknown,
            default_reset_policy=SessionResetPolicy.from_dict(
                section.table("default_reset_policy").data, "default_reset_policy"
            ),
            reset_by_type=_read_policies(section.table("reset_by_type")),
            reset_by_platform=by_platform,
            unknown_policies=other_policies,
            reset_triggers=section.texts("reset_triggers", RESET_TRIGGERS),
            quick_commands=dict(section.table("quick_commands").data),
            sessions_dir=Path(sessions_dir).expanduser() if sessions_dir else find_sessions_dir(),
            extra=section.others(cls.__dataclass_fields__),
            **_read_plain(section),
        )


_FLAGS = {
    "write_sessions_json": False, "always_log_local": True, "stt_enabled": True,
    "group_sessions_per_user": True, "thread_sessions_per_user": False, "legacy_dm_keys": False,
}  # fmt: skip
_PLAIN_SETTINGS = (*_FLAGS, "database", "scope", "transcripts", "unauthorized_dm_behavior")


def _read_plain(section: Section) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: section.flag(name, default=default) for name, default in _FLAGS.items()
    }
    values["database"] = section.text("database")
    values["scope"] = section.text("scope") or "main"
    values["transcripts"] = section.choice("transcripts", TRANSCRIPTS, "jsonl+db")
    values["unauthorized_dm_behavior"] = section.choice(
        "unauthorized_dm_behavior", DM_BEHAVIORS, "pair"
    )
    return values


def _read_policies(section: Section) -> dict[str, SessionResetPolicy]:
    return {
        name: SessionResetPolicy.from_dict(inner.data, inner.where)
        for name, inner in section.tables()
    }


def _split(
    section: Section, read: Callable[[Any, str], _Setting]
) -> tuple[dict[Platform, _Setting], dict[str, Any]]:
    """Settings by platform, and aside, as they are, those of platforms unknown here."""
    known: dict[Platform, _Setting] = {}
    unknown: dict[str, Any] = {}
    for name, inner in section.tables():
        platform = find_platform(name)
        if platform is None:
            unknown[name] = dict(inner.data)
        else:
            known[platform] = read(inner.data, inner.where)
    return known, unknown
