"""Where messages come from, which session they belong to, and when that session ends.

    from warmstart.gateway import GatewayConfig, Platform, SessionSource, SessionStore

Everything a chat gateway needs to keep conversations apart and to keep them at all; see
``SessionStore`` and ``ExpiryWatcher``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.gateway.aio import AsyncSessionStore
    from warmstart.gateway.config import (
        GatewayConfig,
        HomeChannel,
        PlatformConfig,
        load_gateway_config,
    )
    from warmstart.gateway.context import (
        SessionContext,
        build_session_context,
        build_session_context_prompt,
    )
    from warmstart.gateway.entry import SessionEntry
    from warmstart.gateway.errors import ConfigError, GatewayError, RecordError, UnsafeNameError
    from warmstart.gateway.expiry import CLAIM_SECONDS, AsyncExpiryWatcher, ExpiryWatcher, Round
    from warmstart.gateway.keys import build_session_key
    from warmstart.gateway.policy import SessionResetPolicy, find_expiry, to_utc
    from warmstart.gateway.session_store import DATABASE_NAME, SessionStore
    from warmstart.gateway.source import Platform, SessionSource, find_platform
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "aio": ("AsyncSessionStore",),
            "config": ("GatewayConfig", "HomeChannel", "PlatformConfig", "load_gateway_config"),
            "context": ("SessionContext", "build_session_context", "build_session_context_prompt"),
            "entry": ("SessionEntry",),
            "errors": ("ConfigError", "GatewayError", "RecordError", "UnsafeNameError"),
            "expiry": ("CLAIM_SECONDS", "AsyncExpiryWatcher", "ExpiryWatcher", "Round"),
            "keys": ("build_session_key",),
            "policy": ("SessionResetPolicy", "find_expiry", "to_utc"),
            "session_store": ("DATABASE_NAME", "SessionStore"),
            "source": ("Platform", "SessionSource", "find_platform"),
        },
    )  # fmt: skip

__all__ = [
    "CLAIM_SECONDS", "DATABASE_NAME", "AsyncExpiryWatcher", "AsyncSessionStore", "ConfigError",
    "ExpiryWatcher", "GatewayConfig", "GatewayError", "HomeChannel", "Platform", "PlatformConfig",
    "RecordError", "Round", "SessionContext", "SessionEntry", "SessionResetPolicy", "SessionSource",
    "SessionStore", "UnsafeNameError", "build_session_context", "build_session_context_prompt",
    "build_session_key", "find_expiry", "find_platform", "load_gateway_config", "to_utc",
]  # fmt: skip
