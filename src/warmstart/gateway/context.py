"""What an agent should know about where it is talking: source, platforms, home channels."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from warmstart.gateway.config import GatewayConfig, HomeChannel
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.keys import is_shared_session
from warmstart.gateway.platforms import Platform
from warmstart.gateway.source import SessionSource


@dataclass(slots=True)
class SessionContext:
    """Everything the context prompt is built from."""

    source: SessionSource
    connected_platforms: list[Platform]
    home_channels: dict[Platform, HomeChannel]
    session_key: str = ""
    session_id: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    shared_multi_user_session: bool = False
    """Several people talk in this session; each message says who wrote it."""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "source": self.source.to_dict(),
            "connected_platforms": [platform.value for platform in self.connected_platforms],
            "home_channels": {
                platform.value: home.to_dict() for platform, home in self.home_channels.items()
            },
            "session_key": self.session_key,
            "session_id": self.session_id,
            "created_at": self.created_at.isoformat() if self.created_at else None,
            "updated_at": self.updated_at.isoformat() if self.updated_at else None,
            "shared_multi_user_session": self.shared_multi_user_session,
        }


def build_session_context(
    source: SessionSource, config: GatewayConfig, session_entry: SessionEntry | None = None
) -> SessionContext:
    """The context of a message, from its source, the settings and, if known, its session."""
    connected = config.get_connected_platforms()
    homes = {platform: config.get_home_channel(platform) for platform in connected}
    context = SessionContext(
        source=source,
        connected_platforms=connected,
        home_channels={platform: home for platform, home in homes.items() if home},
        shared_multi_user_session=is_shared_session(config, source),
    )
    if session_entry is not None:
        context.session_key = session_entry.session_key
        context.session_id = session_entry.session_id
        context.created_at = session_entry.created_at
        context.updated_at = session_entry.updated_at
    return context
