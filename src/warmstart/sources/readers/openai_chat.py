"""OpenAI chat: fine-tune JSONL, logged conversations, and lists of Responses items.

A file holds many conversations (one per line, or an array of them) or is one conversation itself
(an array or lines of messages). The format has no failure field; a flag that an exporter added
to a tool message is believed, everything else is left to the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from warmstart.model import Message, Request, Result, Role, Session
from warmstart.sources.fields import as_bool, as_float, as_list, as_text, parse_time
from warmstart.sources.files import (
    Line,
)
from warmstart.sources.joining import build_chat
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file, name_record
from warmstart.sources.openai_blocks import read_requests, read_usage
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.records import read_records
from warmstart.wire import (
    as_dict,
    as_dicts,
    as_id,
    content_text,
    encode_text,
    is_result,
    make_request,
    read_result,
)

ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    # What benchmarks and open models call a tool's answer.
    "environment": Role.TOOL,
    "function_response": Role.TOOL,
    "ipython": Role.TOOL,
    "observation": Role.TOOL,
    "tool_response": Role.TOOL,
    "tool_result": Role.TOOL,
}
CONTAINERS = (
    "messages", "items", "conversation", "conversations", "traj", "trajectory", "history", "chat",
    "dialog", "dialogue", "transcript",
)  # fmt: skip
"""Keys under which records keep their messages, the usual ones first."""
CALL_ITEMS = frozenset({"function_call", "custom_tool_call"})
OUTPUT_ITEMS = frozenset({"function_call_output", "custom_tool_call_output"})
FOREIGN_PARTS = frozenset(
    {"tool_use", "tool_result", "toolRequest", "toolResponse", "tool-call", "tool-result"}
)
"""Content parts that carry calls in other formats; taking them for text would lose the calls."""
SNIFFED = 12


class OpenAIChat(FileReader):
    """Chat completions and Responses conversations."""

    name = "openai_chat"
    title = "OpenAI chat"

    def recognises(self, probe: Probe) -> bool:
        """Whether a record is a conversation or a message in OpenAI's own shape."""
        return any(_is_conversation(record) or _is_entry(record) for record in probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """One session per conversation; a file of bare messages is one."""
        records = read_records(unit.path, log)
        first = list(islice(records, SNIFFED))
        known = (one for _, one in first if _is_entry(one) or _is_conversation(one))
        if _is_entry(next(known, None)):
            entries = [record for _, record in chain(first, records)]
            yield self._read_session({}, entries, name_file(unit.path), unit.path, log)
        else:
            yield from self._read_conversations(chain(first, records), unit.path, log)

    def _read_conversations(
        self, lines: Iterable[Line], path: Path, log: ReadLog
    ) -> Iterator[Session]:
        for number, record in lines:
            if _is_conversation(record):
                own = name_record(path, _own_id(record), number)
                yield self._read_session(record, _entries_of(record), own, path, log)
            else:
                log.skip("record is not a conversation", path, number)

    def _read_session(
        self, record: dict[str, Any], entries: list[Any], native_id: str, path: Path, log: ReadLog
    ) -> Session:
        return build_chat(
            self.name,
            native_id,
            _read_messages(entries, path, log),
            log,
            model=as_text(record.get("model")),
            title=as_text(record.get("title")),
            started_at=_first_time(record, "created_at", "created", "timestamp"),
            tokens=read_usage(record.get("usage")),
            task=as_id(record.get("task")) or as_id(record.get("task_id")),
            reward=as_float(record.get("reward")),
            path=str(path),
        )


def _own_id(record: dict[str, Any]) -> str | None:
    keys = ("id", "session_id", "conversation_id")
    return next((own for own in (as_text(record.get(key)) for key in keys) if own), None)


def _first_time(record: dict[str, Any], *keys: str) -> float | None:
    times = (parse_time(record.get(key)) for key in keys)
    return next((moment for moment in times if moment is not None), None)


def _entries_of(record: dict[str, Any]) -> list[Any]:
    """The messages of a conversation, under whichever name the exporter chose."""
    for key in CONTAINERS:
        if any(map(_is_entry, as_list(record.get(key))[:SNIFFED])):
            return as_list(record.get(key))
    return [*as_list(record.get("input")), *as_list(record.get("output"))]


def _is_conversation(record: Any) -> bool:
    """Whether it holds messages of our shape, and none whose calls we would take for text."""
    first = [as_dict(entry) for entry in _entries_of(as_dict(record))[:SNIFFED]]
    if not any(_is_entry(entry) for entry in first):
        return False
    return any(map(_has_own_calls, first)) or not any(map(_has_foreign_parts, first))


def _has_own_calls(entry: dict[str, Any]) -> bool:
    return bool(entry.get("tool_calls") or entry.get("function_call"))


def _is_entry(record: Any) -> bool:
    entry = as_dict(record)
    if "role" not in entry:
        return as_text(entry.get("type")) in CALL_ITEMS | OUTPUT_ITEMS
    spoken = not entry.keys().isdisjoint(("content", "tool_calls", "function_call"))
    return spoken and as_text(entry.get("role")) in ROLES and not _has_foreign_parts(entry)


def _has_foreign_parts(entry: dict[str, Any]) -> bool:
    return any(
        as_text(part.get("type")) in FOREIGN_PARTS for part in as_dicts(entry.get("content"))
    )


def _read_messages(entries: list[Any], path: Path, log: ReadLog) -> Iterator[Message]:
    for entry in entries:
        message = _read_entry(as_dict(entry))
        if message is None:
            log.skip("message of unknown shape", path)
        else:
            yield message


def _read_entry(entry: dict[str, Any]) -> Message | None:
    if "role" not in entry:
        return _read_item(entry)
    role = ROLES.get(as_text(entry.get("role")) or "")
    if role is None:
        return None
    results = tuple(_read_results(entry, role))
    answers = bool(results) and role in (Role.TOOL, Role.USER)
    return Message(
        role=Role.TOOL if answers else role,
        text="" if role is Role.TOOL else _spoken_text(entry),
        requests=() if answers else _read_requests(entry),
        results=results,
        reasoning=content_text(entry.get("reasoning_content") or entry.get("reasoning")),
        native_id=as_text(entry.get("id")),
        timestamp=_first_time(entry, "timestamp", "created_at"),
        model=as_text(entry.get("model")),
        tokens=read_usage(entry.get("usage")),
    )


def _read_item(item: dict[str, Any]) -> Message | None:
    """A Responses item other than a message: a call, its output, or the reasoning before it."""
    kind = as_text(item.get("type"))
    moment = _first_time(item, "timestamp", "created_at")
    if kind in CALL_ITEMS:
        written = item.get("arguments") if kind == "function_call" else item.get("input")
        request = make_request(item.get("name"), item.get("call_id"), written)
        return Message(role=Role.ASSISTANT, requests=(request,), timestamp=moment)
    if kind in OUTPUT_ITEMS:
        result = _read_result(item, "call_id", "output")
        return Message(role=Role.TOOL, results=(result,), timestamp=moment)
    if kind == "reasoning":
        thought = content_text(item.get("summary")) or content_text(item.get("content"))
        return Message(role=Role.ASSISTANT, reasoning=thought, timestamp=moment)
    return None


def _spoken_text(entry: dict[str, Any]) -> str:
    content = entry.get("content")
    if isinstance(content, list):
        spoken = (part for part in content if not is_result(as_dict(part)))
        content = [as_text(as_dict(part).get("refusal")) or part for part in spoken]
    return content_text(content) or as_text(entry.get("refusal")) or ""


def _read_requests(entry: dict[str, Any]) -> tuple[Request, ...]:
    requests = read_requests(entry.get("tool_calls"))
    legacy = as_dict(entry.get("function_call"))
    if legacy:
        requests += (make_request(legacy.get("name"), None, legacy.get("arguments")),)
    return requests


def _read_results(entry: dict[str, Any], role: Role) -> Iterator[Result]:
    """What tools answered: a message of its own, blocks of a user's, or beside the call."""
    blocks = [block for block in as_dicts(entry.get("content")) if is_result(block)]
    if blocks:
        yield from map(read_result, blocks)
    elif role is Role.TOOL:
        yield _read_result(entry, "tool_call_id", "content")
    for call in as_dicts(entry.get("tool_calls")):
        inner = next((call[key] for key in ("output", "result") if call.get(key) is not None), None)
        if inner is not None:
            yield _read_result({**call, "output": inner}, "id", "output")


def _read_result(entry: dict[str, Any], id_key: str, text_key: str) -> Result:
    output = entry.get(text_key)
    return Result(
        text=encode_text(output) if isinstance(output, dict) else content_text(output),
        call_id=as_id(entry.get(id_key)),
        tool=as_text(entry.get("name")) or as_text(entry.get("tool_name")),
        is_error=_read_flag(entry),
    )


def _read_flag(entry: dict[str, Any]) -> bool | None:
    """What an exporter says of a tool message; an item's own "completed" means delivered only."""
    flag = as_bool(entry.get("is_error"))
    if flag is not None:
        return flag
    return {"error": True, "success": False}.get(as_text(entry.get("status")) or "")
