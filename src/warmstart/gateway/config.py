"""The gateway's settings, from a file and the environment: platforms, home channels, policies.

Objects are plain and may be changed by their owner before a store is made from them. What a file
says is checked in ``from_dict``; ``to_dict`` gives back everything, also settings and platforms of
other versions. Secrets never show in a ``repr``.

Defaults < file < environment. The file is the one named, else ``gateway.toml`` (or .json, .yaml,
.yml) in warmstart's home. It is TOML, JSON or YAML by its suffix; the settings are at its top or
under ``gateway``. Platform credentials are read under the names the platforms' own guides use,
everything else under ``WARMSTART_GATEWAY_*``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from warmstart.errors import NotFoundError
from warmstart.gateway.errors import ConfigError
from warmstart.gateway.policy import SessionResetPolicy
from warmstart.gateway.settings import ASIDE, check_table, check_value, join_key, read_table
from warmstart.gateway.source import Platform, find_platform
from warmstart.home import find_home

CONFIG_NAMES = ("gateway.toml", "gateway.json", "gateway.yaml", "gateway.yml")
TOKENS = {
    "TELEGRAM_BOT_TOKEN": "telegram", "DISCORD_BOT_TOKEN": "discord",
    "SLACK_BOT_TOKEN": "slack", "HASS_TOKEN": "homeassistant",
    "MATTERMOST_TOKEN": "mattermost", "MATRIX_ACCESS_TOKEN": "matrix",
}  # fmt: skip
"""Variables that hold a platform's token, and enable the platform."""
EXTRAS = {
    "signal": {"SIGNAL_HTTP_URL": "http_url", "SIGNAL_ACCOUNT": "account"},
    "homeassistant": {"HASS_URL": "url"},
    "mattermost": {"MATTERMOST_URL": "url"},
    "matrix": {"MATRIX_HOMESERVER": "homeserver"},
    "email": {"EMAIL_ADDRESS": "address"},
    "sms": {"TWILIO_ACCOUNT_SID": "account_sid"},
}
"""Variables that hold a platform's own settings; all of a platform's together enable it."""
SWITCHES = {
    "WHATSAPP_ENABLED": "whatsapp",
    "API_SERVER_ENABLED": "api_server",
    "WEBHOOK_ENABLED": "webhook",
}
HOME_CHANNELS = {
    "TELEGRAM_HOME_CHANNEL": "telegram", "DISCORD_HOME_CHANNEL": "discord",
    "SLACK_HOME_CHANNEL": "slack", "SIGNAL_HOME_CHANNEL": "signal",
    "WHATSAPP_HOME_CHANNEL": "whatsapp", "MATTERMOST_HOME_CHANNEL": "mattermost",
    "MATRIX_HOME_ROOM": "matrix", "EMAIL_HOME_ADDRESS": "email", "SMS_HOME_CHANNEL": "sms",
}  # fmt: skip
"""Variables that hold a platform's home channel; its name is in ``<VARIABLE>_NAME``."""
POLICY = {
    "WARMSTART_GATEWAY_RESET_MODE": "mode",
    "SESSION_RESET_HOUR": "at_hour",
    "SESSION_IDLE_MINUTES": "idle_minutes",
    "WARMSTART_GATEWAY_TIMEZONE": "timezone",
}
PREFIX = "WARMSTART_GATEWAY_"
SETTINGS = (
    "sessions_dir", "database", "scope", "transcripts", "write_sessions_json",
    "group_sessions_per_user", "thread_sessions_per_user", "legacy_dm_keys",
)  # fmt: skip
"""Plain settings: the names of their variables are the prefix and their own."""

