"""GitHub Copilot CLI: an event log per session, once a JSON document of chat messages.

An event is ``{id, parentId, timestamp, type, data}``, with ``agentId`` for a subagent's::

    session.start            {"sessionId", "copilotVersion", "context": {"cwd", "branch"}}
    user.message             {"content", "source"}
    assistant.message        {"content", "toolRequests": [{"toolCallId", "name", "arguments"}]}
    tool.execution_start     {"toolCallId", "toolName", "arguments"}
    tool.execution_complete  {"toolCallId", "success", "result": {"content"}, "error"}
    session.compaction_complete  {"success", "summaryContent", "preCompactionTokens"}
    session.shutdown         {"shutdownType", "modelMetrics": {model: {"usage": {...}}}}

Requests come from ``assistant.message``, outcomes from ``tool.execution_complete``; everything
about turns, hooks and streaming repeats them and is passed over. _EventLog of a subagent become a
session of their own. The old document keeps how calls ended in a ``timeline`` beside the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from warmstart.model import (
    Compaction,
    Fate,
    Kind,
    Link,
    Message,
    Parent,
    Result,
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_bool, as_int, as_text, parse_time, parse_tokens
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_file
from warmstart.sources.openai_blocks import read_requests
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.sources.records import read_records
from warmstart.wire import as_dict, as_dicts, as_id, content_text, make_request

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
        events = _EventLog()
        for number, record in read_records(unit.path, log):
            if _is_document(record):
                yield _read_document(record, unit.path)
            elif not events.take(record):
                log.skip("line is not an event", unit.path, number)
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
        requests=read_requests(item.get("tool_calls")),
    )


REFUSALS = frozenset({"rejected", "denied", "permission_denied", "user_rejected"})
CANCELLATIONS = frozenset({"cancelled", "canceled", "aborted", "abort"})
USAGE = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadTokens",
    "cache_write": "cacheWriteTokens",
    "reasoning": "reasoningTokens",
}


class _Event(NamedTuple):
    """An event and the part of it that differs by type."""

    record: dict[str, Any]
    data: dict[str, Any]

    @property
    def id(self) -> str | None:
        return as_text(self.record.get("id"))

    @property
    def agent(self) -> str | None:
        """The subagent it belongs to; None for the main agent."""
        return as_text(self.record.get("agentId")) or self.text("parentToolCallId")

    def text(self, key: str) -> str | None:
        return as_text(self.data.get(key))

    def message(self, role: Role, **fields: Any) -> Message:
        """A message of this event, with its content as text unless another is given."""
        fields.setdefault("text", content_text(self.data.get("content")))
        fields.setdefault("native_id", self.id)
        return Message(role=role, timestamp=parse_time(self.record.get("timestamp")), **fields)


class _AgentMessages:
    """One agent's messages so far."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.compactions: list[Compaction] = []
        self.asked: set[str] = set()
        self.model: str | None = None
        self.system_text = ""

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self.asked.update(request.id for request in message.requests if request.id)

    def set_fate(self, start: int, fate: Fate) -> None:
        """What became of the messages from ``start`` on that nothing had happened to yet."""
        for index in range(start, len(self.messages)):
            if self.messages[index].fate is Fate.LIVE:
                self.messages[index] = replace(self.messages[index], fate=fate)


