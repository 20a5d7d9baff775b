"""Which messages belong to one conversation.

    agent:<profile>:<platform>:dm:<chat>[:<thread>]
    agent:<profile>:<platform>:<group|channel|...>:<chat>[:<thread>][:<person>]

Two people never share a direct-message key: the chat is part of it. In a group each person has a
session unless told otherwise; in a thread people share one unless told otherwise.
"""

from __future__ import annotations

from warmstart.gateway.config import GatewayConfig
from warmstart.gateway.names import check_session_key
from warmstart.gateway.platforms import Platform
from warmstart.gateway.source import SessionSource

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
    """The key as the settings want it."""
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
    """One spelling for one person or chat.

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
