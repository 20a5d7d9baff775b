"""Arguments as a model wrote them, checked once where they enter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from warmstart.errors import UsageError
from warmstart.tool.schema import ACTIONS

MAX_TEXT_CHARS = 20_000
MAX_TAGS = 20
DEFAULT_MIN_MESSAGES = 30
DEFAULT_MAX_SESSIONS = 30
_TEXTS = (
    "name", "description", "source_filter", "session_id", "compare_with", "message",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """One use of the tool. Arguments that are not known are left aside, as models invent some."""

    action: str
    name: str = ""
    description: str = ""
    min_messages: int = DEFAULT_MIN_MESSAGES
    max_sessions: int = DEFAULT_MAX_SESSIONS
    source_filter: str = ""
    tags: tuple[str, ...] = ()
    session_id: str = ""
    compare_with: str = ""
    message: str = ""
    details: bool = False

    def require(self, field: str) -> str:
        """A text that this action cannot do without.

        Raises:
            UsageError: it is not there.
        """
        value = getattr(self, field)
        if not value:
            raise UsageError(f"{field} is required for {self.action!r}")
        return str(value)


def read_request(arguments: Mapping[str, Any] | str | bytes) -> ToolRequest:
    """A request from a mapping or from its JSON text.

    Raises:
        UsageError: it is neither, names no known action, or has an argument of the wrong kind.
    """
    given = _as_mapping(arguments)
    action = given.get("action")
    if not isinstance(action, str) or action.replace("_", "-") not in ACTIONS:
        raise UsageError(f"unknown action {action!r}", hint=f"use one of: {', '.join(ACTIONS)}")
    return ToolRequest(
        action=action.replace("_", "-"),
        tags=_read_tags(given.get("tags")),
        details=_read_flag(given, "details"),
        min_messages=_read_count(given, "min_messages", DEFAULT_MIN_MESSAGES),
        max_sessions=_read_count(given, "max_sessions", DEFAULT_MAX_SESSIONS),
        **{field: _read_text(given, field) for field in _TEXTS},
    )


def _as_mapping(arguments: Mapping[str, Any] | str | bytes) -> Mapping[str, Any]:
    if isinstance(arguments, str | bytes):
        try:
            arguments = orjson.loads(arguments or b"{}")
        except orjson.JSONDecodeError as error:
            raise UsageError(f"the arguments are not valid JSON: {error}") from error
    if not isinstance(arguments, Mapping):
        raise UsageError(f"the arguments must be an object, not {type(arguments).__name__}")
    return arguments


def _read_text(given: Mapping[str, Any], field: str) -> str:
    value = given.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{field} must be text, not {type(value).__name__}")
    return value[:MAX_TEXT_CHARS].strip()


def _read_count(given: Mapping[str, Any], field: str, default: int) -> int:
    value = given.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{field} must be a whole number above zero, not {value!r:.40}")
    return value


def _read_flag(given: Mapping[str, Any], field: str) -> bool:
    value = given.get(field)
    if value is not None and not isinstance(value, bool):
        raise UsageError(f"{field} must be true or false, not {value!r:.40}")
    return value is True


def _read_tags(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise UsageError("tags must be a list of texts")
    return tuple(value[:MAX_TAGS])