class _EventLog:
    """What a log says, agent by agent; ``None`` is the main one."""

    def __init__(self) -> None:
        self.met = False
        self.start: dict[str, Any] = {}
        self.talks: dict[str | None, _AgentMessages] = {None: _AgentMessages()}
        self.names: dict[str, str] = {}
        self.places: dict[str, int] = {}
        self.by_user: set[str] = set()
        self.tokens: dict[str, Tokens] = {}
        self.title: str | None = None
        self.end_reason: str | None = None

    def take(self, record: dict[str, Any]) -> bool:
        """Take one event in; False when it is not an event."""
        kind, data = as_text(record.get("type")), record.get("data")
        if kind is None or not isinstance(data, dict):
            return False
        self.met = True
        event = _Event(record, data)
        if event.id:
            self.places[event.id] = len(self.talks[None].messages)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, event)
        return True

    def talk(self, event: _Event) -> _AgentMessages:
        """The conversation an event belongs to."""
        return self.talks.setdefault(event.agent, _AgentMessages())

    def on_start(self, event: _Event) -> None:
        self.start = self.start or event.data
        self.talks[None].model = event.text("selectedModel") or self.talks[None].model
        self.end_reason = None

    def on_model(self, event: _Event) -> None:
        self.talk(event).model = event.text("newModel")

    def on_title(self, event: _Event) -> None:
        self.title = event.text("title") or self.title

    def on_system(self, event: _Event) -> None:
        """The prompt is written again with every turn; only a changed one is a message."""
        talk, message = self.talk(event), event.message(Role.SYSTEM)
        if message.text != talk.system_text:
            talk.system_text = message.text
            talk.add(message)

    def on_user(self, event: _Event) -> None:
        """Typed by the user, unless it has another source (a skill, a schedule)."""
        typed = event.data.get("source") in (None, "", "user")
        kind = Kind.TURN if typed else Kind.INJECTED
        self.talk(event).add(event.message(Role.USER, kind=kind))
        self.end_reason = None

    def on_injected(self, event: _Event) -> None:
        self.talk(event).add(event.message(Role.USER, kind=Kind.INJECTED))

    def on_assistant(self, event: _Event) -> None:
        talk = self.talk(event)
        asked = (
            make_request(item.get("name"), item.get("toolCallId"), item.get("arguments"))
            for item in as_dicts(event.data.get("toolRequests"))
        )
        talk.add(
            event.message(
                Role.ASSISTANT,
                requests=tuple(asked),
                reasoning=event.text("reasoningText") or "",
                native_id=event.text("messageId") or event.id,
                model=event.text("model") or talk.model,
                tokens=parse_tokens(event.data, {"output": "outputTokens"}),
            )
        )

    def on_usage(self, event: _Event) -> None:
        """Full counts of the model call just made, where a log keeps them."""
        messages = self.talk(event).messages
        tokens = _split_tokens(event.data)
        if tokens and messages and messages[-1].role is Role.ASSISTANT:
            messages[-1] = replace(messages[-1], tokens=tokens)

    def on_user_tool(self, event: _Event) -> None:
        """A command the user ran; not a call of the agent."""
        self.by_user.add(event.text("toolCallId") or "")

    def on_tool_start(self, event: _Event) -> None:
        """A call whose request is in no message counts all the same."""
        talk, data = self.talk(event), event.data
        request = make_request(data.get("toolName"), data.get("toolCallId"), data.get("arguments"))
        if request.id and request.id not in talk.asked and request.id not in self.by_user:
            talk.add(event.message(Role.ASSISTANT, requests=(request,)))

    def on_tool_end(self, event: _Event) -> None:
        self.talk(event).add(event.message(Role.TOOL, results=(_to_result(event.data),)))

    def on_compaction(self, event: _Event) -> None:
        if event.data.get("success") is False:
            return
        talk, trigger = self.talk(event), event.text("trigger")
        talk.set_fate(0, Fate.ARCHIVED)
        talk.compactions.append(
            Compaction(
                at=len(talk.messages),
                trigger=trigger if trigger in (None, "manual") else "auto",
                tokens_before=as_int(event.data.get("preCompactionTokens")),
                tokens_after=as_int(event.data.get("postCompactionTokens")),
            )
        )
        summary = event.text("summaryContent")
        if summary:
            talk.add(event.message(Role.USER, text=summary, kind=Kind.SUMMARY))

    def on_rewind(self, event: _Event) -> None:
        """The named event and all after it were taken back."""
        start = self.places.get(event.text("upToEventId") or "")
        if start is not None:
            self.talks[None].set_fate(start, Fate.REWOUND)

    def on_subagent(self, event: _Event) -> None:
        name = event.text("agentDisplayName") or event.text("agentName")
        for key in (event.agent, event.text("toolCallId")):
            if key and name:
                self.names[key] = name

    def on_abort(self, event: _Event) -> None:
        self.end_reason = event.text("reason") or "abort"

    def on_shutdown(self, event: _Event) -> None:
        """Totals of the whole session per model; a later shutdown replaces an earlier one."""
        self.end_reason = event.text("shutdownType")
        for model, metric in as_dict(event.data.get("modelMetrics")).items():
            tokens = _split_tokens(as_dict(metric).get("usage"))
            if tokens:
                self.tokens[model] = tokens

    def build_sessions(self, path: Path, fallback_id: str) -> Iterator[Session]:
        """The main session and its subagents."""
        native_id = as_id(self.start.get("sessionId")) or fallback_id
        context = as_dict(self.start.get("context"))
        for agent, talk in self.talks.items():
            about = self._about_subagent(agent, native_id) if agent else self._about_main()
            if talk.messages or agent is None:
                yield build_session(
                    "copilot",
                    f"{native_id}/{agent}" if agent else native_id,
                    talk.messages,
                    agent_version=as_text(self.start.get("copilotVersion")),
                    project=as_text(context.get("cwd")) or as_text(context.get("gitRoot")),
                    git_branch=as_text(context.get("branch")),
                    compactions=tuple(talk.compactions),
                    path=str(path),
                    **about,
                )

    def _about_main(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "started_at": parse_time(self.start.get("startTime")),
            "end_reason": self.end_reason,
            "tokens": sum(self.tokens.values(), Tokens()) if self.tokens else None,
        }

    def _about_subagent(self, agent: str, parent: str) -> dict[str, Any]:
        return {
            "title": self.names.get(agent),
            "parent": Parent(id=f"copilot:{parent}", link=Link.SUBAGENT),
            # A shutdown's totals include the subagents: theirs must not be added again.
            "tokens": Tokens() if self.tokens else None,
        }


