"""Where messages come from, which session they belong to, and when that session ends.

    from warmstart.gateway import GatewayConfig, Platform, SessionSource, SessionStore

Everything a chat gateway needs to keep conversations apart and to keep them at all; see
``SessionStore`` and ``ExpiryWatcher``.
"""

from __future__ import annotations

from warmstart.gateway.aio import AsyncSessionStore
from warmstart.gateway.config import GatewayConfig, HomeChannel, PlatformConfig
from warmstart.gateway.context import SessionContext, build_session_context
from warmstart.gateway.entry import SessionEntry
from warmstart.gateway.errors import ConfigError, GatewayError, RecordError, UnsafeNameError
from warmstart.gateway.expiry import AsyncExpiryWatcher, ExpiryWatcher
from warmstart.gateway.keys import build_session_key
from warmstart.gateway.load import load_gateway_config
from warmstart.gateway.platforms import Platform, find_platform
from warmstart.gateway.policy import SessionResetPolicy, find_expiry
from warmstart.gateway.prompt import build_session_context_prompt
from warmstart.gateway.session_store import SessionStore
from warmstart.gateway.source import SessionSource

__all__ = [
    "AsyncExpiryWatcher",
    "AsyncSessionStore",
    "ConfigError",
    "ExpiryWatcher",
    "GatewayConfig",
    "GatewayError",
    "HomeChannel",
    "Platform",
    "PlatformConfig",
    "RecordError",
    "SessionContext",
    "SessionEntry",
    "SessionResetPolicy",
    "SessionSource",
    "SessionStore",
    "UnsafeNameError",
    "build_session_context",
    "build_session_context_prompt",
    "build_session_key",
    "find_expiry",
    "find_platform",
    "load_gateway_config",
]
