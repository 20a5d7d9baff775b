"""Codex CLI: one rollout file per session, in every layout it has had.

Today's lines are ``{timestamp, type, payload}``, compressed with zstd once they are cold; the
first versions wrote a bare header and bare items, before that one JSON document::

    session_meta        {"id", "timestamp", "cwd", "cli_version", "git": {"branch"}, "source"}
    turn_context        {"model", "cwd"}
    response_item       {"type": "message", "role", "content": [{"text"}]}
                        {"type": "reasoning", "summary": [{"text"}]}
                        {"type": "function_call", "name", "arguments": "{...}", "call_id"}
                        {"type": "function_call_output", "call_id", "output"}
    event_msg           {"type": "exec_command_end", "call_id", "exit_code"}
                        {"type": "token_count", "info": {"total_token_usage": {...}}}
                        {"type": "turn_aborted", "reason"}, {"type": "thread_rolled_back", ...}
    compacted           {"message": "summary"}
    token_usage_record  {"response_id", "usage": {...}}

Everything is in a rollout twice, as a response item and as an event. The conversation is taken
from the items; events only add what items lack: how calls ended, tokens, aborts, roll-backs. The
items of one model response become one message. History that a fork or subagent copied from its
parent is kept and marked as copied, so that it counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from warmstart.model import (
    Compaction,
    Fate,
    Kind,
    Link,
    Message,
    Parent,
    Request,
    Result,
    Role,
    Session,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_int, as_text, parse_time
from warmstart.sources.files import Line
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.readers import _codex_items as items
from warmstart.sources.readers._codex_items import (
    ITEMS,
    RolloutLine,
    Signal,
    Usage,
    is_bare_header,
    read_line,
)
from warmstart.sources.records import open_records
from warmstart.wire import as_dict, as_dicts, as_id, content_text

STORES = ("sessions", "archived_sessions")
HOME_NAMES = frozenset({"config.toml", "auth.json", "history.jsonl", "archived_sessions"})
WRAPPERS = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
PACKED_SUFFIXES = frozenset({".gz", ".zst"})
SUFFIXES = PACKED_SUFFIXES | {".json", ".jsonl"}


class Codex(FileReader):
    """Codex CLI rollouts, one session per file."""

    name = "codex"
    title = "Codex CLI"

    def recognises(self, probe: Probe) -> bool:
        """Whether it is a rollout by its lines, or Codex's home with rollouts in it."""
        if probe.is_folder:
            return _is_home(probe)
        if not probe.is_lines:
            return not probe.is_array and any(map(_is_document, probe.records))
        return any(map(_is_wrapped, probe.records)) or _is_bare_rollout(probe.records)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The rollout itself, or every rollout of a home, oldest first."""
        del log
        for rollout in [path] if path.is_file() else _list_rollouts(path):
            yield from file_unit(rollout)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """Replay one rollout."""
        rollout, empty = _Rollout(), True
        for number, data in _read_records(unit.path, log):
            line = read_line(data)
            if line is None:
                log.skip("line of no known shape", unit.path, number)
                continue
            empty = False
            rollout.take(line)
        if not empty:
            yield rollout.build_session(unit.path, name_file(unit.path))


def _is_wrapped(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and kind in WRAPPERS and isinstance(record.get("payload"), dict)


def _is_bare_rollout(records: tuple[dict[str, Any], ...]) -> bool:
    """Whether it is a bare header followed by nothing but items and state."""
    known = all("record_type" in r or as_text(r.get("type")) in ITEMS for r in records[1:])
    return bool(records) and is_bare_header(records[0]) and "timestamp" in records[0] and known


def _is_document(record: dict[str, Any]) -> bool:
    session, items = record.get("session"), record.get("items")
    return isinstance(session, dict) and isinstance(items, list) and "id" in session


def _is_home(probe: Probe) -> bool:
    named = probe.path.name == ".codex" or not HOME_NAMES.isdisjoint(probe.names)
    stored = not probe.names.isdisjoint(STORES)
    return named and stored and next(_find_rollouts(probe.path), None) is not None


def _find_rollouts(home: Path) -> Iterator[Path]:
    for store in STORES:
        found = (home / store).rglob("rollout-*")
        yield from (path for path in found if path.suffix in SUFFIXES)


def _list_rollouts(home: Path) -> list[Path]:
    """In the order of their names, which begin with the time; a packed twin is left out."""
    found = set(_find_rollouts(home))
    single = [
        path
        for path in found
        if path.suffix not in PACKED_SUFFIXES or path.with_suffix("") not in found
    ]
    return sorted(single, key=lambda path: (path.name, str(path)))


def _read_records(path: Path, log: ReadLog) -> Iterator[Line]:
    layout, lines = open_records(path, log)
    for line in lines:
        if layout != "document" or not _is_document(line.data):
            yield line
            continue
        parts = (line.data["session"], *as_dicts(line.data["items"]))
        yield from (Line(number, record) for number, record in enumerate(parts, 1))


_COPIED, _LIVE = Fate.COPIED, Fate.LIVE
COPY_BURST_SECONDS = 1.0
"""A fork writes the history it copies at once; its own first turn takes a model's answer."""