_HANDLERS: dict[str, Callable[[_EventLog, _Event], None]] = {
    "session.start": _EventLog.on_start,
    "session.resume": _EventLog.on_start,
    "session.model_change": _EventLog.on_model,
    "session.title_changed": _EventLog.on_title,
    "session.compaction_complete": _EventLog.on_compaction,
    "session.snapshot_rewind": _EventLog.on_rewind,
    "session.shutdown": _EventLog.on_shutdown,
    "system.message": _EventLog.on_system,
    "system.notification": _EventLog.on_injected,
    "skill.invoked": _EventLog.on_injected,
    "user.message": _EventLog.on_user,
    "assistant.message": _EventLog.on_assistant,
    "assistant.usage": _EventLog.on_usage,
    "tool.user_requested": _EventLog.on_user_tool,
    "tool.execution_start": _EventLog.on_tool_start,
    "tool.execution_complete": _EventLog.on_tool_end,
    "subagent.started": _EventLog.on_subagent,
    "abort": _EventLog.on_abort,
}


def _to_result(data: dict[str, Any]) -> Result:
    result, error = as_dict(data.get("result")), as_dict(data.get("error"))
    success = as_bool(data.get("success"))
    codes = (as_int(block.get("exitCode")) for block in as_dicts(result.get("contents")))
    text = content_text(result.get("content"))
    return Result(
        text=text if success else as_text(error.get("message")) or text,
        call_id=as_id(data.get("toolCallId")),
        is_error=None if success is None else not success,
        exit_code=next((code for code in codes if code is not None), None),
        status=find_refusal(as_text(error.get("code"))),
    )


def find_refusal(code: str | None) -> Status | None:
    """Rejected or cancelled, where an error code says so."""
    if code in REFUSALS:
        return Status.REJECTED
    return Status.CANCELLED if code in CANCELLATIONS else None


def _split_tokens(usage: Any) -> Tokens | None:
    """Copilot counts what was read from and written to the cache within the input."""
    tokens = parse_tokens(usage, USAGE)
    if tokens is None:
        return None
    return replace(tokens, input=max(tokens.input - tokens.cache_read - tokens.cache_write, 0))
