"""Which session ids and keys are safe to keep.

A session id becomes a file name (``<id>.jsonl``), a session key is shown, logged and stored. Both
may come from a chat platform or from an edited file, so both are checked wherever they enter.
"""

from __future__ import annotations

import re

from warmstart.gateway.errors import ConfigError, UnsafeNameError, show_value
from warmstart.store import MAX_ID_LENGTH, MAX_KEY_LENGTH, is_storable

MAX_ID_BYTES = 200
"""Leaves room for a suffix within the 255 bytes a file name may have."""
_CONTROLS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
_DRIVE_PATH = re.compile(r"[A-Za-z]:[/\\]")
_DOTS = re.compile(r"(?:^|[:/\\])\.\.(?:$|[:/\\])")


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
    """The scope itself, if both databases can keep and index it.

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