class _RolloutMessages:
    """The messages so far, the last of which may still be growing."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.model: str | None = None
        self.fate = Fate.LIVE
        self._open = False
        self._thinking = ""

    def add(self, role: Role, line: RolloutLine, **fields: Any) -> None:
        """Append a message that is complete."""
        self.close()
        native_id = as_text(line.payload.get("id"))
        self.messages.append(
            Message(role=role, native_id=native_id, timestamp=line.time, fate=self.fate, **fields)
        )

    def think(self, text: str) -> None:
        """Thinking belongs to what the assistant says or does next."""
        if text:
            self.close()
            self._thinking = text

    def say(self, line: RolloutLine, text: str, requests: tuple[Request, ...] = ()) -> None:
        """Begin a message of the assistant."""
        thinking, self._thinking = self._thinking, ""
        self.add(
            Role.ASSISTANT,
            line,
            text=text,
            requests=requests,
            reasoning=thinking,
            model=self.model,
        )
        self._open = True

    def call(self, line: RolloutLine) -> None:
        """Calls of one response stand in one message, after its text."""
        request = items.read_request(line.payload)
        if self._open:
            latest = self.messages[-1]
            self.messages[-1] = replace(latest, requests=(*latest.requests, request))
        else:
            self.say(line, "", (request,))
        if line.payload.get("type") in items.SELF_CONTAINED:
            result = items.read_own_result(line.payload, request)
            self.add(Role.TOOL, line, results=(result,))

    def close(self) -> None:
        """What comes next is not part of the response so far."""
        if self._thinking:
            self.messages.append(
                Message(role=Role.ASSISTANT, reasoning=self._thinking, fate=self.fate)
            )
            self._thinking = ""
        self._open = False

    def set_fate(self, start: int, old: set[Fate], new: Fate) -> None:
        """What became of the messages from ``start`` on that have an old fate."""
        for index in range(start, len(self.messages)):
            if self.messages[index].fate in old:
                self.messages[index] = replace(self.messages[index], fate=new)


class _Rollout:
    """What the lines taken so far add up to."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.parent: Parent | None = None
        self.talk = _RolloutMessages()
        self.compactions: list[Compaction] = []
        self.signals: dict[str, Signal] = {}
        self.cwd: str | None = None
        self.title: str | None = None
        self.end_reason: str | None = None
        self.usage = Usage()
        self._first_time: float | None = None
        self._last_time: float | None = None
        self._copy_marked = False
        self._context_tokens: int | None = None
        self._event_expected = False

    def take(self, line: RolloutLine) -> None:
        """Take one line in."""
        if self._first_time is None:
            self._first_time = line.time
        if line.time is not None and (self._last_time is None or line.time > self._last_time):
            self._last_time = line.time
        fate = _COPIED if self.parent is not None and self._is_copied(line) else _LIVE
        if fate is not self.talk.fate:
            self.talk.close()
            self.talk.fate = fate
        handler = _LINES.get(line.kind)
        if handler is not None:
            handler(self, line)

    def _is_copied(self, line: RolloutLine) -> bool:
        boundary = as_int(self.meta.get("subagent_history_start_ordinal"))
        if boundary is not None and line.ordinal is not None:
            return line.ordinal < boundary
        created = parse_time(self.meta.get("timestamp"))
        if line.time is None or created is None:
            return False
        start = self._first_time or created
        burst = self._copy_marked and line.time - start <= COPY_BURST_SECONDS
        return line.time < created or burst

    def on_meta(self, line: RolloutLine) -> None:
        """The first header is this session's; another one comes with copied history."""
        if self.meta:
            self._copy_marked = True
            return
        self.meta = line.payload
        self.parent = _find_parent(line.payload)

    def on_context(self, line: RolloutLine) -> None:
        self.talk.model = as_text(line.payload.get("model")) or self.talk.model
        self.cwd = self.cwd or as_text(line.payload.get("cwd"))

    def on_item(self, line: RolloutLine) -> None:
        kind = line.payload.get("type")
        if kind == "message":
            self._add_message(line)
        elif kind == "agent_message":
            self.talk.add(Role.USER, line, text=_text(line.payload), kind=Kind.INJECTED)
        elif kind == "reasoning":
            self.talk.think(items.read_reasoning(line.payload))
        elif isinstance(kind, str) and kind in items.CALLS:
            self.talk.call(line)
        elif isinstance(kind, str) and kind in items.OUTPUTS:
            self.talk.add(Role.TOOL, line, results=(items.read_result(line.payload),))

    def on_event(self, line: RolloutLine) -> None:
        handler = _EVENTS.get(str(line.payload.get("type")))
        if handler is not None:
            handler(self, line)

    def on_signal(self, line: RolloutLine) -> None:
        signal = items.read_signal(line.payload)
        if signal is not None:
            self.signals[signal.call_id] = signal.after(self.signals.get(signal.call_id))

    def on_turn_start(self, line: RolloutLine) -> None:
        del line
        self.end_reason = None
        self.talk.close()

    def on_turn_end(self, line: RolloutLine) -> None:
        self.talk.close()
        aborted = line.payload.get("type") == "turn_aborted"
        reason = as_text(line.payload.get("reason")) or "aborted"
        self.end_reason = reason if aborted else "completed"

    def on_title(self, line: RolloutLine) -> None:
        self.title = as_text(line.payload.get("thread_name"))

    def on_settings(self, line: RolloutLine) -> None:
        settings = as_dict(line.payload.get("thread_settings"))
        self.talk.model = as_text(settings.get("model")) or self.talk.model

    def on_roll_back(self, line: RolloutLine) -> None:
        """The last user turns, and all that followed from them, were taken back."""
        turns = max(as_int(line.payload.get("num_turns")) or 0, 0)
        asked = [
            index
            for index, message in enumerate(self.talk.messages)
            if message.role is Role.USER and message.kind is Kind.TURN and message.counts
        ]
        if turns and asked:
            start = asked[-min(turns, len(asked))]
            self.talk.set_fate(start, {Fate.LIVE, Fate.ARCHIVED}, Fate.REWOUND)
            self.talk.close()

    def on_compacted(self, line: RolloutLine) -> None:
        self._compact()
        self._event_expected = True
        summary = items.find_summary(line.payload)
        if summary:
            self.talk.add(Role.USER, line, text=summary, kind=Kind.SUMMARY)

    def on_compaction_event(self, line: RolloutLine) -> None:
        """Repeats a ``compacted`` line, where there was one."""
        del line
        if not self._event_expected:
            self._compact()
        self._event_expected = False

    def on_token_count(self, line: RolloutLine) -> None:
        info = as_dict(line.payload.get("info"))
        size = as_int(as_dict(info.get("last_token_usage")).get("total_tokens"))
        if self.usage.add_count(info, self._payer()):
            self._context_tokens = size
        elif self.compactions and self.compactions[-1].tokens_after is None:
            # Right after a compaction the same total is sent with the new size of the context.
            self.compactions[-1] = replace(self.compactions[-1], tokens_after=size)

    def on_usage_record(self, line: RolloutLine) -> None:
        self.usage.add_response(line.payload, self._payer())

    def _payer(self) -> int | None:
        """The latest message of the assistant; None while history is copied, which is paid for."""
        if self.talk.fate is Fate.COPIED:
            return None
        spoken = range(len(self.talk.messages) - 1, -1, -1)
        return next((i for i in spoken if self.talk.messages[i].role is Role.ASSISTANT), -1)

    def _compact(self) -> None:
        self.talk.close()
        if self.talk.fate is Fate.COPIED:
            return
        self.talk.set_fate(0, {Fate.LIVE}, Fate.ARCHIVED)
        at = len(self.talk.messages)
        if not self.compactions or self.compactions[-1].at != at:
            self.compactions.append(Compaction(at=at, tokens_before=self._context_tokens))

    def _add_message(self, line: RolloutLine) -> None:
        role = line.payload.get("role")
        if role == "assistant":
            self.talk.say(line, _text(line.payload))
        elif role == "user":
            for kind, text in items.split_user_text(line.payload):
                self.talk.add(Role.USER, line, text=text, kind=kind)
        else:
            self.talk.add(Role.SYSTEM, line, text=_text(line.payload), kind=Kind.INJECTED)

    def build_session(self, path: Path, fallback_id: str) -> Session:
        """The session as of the last line."""
        self.talk.close()
        meta = self.meta
        usage = self.usage.choose()
        return build_session(
            "codex",
            as_id(meta.get("id")) or fallback_id,
            self._finish_messages(usage),
            agent_version=as_text(meta.get("cli_version")),
            title=self.title,
            project=as_text(meta.get("cwd")) or self.cwd,
            git_branch=as_text(as_dict(meta.get("git")).get("branch")),
            started_at=parse_time(meta.get("timestamp")),
            ended_at=self._last_time,
            end_reason=self.end_reason,
            parent=self.parent,
            compactions=tuple(self.compactions),
            tokens=sum((tokens for _, tokens in usage), Tokens()) if usage else None,
            path=str(path),
        )

    def _finish_messages(self, usage: list[tuple[int, Tokens]]) -> list[Message]:
        """Add how calls ended to their results, and tokens to the messages that cost them."""
        cost: dict[int, Tokens] = defaultdict(Tokens)
        for where, tokens in usage:
            cost[where] = cost[where] + tokens
        return [
            replace(message, results=self._signalled(message.results), tokens=cost.get(index))
            if message.results or index in cost
            else message
            for index, message in enumerate(self.talk.messages)
        ]

    def _signalled(self, results: tuple[Result, ...]) -> tuple[Result, ...]:
        signals = (self.signals.get(result.call_id or "") for result in results)
        return tuple(s.apply_to(r) if s else r for s, r in zip(signals, results, strict=True))


