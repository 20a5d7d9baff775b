"""Session keys: which messages belong to one conversation; and which names are safe to store.

    agent:<profile>:<platform>:dm:<chat>[:<thread>]
    agent:<profile>:<platform>:<group|channel|...>:<chat>[:<thread>][:<person>]

Two people never share a direct-message key: the chat is part of it. In a group each person has a
session unless the settings say otherwise; in a thread people share one unless they say otherwise.

A session id becomes a file name (``<id>.jsonl``), a session key is shown, logged and stored. Both
may come from a chat platform or from an edited file, so both are checked wherever they enter.
"""

from __future__ import annotations

import re

from warmstart.gateway.config import GatewayConfig
from warmstart.gateway.errors import ConfigError, UnsafeNameError, show_value
from warmstart.gateway.source import Platform, SessionSource
from warmstart.store import MAX_ID_LENGTH, MAX_KEY_LENGTH, is_storable

MAX_ID_BYTES = 200
"""Leaves room for a suffix within the 255 bytes a file name may have."""
_CONTROLS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
_DRIVE_PATH = re.compile(r"[A-Za-z]:[/\\]")
_DOTS = re.compile(r"(?:^|[:/\\])\.\.(?:$|[:/\\])")
_WHATSAPP = (Platform.WHATSAPP, Platform.WHATSAPP_CLOUD)
_GROUP_DOMAINS = ("g.us", "newsletter", "broadcast")


def build_session_key(
    source: SessionSource,
    group_sessions_per_user: bool = True,  # noqa: FBT001, FBT002 - the order callers know
    thread_sessions_per_user: bool = False,  # noqa: FBT001, FBT002 - same
    profile: str | None = None,
    *,
    legacy_dm_keys: bool = False,
) -> str:
    """The key of the conversation a message belongs to: the same source gives the same key.

    Raises:
        UnsafeNameError: an id of the source could name a path.
    """
    parts = ["agent", profile or "main", source.platform.value, source.chat_type]
    if source.chat_type != "dm":
        per_user = thread_sessions_per_user if source.thread_id else group_sessions_per_user
        parts += _list_group_parts(source, per_user=per_user)
    elif not legacy_dm_keys:
        parts += _list_dm_parts(source)
    elif source.platform is Platform.WHATSAPP:
        parts.append(source.chat_id)
    return check_session_key(":".join(filter(None, parts)))


def build_key_for(config: GatewayConfig, source: SessionSource) -> str:
    """The key of a source under these settings."""
    return build_session_key(
        source,
        group_sessions_per_user=config.group_sessions_per_user,
        thread_sessions_per_user=config.thread_sessions_per_user,
        legacy_dm_keys=config.legacy_dm_keys,
    )


def is_shared_session(config: GatewayConfig, source: SessionSource) -> bool:
    """Whether several people talk in the session this source belongs to."""
    if source.chat_type == "dm":
        return False
    if source.thread_id:
        return not config.thread_sessions_per_user
    return not config.group_sessions_per_user


def canonical_id(platform: Platform, identifier: str) -> str:
    """The one spelling of a person's or a chat's id.

    WhatsApp writes the same number as "+49…", "49…@s.whatsapp.net" and "49…:7@s.whatsapp.net"
    (a device); groups keep their domain, for it is what tells them from a person.
    """
    if platform not in _WHATSAPP:
        return identifier
    name, _, domain = identifier.strip().partition("@")
    if domain in _GROUP_DOMAINS:
        return identifier.strip()
    return name.removeprefix("+").partition(":")[0] or identifier


def _list_dm_parts(source: SessionSource) -> list[str]:
    person = source.user_id_alt or source.user_id or ""
    chat = source.chat_id or person
    return [canonical_id(source.platform, chat) if chat else "", source.thread_id or ""]


def _list_group_parts(source: SessionSource, *, per_user: bool) -> list[str]:
    person = (source.user_id_alt or source.user_id or "") if per_user else ""
    return [
        canonical_id(source.platform, source.chat_id) if source.chat_id else "",
        source.thread_id or "",
        canonical_id(source.platform, person) if person else "",
    ]


def check_session_id(session_id: object) -> str:
    """The id itself, if it can be a file name in any folder on any system.

    Raises:
        UnsafeNameError: it is empty, too long, or could name something else.
    """
    if not isinstance(session_id, str) or not session_id:
        raise _refuse("session id", session_id, "is not a name")
    if _has_controls(session_id):
        raise _refuse("session id", session_id, "has control characters")
    if len(session_id.encode()) > MAX_ID_BYTES:
        raise _refuse("session id", session_id, f"is longer than {MAX_ID_BYTES} bytes")
    if "/" in session_id or "\\" in session_id or ".." in session_id or session_id == ".":
        raise _refuse("session id", session_id, "would leave its folder")
    if _DRIVE.match(session_id):
        raise _refuse("session id", session_id, "names a drive")
    return session_id


def check_session_key(session_key: object) -> str:
    """The key itself; a slash inside is fine (some chat ids have one), a path is not.

    Raises:
        UnsafeNameError: it is empty, too long, absolute, or climbs out of a folder.
    """
    if not isinstance(session_key, str) or not session_key:
        raise _refuse("session key", session_key, "is not a name")
    if _has_controls(session_key):
        raise _refuse("session key", session_key, "has control characters")
    if len(session_key) > MAX_KEY_LENGTH:
        raise _refuse("session key", session_key, f"is longer than {MAX_KEY_LENGTH} characters")
    if session_key[0] in "/\\" or _climbs(session_key) or _DRIVE_PATH.match(session_key):
        raise _refuse("session key", session_key, "would leave its folder")
    return session_key


def check_scope(scope: str) -> str:
    """The scope itself, if both databases can store and index it.

    Raises:
        ConfigError: it is empty, too long, or not text that can be stored.
    """
    if not 0 < len(scope) <= MAX_ID_LENGTH or not is_storable(scope):
        raise ConfigError("scope", scope, f"1 to {MAX_ID_LENGTH} characters")
    return scope


def _has_controls(name: str) -> bool:
    # Printable text has none; asking for that first is ten times as fast as the search.
    return not name.isprintable() and _CONTROLS.search(name) is not None


def _climbs(session_key: str) -> bool:
    return ".." in session_key and _DOTS.search(session_key) is not None


def _refuse(noun: str, value: object, why: str) -> UnsafeNameError:
    return UnsafeNameError(f"{noun} {show_value(value)} {why}", value=value)
