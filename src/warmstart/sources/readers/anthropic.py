"""Conversations in the shape of Anthropic's Messages API, as programs save and export them.

One JSON document, an array of messages or of conversations, JSONL with a conversation per line,
or JSONL with a message per line. A file is claimed only by something OpenAI's shape does not have
(a ``tool_use`` block, a ``system`` beside ``messages``): plain text turns look the same in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from warmstart.model import Message, Role, Session
from warmstart.sources.fields import ANTHROPIC_USAGE, as_list, as_text, parse_time, parse_tokens
from warmstart.sources.joining import build_chat
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file, name_record
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.records import open_records
from warmstart.wire import (
    as_dict,
    as_dicts,
    as_id,
    content_text,
    is_result,
    is_use,
    make_request,
    read_result,
)

OWN_BLOCKS = frozenset({"thinking", "redacted_thinking", "document", "search_result"})
"""Content types of this API alone; those of calls and results are recognised by their endings."""
SNIFFED = 12
FOREIGN_KEYS = ("tool_calls", "function_call", "tool_call_id")
FOREIGN_ROLES = frozenset({"tool", "function", "developer"})


class Anthropic(FileReader):
    """Anthropic messages."""

    name = "anthropic"
    title = "Anthropic messages"

    def recognises(self, probe: Probe) -> bool:
        """Whether the first records are conversations or messages that only this API has."""
        records = probe.records
        if any(_is_message(record) for record in records):
            return _is_own(records)
        return any(_is_conversation(record) for record in records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """One session per conversation; a file of bare messages is one."""
        path = unit.path
        layout, records = open_records(path, log)
        first = list(islice(records, SNIFFED))
        if any(_is_message(record) for _, record in first):
            messages = [record for _, record in chain(first, records)]
            yield from _read_conversation({"messages": messages}, name_file(path), path, log)
            return
        for number, record in chain(first, records):
            name = name_record(path, _own_id(record), number)
            if layout == "document":
                name = name_file(path)
            yield from _read_conversation(record, name, path, log, number)


def _is_message(record: Any) -> bool:
    return isinstance(record, dict) and "role" in record and "content" in record


def _is_own(messages: Iterable[Any]) -> bool:
    """Whether messages carry something of this API's, and nothing of OpenAI's."""
    entries = [as_dict(message) for message in messages]
    return any(map(_has_own_block, entries)) and not any(map(_is_foreign, entries))


def _has_own_block(entry: dict[str, Any]) -> bool:
    kinds = [as_text(block.get("type")) or "" for block in as_dicts(entry.get("content"))]
    return any(
        kind in OWN_BLOCKS or kind.endswith(("tool_use", "tool_result")) for kind in kinds
    ) or any("source" in block for block in as_dicts(entry.get("content")))


def _is_foreign(entry: dict[str, Any]) -> bool:
    return as_text(entry.get("role")) in FOREIGN_ROLES or any(key in entry for key in FOREIGN_KEYS)


def _is_conversation(record: Any) -> bool:
    entries = [as_dict(entry) for entry in as_list(as_dict(record).get("messages"))]
    if not any(map(_is_message, entries)) or any(map(_is_foreign, entries)):
        return False
    has_system = isinstance(record.get("system"), str | list)
    is_claude = (as_text(record.get("model")) or "").startswith("claude")
    return has_system or is_claude or any(map(_has_own_block, entries))


def _read_conversation(
    record: Any, name: str, path: Path, log: ReadLog, number: int | None = None
) -> Iterator[Session]:
    data = as_dict(record)
    if not isinstance(data.get("messages"), list):
        log.skip("record is not a conversation", path, number)
        return
    messages = list(_read_messages(data["messages"], path, log, number))
    if system := content_text(data.get("system")):
        messages.insert(0, Message(role=Role.SYSTEM, text=system))
    own = _own_id(data)
    yield build_chat(
        Anthropic.name,
        own if own and not own.isdecimal() else name,
        messages,
        log,
        model=as_text(data.get("model")),
        title=as_text(data.get("title")),
        started_at=parse_time(data.get("created_at") or data.get("timestamp")),
        tokens=parse_tokens(data.get("usage"), ANTHROPIC_USAGE),
        path=str(path),
    )


def _own_id(data: dict[str, Any]) -> str | None:
    names = ("id", "session_id", "conversation_id", "uuid")
    return next((own for own in (as_id(data.get(name)) for name in names) if own), None)


def _read_messages(
    entries: list[Any], path: Path, log: ReadLog, number: int | None
) -> Iterator[Message]:
    for entry in entries:
        role = as_text(as_dict(entry).get("role"))
        if not isinstance(entry, dict):
            log.skip("message is not an object", path, number)
        elif role == "assistant":
            yield _read_reply(entry, path, log)
        elif role in ("user", "system"):
            yield from _read_user(entry, Role(role))
        else:
            log.skip("message of no known role", path, number)


def _read_user(entry: dict[str, Any], role: Role) -> Iterator[Message]:
    """What the user sent; results come first, as the API demands."""
    blocks = _list_blocks(entry)
    results = tuple(read_result(block) for block in blocks if is_result(block))
    texts = [content_text(block) for block in blocks if not is_result(block)]
    text = "\n".join(filter(None, texts))
    native_id, moment = as_id(entry.get("id")), parse_time(entry.get("timestamp"))
    if results:
        yield Message(role=Role.TOOL, results=results, native_id=native_id, timestamp=moment)
    if text or not results:
        yield Message(role=role, text=text, native_id=native_id, timestamp=moment)


def _read_reply(entry: dict[str, Any], path: Path, log: ReadLog) -> Message:
    """An answer; tools that run on the server have their results in it."""
    blocks = _list_blocks(entry)
    calls = [block for block in blocks if is_use(block)]
    named = [block for block in calls if as_text(block.get("name"))]
    if len(named) < len(calls):
        log.skip("call without a tool's name", path, count=len(calls) - len(named))
    return Message(
        role=Role.ASSISTANT,
        text=_join_texts(blocks, "text"),
        requests=tuple(
            make_request(block.get("name"), block.get("id"), block.get("input")) for block in named
        ),
        results=tuple(read_result(block) for block in blocks if is_result(block)),
        reasoning=_join_texts(blocks, "thinking"),
        native_id=as_id(entry.get("id")),
        timestamp=parse_time(entry.get("timestamp")),
        model=as_text(entry.get("model")),
        tokens=parse_tokens(entry.get("usage"), ANTHROPIC_USAGE),
    )


def _list_blocks(entry: dict[str, Any]) -> list[dict[str, Any]]:
    content = entry.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return as_dicts(content)


def _join_texts(blocks: list[dict[str, Any]], kind: str) -> str:
    """The text of the blocks of a type, which is also the key that holds it."""
    texts = (as_text(block.get(kind)) for block in blocks if block.get("type") == kind)
    return "\n".join(filter(None, texts))