_LINES: dict[str, Callable[[_Rollout, RolloutLine], None]] = {
    "session_meta": _Rollout.on_meta,
    "turn_context": _Rollout.on_context,
    "response_item": _Rollout.on_item,
    "event_msg": _Rollout.on_event,
    "compacted": _Rollout.on_compacted,
    "token_usage_record": _Rollout.on_usage_record,
}
_EVENTS: dict[str, Callable[[_Rollout, RolloutLine], None]] = {
    "item_completed": _Rollout.on_signal,
    "exec_command_end": _Rollout.on_signal,
    "patch_apply_end": _Rollout.on_signal,
    "mcp_tool_call_end": _Rollout.on_signal,
    "dynamic_tool_call_response": _Rollout.on_signal,
    "task_started": _Rollout.on_turn_start,
    "turn_started": _Rollout.on_turn_start,
    "task_complete": _Rollout.on_turn_end,
    "turn_complete": _Rollout.on_turn_end,
    "turn_aborted": _Rollout.on_turn_end,
    "thread_rolled_back": _Rollout.on_roll_back,
    "thread_name_updated": _Rollout.on_title,
    "thread_settings_applied": _Rollout.on_settings,
    "context_compacted": _Rollout.on_compaction_event,
    "token_count": _Rollout.on_token_count,
}


def _text(item: dict[str, Any]) -> str:
    return content_text(item.get("content"))


def _find_parent(meta: dict[str, Any]) -> Parent | None:
    """The thread that spawned this one, else the one it was forked from."""
    subagent = as_dict(as_dict(meta.get("source")).get("subagent"))
    spawn = as_dict(subagent.get("thread_spawn"))
    spawner = as_text(spawn.get("parent_thread_id")) or as_text(meta.get("parent_thread_id"))
    if spawner:
        return Parent(id=f"codex:{spawner}", link=Link.SUBAGENT)
    origin = as_text(meta.get("forked_from_id"))
    return Parent(id=f"codex:{origin}", link=Link.BRANCH) if origin else None