_NEEDED_WITHOUT_TOKEN: dict[Platform, tuple[str, ...]] = {
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
"""Platforms that need no token, and what their ``extra`` must hold instead."""


def find_sessions_dir(home: Path | None = None) -> Path:
    """The folder where a gateway keeps its sessions by default."""
    return (home or find_home()) / "gateway"


@dataclass(slots=True)
class HomeChannel:
    """Where a platform's messages go when no chat is named."""

    platform: Platform
    chat_id: str
    name: str = "Home"
    thread_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The channel as plain JSON."""
        data = {"platform": self.platform.value, "chat_id": self.chat_id, "name": self.name}
        return data | ({"thread_id": self.thread_id} if self.thread_id else {})

    @classmethod
    def from_dict(cls, data: Any, where: str = "home_channel") -> HomeChannel:
        """The home channel of a table of settings.

        Raises:
            ConfigError: a value is wrong or missing.
        """
        known = {name: value for name, value in check_table(data, where).items()
                 if name in cls.__dataclass_fields__ and value != ""}  # fmt: skip
        return read_table(cls, known, where)


@dataclass(slots=True)
class PlatformConfig:
    """How one platform is reached."""

    enabled: bool = False
    token: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    home_channel: HomeChannel | None = None
    extra: dict[str, Any] = field(default_factory=dict, repr=False)
    """Settings that only the platform's own adapter understands."""

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON; what is not set is left out."""
        data: dict[str, Any] = {"enabled": self.enabled, "extra": dict(self.extra)}
        if self.token:
            data["token"] = self.token
        if self.api_key:
            data["api_key"] = self.api_key
        if self.home_channel:
            data["home_channel"] = self.home_channel.to_dict()
        return data

    @classmethod
    def from_dict(cls, data: Any, where: str = "platform") -> PlatformConfig:
        """A platform's settings; keys of its own may be in ``extra`` or beside the others.

        Raises:
            ConfigError: a value is wrong.
        """
        return read_table(cls, data, where, home_channel=_read_home, extra=check_table)

    def is_connected(self, platform: Platform) -> bool:
        """Whether this is enough to talk to the platform."""
        if not self.enabled:
            return False
        if self.token or self.api_key:
            return True
        needed = _NEEDED_WITHOUT_TOKEN.get(platform)
        return needed is not None and all(self.extra.get(name) for name in needed)


@dataclass(slots=True)
class GatewayConfig:
    """All settings of a gateway."""

    platforms: dict[Platform, PlatformConfig] = field(default_factory=dict)
    default_reset_policy: SessionResetPolicy = field(default_factory=SessionResetPolicy)
    reset_by_type: dict[str, SessionResetPolicy] = field(default_factory=dict)
    reset_by_platform: dict[Platform, SessionResetPolicy] = field(default_factory=dict)
    sessions_dir: Path = field(default_factory=find_sessions_dir)
    database: str | None = field(default=None, repr=False)
    """A path or a postgresql:// URL; None is ``state.db`` in ``sessions_dir``."""
    scope: str = "main"
    """Which gateway's keys these are, where several share one database."""
    transcripts: Literal["jsonl+db", "db"] = "jsonl+db"
    write_sessions_json: bool = False
    """Keep ``sessions.json`` as a mirror of the index; costs a whole write for each change."""
    group_sessions_per_user: bool = True
    thread_sessions_per_user: bool = False
    legacy_dm_keys: bool = False
    """One session for all direct messages of a platform, as before keys held the chat."""
    unknown_platforms: dict[str, Any] = field(default_factory=dict, repr=False, metadata=ASIDE)
    """Platforms this version does not know: not used, not lost."""
    unknown_policies: dict[str, Any] = field(default_factory=dict, repr=False, metadata=ASIDE)
    """Reset policies of such platforms."""
    extra: dict[str, Any] = field(default_factory=dict, repr=False, metadata=ASIDE)
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
        """Where a platform's messages go when no chat is named, or None."""
        config = self.platforms.get(platform)
        return config.home_channel if config else None

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON, secrets included: the contents of a configuration file."""
        data = dict(self.extra)
        data |= {name: getattr(self, name) for name in SETTINGS}
        data["sessions_dir"] = str(self.sessions_dir)
        data["platforms"] = self.unknown_platforms | {
            platform.value: config.to_dict() for platform, config in self.platforms.items()
        }
        data["default_reset_policy"] = self.default_reset_policy.to_dict()
        data["reset_by_type"] = {name: p.to_dict() for name, p in self.reset_by_type.items()}
        data["reset_by_platform"] = self.unknown_policies | {
            platform.value: policy.to_dict() for platform, policy in self.reset_by_platform.items()
        }
        return data

    @classmethod
    def from_dict(cls, data: Any) -> GatewayConfig:
        """The configuration of a table of settings.

        Raises:
            ConfigError: a value is wrong; the error names the key and the value.
        """
        platforms, policies = _ByPlatform(PlatformConfig.from_dict), _ByPlatform(_read_policy)
        config = read_table(
            cls,
            data,
            platforms=platforms.read,
            default_reset_policy=_read_policy,
            reset_by_type=_read_policies,
            reset_by_platform=policies.read,
            sessions_dir=_read_folder,
        )
        config.unknown_platforms, config.unknown_policies = platforms.unknown, policies.unknown
        return config


class _ByPlatform:
    """Reads tables by platform; ``unknown`` has, unchanged, those of platforms unknown here."""

    def __init__(self, read_one: Callable[[Any, str], Any]) -> None:
        self._read_one = read_one
        self.unknown: dict[str, Any] = {}

    def read(self, value: Any, key: str) -> dict[Platform, Any]:
        known: dict[Platform, Any] = {}
        for name, inner in _list_tables(value, key):
            platform = find_platform(name)
            if platform is None:
                self.unknown[name] = inner
            else:
                known[platform] = self._read_one(inner, join_key(key, name))
        return known


def _list_tables(value: Any, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, inner in check_table(value, key).items():
        yield name, check_table({} if inner is None else inner, join_key(key, name))


def _read_policy(value: Any, key: str) -> SessionResetPolicy:
    return SessionResetPolicy.from_dict(value, key)


def _read_home(value: Any, key: str) -> HomeChannel | None:
    return HomeChannel.from_dict(value, key) if value else None


def _read_folder(value: Any, key: str) -> Path:
    text = check_value(str, value, key)
    return Path(text).expanduser() if text else find_sessions_dir()


def _read_policies(value: Any, key: str) -> dict[str, SessionResetPolicy]:
    tables = _list_tables(value, key)
    return {name: _read_policy(inner, join_key(key, name)) for name, inner in tables}


def load_gateway_config(
    path: Path | str | None = None, environ: Mapping[str, str] | None = None
) -> GatewayConfig:
    """The settings in force: a file, if one is named or found in the home, then the environment.

    Raises:
        ConfigError: the file or a variable holds a wrong value.
        NotFoundError: there is no file at ``path``.
    """
    environ = os.environ if environ is None else environ
    home = find_home(environ)
    file = Path(path) if path is not None else _find_file(home)
    data = read_settings(file) if file is not None else {}
    data.setdefault("sessions_dir", str(find_sessions_dir(home)))
    settings = apply_environment(data, environ)
    try:
        return GatewayConfig.from_dict(settings)
    except ConfigError as error:
        if file is None or error.hint:
            raise
        hint = f"it is from {file}, or from a variable"
        raise ConfigError(error.key, error.value, error.wanted, hint=hint) from None


def read_settings(path: Path) -> dict[str, Any]:
    """The gateway's table of a configuration file."""
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        raise ConfigError("configuration file", str(path), "a .toml, .json, .yaml or .yml file")
    try:
        value = parse(path.read_bytes().decode())
    except FileNotFoundError as error:
        raise NotFoundError(f"no configuration at {str(path)!r}", wanted=str(path)) from error
    except ConfigError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        wanted = f"readable {path.suffix[1:].upper()} ({error})"
        raise ConfigError("configuration file", str(path), wanted) from error
    table = check_table({} if value is None else value, str(path))
    inner = table.get("gateway")
    return table if inner is None else check_table(inner, "gateway")


def apply_environment(data: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings with those of the environment over them; empty variables are ignored."""
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    result: dict[str, Any] = _copy(data)
    platforms: dict[str, Any] = _child(result, "platforms")
    for name in given.keys() & TOKENS.keys():
        _child(platforms, TOKENS[name]).update(enabled=True, token=given[name])
    for platform, variables in EXTRAS.items():
        _apply_extras(platforms, platform, variables, given)
    for name in given.keys() & SWITCHES.keys():
        _child(platforms, SWITCHES[name])["enabled"] = given[name]
    for name in given.keys() & HOME_CHANNELS.keys():
        platform = HOME_CHANNELS[name]
        home = {"platform": platform, "chat_id": given[name]}
        home["name"] = given.get(f"{name}_NAME", "Home")
        _child(platforms, platform)["home_channel"] = home
    for name in given.keys() & POLICY.keys():
        _child(result, "default_reset_policy")[POLICY[name]] = given[name]
    return result | _read_settings(given)


def _apply_extras(
    platforms: dict[str, Any],
    platform: str,
    variables: Mapping[str, str],
    given: Mapping[str, str],
) -> None:
    """Take over a platform's own settings; it is enabled when it has all of them."""
    if not given.keys() & variables.keys():
        return
    settings = _child(platforms, platform)
    extra = _child(settings, "extra")
    extra |= {key: given[name] for name, key in variables.items() if name in given}
    if all(extra.get(key) or settings.get(key) for key in variables.values()):
        settings["enabled"] = True


def _read_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Settings under our own prefix, where an unknown name can only be a misspelling."""
    names = {PREFIX + setting.upper(): setting for setting in SETTINGS}
    for name in sorted(name for name in given if name.startswith(PREFIX)):
        if name not in names and name not in POLICY:
            raise ConfigError(name, given[name], "left out: there is no such setting")
    return {names[name]: given[name] for name in given.keys() & names.keys()}


def _find_file(home: Path) -> Path | None:
    candidates = (home / name for name in CONFIG_NAMES)
    return next((path for path in candidates if path.is_file()), None)


def _copy(value: Any) -> Any:
    """A deep copy of the tables, so that the caller's never change."""
    if isinstance(value, Mapping):
        return {str(key): _copy(inner) for key, inner in value.items()}
    return value


def _child(table: dict[str, Any], key: str) -> dict[str, Any]:
    """The table under a key, created if there is none."""
    inner = table.get(key)
    if inner is None:
        inner = table[key] = {}
    if not isinstance(inner, dict):
        raise ConfigError(key, inner, "a table")
    return inner


def _parse_yaml(text: str) -> Any:
    try:
        import yaml  # type: ignore[import-untyped,import-not-found,unused-ignore] # noqa: PLC0415
    except ModuleNotFoundError as error:
        hint = "pip install pyyaml, or write the settings as TOML or JSON"
        raise ConfigError("configuration file", "YAML", "TOML or JSON here", hint=hint) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


_PARSERS: dict[str, Callable[[str], Any]] = {
    ".toml": tomllib.loads, ".json": json.loads, ".yaml": _parse_yaml, ".yml": _parse_yaml,
}  # fmt: skip
