"""GitHub Copilot CLI: an event log per session, once a JSON document of chat messages.

The document keeps how calls ended in a ``timeline`` beside the messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.model import Message, Result, Role, Session
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_dict, as_dicts, as_id, as_text, content_text, parse_time
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.readers._copilot_events import Events, find_refusal, to_request
from warmstart.sources.records import read_records

STORES = frozenset({"session-state", "history-session-state"})
LOG_PATTERNS = (
    "session-state/*/events.jsonl*",
    "session-state/*.jsonl*",
    "history-session-state/*.json*",
)
LOG_SUFFIXES = frozenset({".json", ".jsonl", ".gz", ".zst"})
EVENT_FAMILIES = ("session.", "user.", "assistant.", "tool.", "system.", "hook.", "subagent.")


class Copilot(FileReader):
    """Copilot CLI event logs, and the chat documents of its first versions."""

    name = "copilot"
    title = "Copilot CLI"

    def recognises(self, probe: Probe) -> bool:
        """Whether the first events are Copilot's, or the folder is a home with such logs."""
        if probe.is_folder:
            named = not STORES.isdisjoint(probe.names)
            return named and next(_list_logs(probe.path), None) is not None
        if probe.is_lines and any(map(_is_event, probe.records)):
            return True
        return not probe.is_array and any(map(_is_document, probe.records))

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The log itself, or every log of a home in the order of their ids."""
        del log
        for file in [path] if path.is_file() else sorted(set(_list_logs(path))):
            yield from file_unit(file)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The session of a log, then those of its subagents."""
        events = Events()
        for number, record in read_records(unit.path, log):
            if _is_document(record):
                yield _read_document(record, unit.path)
            elif not events.take(record):
                log.skip("line is no event", unit.path, number)
        if events.met:
            yield from events.build_sessions(unit.path, _name_session(unit.path))


def _list_logs(home: Path) -> Iterator[Path]:
    for pattern in LOG_PATTERNS:
        yield from (path for path in home.glob(pattern) if path.suffix in LOG_SUFFIXES)


def _is_event(record: dict[str, Any]) -> bool:
    kind = as_text(record.get("type")) or ""
    linked = "parentId" in record or "ephemeral" in record or kind == "session.start"
    return linked and kind.startswith(EVENT_FAMILIES) and isinstance(record.get("data"), dict)


def _is_document(record: dict[str, Any]) -> bool:
    return isinstance(record.get("chatMessages"), list) and "sessionId" in record


def _name_session(path: Path) -> str:
    """Logs are all called ``events.jsonl``; their folder has the id."""
    stem = path.name.partition(".")[0]
    return path.parent.name or stem if stem == "events" else name_file(path)


def _read_document(document: dict[str, Any], path: Path) -> Session:
    """The first versions' format: chat messages, and a timeline that knows how calls ended."""
    ended = {
        as_text(item.get("callId")): as_text(as_dict(item.get("result")).get("type"))
        for item in as_dicts(document.get("timeline"))
        if item.get("type") == "tool_call_completed"
    }
    messages = [_chat_message(item, ended) for item in as_dicts(document.get("chatMessages"))]
    return build_session(
        "copilot",
        as_id(document.get("sessionId")) or _name_session(path),
        messages,
        started_at=parse_time(document.get("startTime")),
        path=str(path),
    )


def _chat_message(item: dict[str, Any], ended: dict[str | None, str | None]) -> Message:
    role = as_text(item.get("role"))
    text = content_text(item.get("content"))
    if role == "tool":
        call_id = as_id(item.get("tool_call_id"))
        how = ended.get(call_id)
        result = Result(
            text=text,
            call_id=call_id,
            is_error={"success": False, "failure": True}.get(how or ""),
            status=find_refusal(how),
        )
        return Message(role=Role.TOOL, results=(result,))
    return Message(
        role=Role(role) if role in ("user", "assistant") else Role.SYSTEM,
        text=text,
        requests=tuple(
            to_request({**as_dict(call.get("function")), "id": call.get("id")}, "name", "id")
            for call in as_dicts(item.get("tool_calls"))
        ),
    )
