"""The gateway's settings from a file and the environment: defaults < file < environment.

The file is the one named, else ``gateway.toml`` (or .json, .yaml, .yml) in warmstart's home: the
folder of ``WARMSTART_HOME``, else the platform's own (``warmstart.home``). It is TOML, JSON or YAML
by its suffix; the settings stand at its top or under ``gateway``.
Platform credentials are read under the names the platforms' own guides use, everything else under
``WARMSTART_GATEWAY_*``.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from warmstart.errors import NotFoundError
from warmstart.gateway.config import GatewayConfig, find_sessions_dir
from warmstart.gateway.errors import ConfigError
from warmstart.gateway.section import Section
from warmstart.home import find_home

CONFIG_NAMES = ("gateway.toml", "gateway.json", "gateway.yaml", "gateway.yml")

TOKENS = {
    "TELEGRAM_BOT_TOKEN": "telegram", "DISCORD_BOT_TOKEN": "discord",
    "SLACK_BOT_TOKEN": "slack", "HASS_TOKEN": "homeassistant",
    "MATTERMOST_TOKEN": "mattermost", "MATRIX_ACCESS_TOKEN": "matrix",
}  # fmt: skip
"""Variables that hold a platform's token, and switch the platform on."""

EXTRAS = {
    "SIGNAL_HTTP_URL": ("signal", "http_url"), "SIGNAL_ACCOUNT": ("signal", "account"),
    "HASS_URL": ("homeassistant", "url"), "MATTERMOST_URL": ("mattermost", "url"),
    "MATRIX_HOMESERVER": ("matrix", "homeserver"), "EMAIL_ADDRESS": ("email", "address"),
    "TWILIO_ACCOUNT_SID": ("sms", "account_sid"),
}  # fmt: skip
"""Variables that hold one of a platform's own settings, and switch the platform on."""

SWITCHES = {
    "WHATSAPP_ENABLED": "whatsapp",
    "API_SERVER_ENABLED": "api_server",
    "WEBHOOK_ENABLED": "webhook",
}

HOME_CHANNELS = {
    "TELEGRAM": "telegram", "DISCORD": "discord", "SLACK": "slack", "SIGNAL": "signal",
    "WHATSAPP": "whatsapp", "MATTERMOST": "mattermost",
}  # fmt: skip
"""``<NAME>_HOME_CHANNEL`` and ``<NAME>_HOME_CHANNEL_NAME``."""

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


def load_gateway_config(
    path: Path | str | None = None, environ: Mapping[str, str] | None = None
) -> GatewayConfig:
    """The settings in force: a file, if one is named or found in the home, then the environment.

    Raises:
        ConfigError: the file or a variable holds a value that cannot be right.
        NotFoundError: the file named is not there.
    """
    environ = os.environ if environ is None else environ
    home = find_home(environ)
    file = Path(path) if path is not None else _find_file(home)
    data = read_settings(file) if file is not None else {}
    data.setdefault("sessions_dir", str(find_sessions_dir(home)))
    return GatewayConfig.from_dict(apply_environment(data, environ))


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
    section = Section.of({} if value is None else value, str(path))
    inner = section.data.get("gateway")
    return dict(Section.of(inner, "gateway").data if inner is not None else section.data)


def apply_environment(data: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """Settings with what the environment says laid over them; empty variables say nothing."""
    said = {name: value.strip() for name, value in environ.items() if value.strip()}
    result: dict[str, Any] = _copy(data)
    platforms: dict[str, Any] = _child(result, "platforms")
    for name in said.keys() & TOKENS.keys():
        _child(platforms, TOKENS[name]).update(enabled=True, token=said[name])
    for name in said.keys() & EXTRAS.keys():
        platform, key = EXTRAS[name]
        settings = _child(platforms, platform)
        settings["enabled"] = True
        _child(settings, "extra")[key] = said[name]
    for name in said.keys() & SWITCHES.keys():
        _child(platforms, SWITCHES[name])["enabled"] = said[name]
    _apply_home_channels(platforms, said)
    for name in said.keys() & POLICY.keys():
        _child(result, "default_reset_policy")[POLICY[name]] = said[name]
    return result | _read_settings(said)


def _read_settings(said: Mapping[str, str]) -> dict[str, str]:
    """Settings under our own prefix, where a name that says nothing can only be a slip."""
    names = {PREFIX + setting.upper(): setting for setting in SETTINGS}
    for name in sorted(name for name in said if name.startswith(PREFIX)):
        if name not in names and name not in POLICY:
            raise ConfigError(name, said[name], "left out: there is no such setting")
    return {names[name]: said[name] for name in said.keys() & names.keys()}


def _apply_home_channels(platforms: dict[str, Any], said: Mapping[str, str]) -> None:
    for prefix, platform in HOME_CHANNELS.items():
        chat_id = said.get(f"{prefix}_HOME_CHANNEL")
        if chat_id:
            _child(platforms, platform)["home_channel"] = {
                "platform": platform,
                "chat_id": chat_id,
                "name": said.get(f"{prefix}_HOME_CHANNEL_NAME", "Home"),
            }


def _find_file(home: Path) -> Path | None:
    candidates = (home / name for name in CONFIG_NAMES)
    return next((path for path in candidates if path.is_file()), None)


def _copy(value: Any) -> Any:
    """Tables copied all the way down, so that laying over never changes the caller's."""
    if isinstance(value, Mapping):
        return {str(key): _copy(inner) for key, inner in value.items()}
    return value


def _child(table: dict[str, Any], key: str) -> dict[str, Any]:
    """The table under a key, made if there is none; what is no table is an error later."""
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
