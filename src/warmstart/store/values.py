"""Text, JSON and ids as both databases take them; light enough for a listing of templates."""

from __future__ import annotations

import json
from typing import Any

from warmstart.store.errors import MessageError

MAX_ID_LENGTH = 255


def encode_json(value: Any) -> str:
    """JSON text that both databases take, without escapes where possible."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        return text if is_storable(text) else json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageError(f"{type(value).__name__} cannot be stored as JSON: {error}") from error


def is_storable(text: str) -> bool:
    """Whether both databases take the text unchanged."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_storable(text: str) -> str:
    """The text with every character that a database refuses replaced; for search only."""
    if is_storable(text):
        return text
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def check_id(value: Any, what: str = "session id", most: int = MAX_ID_LENGTH) -> str:
    """The id itself, if both databases can store and index it.

    Raises:
        MessageError: it is empty, too long, or not text that can be stored.
    """
    if not isinstance(value, str) or not 0 < len(value) <= most or not is_storable(value):
        raise MessageError(f"{what} must be 1 to {most} characters, not {value!r:.80}")
    return value
