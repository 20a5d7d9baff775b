"""Between a message as an agent holds it and a row.

Everything that goes in comes out equal: text with characters that a database refuses (NUL, lone
surrogates) and content that is not text (multimodal lists) are kept as JSON after a mark. The hash
covers every column that is set when a message is inserted; columns that change later (``active``,
``compacted``) are not in it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, TypedDict

import orjson

from warmstart.store.backend import Row, Value
from warmstart.store.errors import MessageError
from warmstart.store.values import encode_json, is_storable, make_storable

MARK = "\x1ejson:"
TEXT_COLUMNS = (
    "role", "content", "tool_call_id", "tool_name", "effect_disposition", "finish_reason",
    "reasoning", "reasoning_content", "platform_message_id", "api_content",
)  # fmt: skip
JSON_COLUMNS = ("tool_calls", "reasoning_details", "codex_reasoning_items", "codex_message_items")
NUMBER_COLUMNS = ("timestamp", "token_count", "observed")
INSERT_COLUMNS = (*TEXT_COLUMNS, *JSON_COLUMNS, *NUMBER_COLUMNS)
"""The columns set at insert; their order is part of the hash and never changes."""
EMPTY_ROW: Row = dict.fromkeys(INSERT_COLUMNS)
MAX_PLAIN_KEY_LENGTH = 200


class MessageFields(TypedDict, total=False):
    """The optional fields of a message beyond its role, content and tool."""

    tool_call_id: str | None
    token_count: int | None
    finish_reason: str | None
    reasoning: str | None
    reasoning_content: str | None
    reasoning_details: Any
    codex_reasoning_items: Any
    codex_message_items: Any
    platform_message_id: str | None
    observed: bool
    effect_disposition: str | None
    timestamp: float | datetime | str | None
    api_content: str | None
    sequence: int | str | None


class EncodedMessage:
    """One message ready to be inserted."""

    __slots__ = ("content_hash", "dedupe_key", "search_text", "tool_call_count", "values")

    def __init__(self, message: Mapping[str, Any]) -> None:
        values = encode_columns(message)
        self.values: list[Value] = list(values.values())
        self.content_hash = hash_columns(self.values)
        self.tool_call_count = 0
        self.search_text: str | None = None
        content = message.get("content")
        if message.get("tool_calls"):
            stored = json.loads(str(values["tool_calls"]))
            self.tool_call_count = count_calls(stored)
            found = [*_texts(content), *_texts(_searchable_calls(stored))]
            self.search_text = make_storable(" ".join(found))
        elif content is not None and not isinstance(content, str):
            self.search_text = make_storable(" ".join(_texts(content)))
        self.dedupe_key = _dedupe_key(message, str(values["role"]))


def encode_columns(message: Mapping[str, Any]) -> Row:
    """The message's own columns in the order of ``INSERT_COLUMNS``, as the database takes them.

    Raises:
        MessageError: it has no role, or a value that cannot be stored.
    """
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise MessageError(f"a message needs a role, not {role!r}")
    values = EMPTY_ROW.copy()
    for name, value in message.items():
        if value is not None and name in ENCODERS:
            values[name] = ENCODERS[name](value)
    if values["tool_name"] is None and message.get("name") and role == "tool":
        values["tool_name"] = encode_text(message["name"])
    if values["timestamp"] is None:
        values["timestamp"] = time.time()
    if values["observed"] is None:
        values["observed"] = 0
    return values


def encode_text(value: Any) -> str:
    """Text unchanged where a database takes it, else JSON after the mark."""
    if isinstance(value, str):
        if value.isascii():
            if "\0" not in value and not value.startswith(MARK):
                return value
        elif is_storable(value):
            return value
    return MARK + encode_json(value)


def decode_text(value: Any) -> Any:
    """What ``encode_text`` was given."""
    if isinstance(value, str) and value.startswith(MARK):
        return json.loads(value[len(MARK) :])
    return value


def parse_time(value: Any) -> float:
    """Seconds since 1970 from a number, a datetime (naive means UTC) or ISO text."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise MessageError(f"{value!r:.80} is not a time") from error
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and abs(value) < 1e15:
        return float(value)
    raise MessageError(f"{value!r:.80} is not a time")


def hash_columns(values: Sequence[Value]) -> str:
    """Fingerprint of a message's columns, in their order."""
    return blake2b(orjson.dumps(list(values)), digest_size=16).hexdigest()


def count_calls(calls: Any) -> int:
    """The number of tool calls in a message's parsed ``tool_calls``."""
    if not calls:
        return 0
    return len(calls) if isinstance(calls, list) else 1


def decode_message(row: Row) -> Row:
    """The row with every text as it was given and its tool calls parsed."""
    for name in TEXT_COLUMNS:
        value = row.get(name)
        if value and value[0] == MARK[0]:
            row[name] = decode_text(value)
    for name in JSON_COLUMNS:
        if row.get(name) is not None:
            row[name] = json.loads(row[name])
    return row


def _encode_parsed(value: Any) -> str:
    """JSON from a value, or from text that already is JSON."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return encode_json(value)


def _encode_count(value: Any) -> int:
    if not isinstance(value, int) or abs(value) >= 1 << 63:
        raise MessageError(f"{value!r:.80} is not a count")
    return int(value)


ENCODERS: dict[str, Callable[[Any], Value]] = {
    **dict.fromkeys(TEXT_COLUMNS, encode_text),
    **dict.fromkeys(JSON_COLUMNS, _encode_parsed),
    "timestamp": parse_time,
    "token_count": _encode_count,
    "observed": lambda value: int(bool(value)),
}


def _dedupe_key(message: Mapping[str, Any], role: str) -> str | None:
    """The key by which a repeated append is recognised; None if the message has none."""
    native = message.get("platform_message_id")
    if native is not None:
        key = f"id:{role}:{native}"
    elif message.get("sequence") is not None:
        key = f"seq:{message['sequence']}"
    else:
        return None
    if len(key) > MAX_PLAIN_KEY_LENGTH or not is_storable(key):
        return "hash:" + blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return key


def _searchable_calls(calls: Any) -> list[Any]:
    """Names and arguments of the calls, without ids and the format's own keys."""
    found = []
    for call in calls if isinstance(calls, list) else [calls]:
        function = call.get("function", call) if isinstance(call, dict) else call
        if isinstance(function, dict):
            found += [function.get("name"), _parsed(function.get("arguments"))]
        else:
            found.append(function)
    return found


def _parsed(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return arguments


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, without inlined images."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if not item.startswith("data:"):
                yield item
        elif isinstance(item, dict):
            found = {key: item[key] for key in item if key != "type"}
            waiting += [*found, *list(found.values())[::-1]]
        elif isinstance(item, list):
            waiting += item[::-1]
        elif item is not None:
            yield str(item)
