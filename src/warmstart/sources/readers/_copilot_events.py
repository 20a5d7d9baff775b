"""Copilot CLI's event log, replayed into one conversation per agent.

Requests come from ``assistant.message``, outcomes from ``tool.execution_complete``; everything
about turns, hooks and streaming repeats them and is passed over. Events of a subagent carry its
id and become a session of their own.
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
    Request,
    Result,
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import (
    as_bool,
    as_dict,
    as_dicts,
    as_id,
    as_int,
    as_text,
    content_text,
    parse_arguments,
    parse_time,
    parse_tokens,
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


class _Conversation:
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


class Events:
    """What a log says, agent by agent; ``None`` is the main one."""

    def __init__(self) -> None:
        self.met = False
        self.start: dict[str, Any] = {}
        self.talks: dict[str | None, _Conversation] = {None: _Conversation()}
        self.names: dict[str, str] = {}
        self.places: dict[str, int] = {}
        self.by_user: set[str] = set()
        self.tokens: dict[str, Tokens] = {}
        self.title: str | None = None
        self.end_reason: str | None = None

    def take(self, record: dict[str, Any]) -> bool:
        """Take one event in; False when it is none."""
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

    def talk(self, event: _Event) -> _Conversation:
        """The conversation an event belongs to."""
        return self.talks.setdefault(event.agent, _Conversation())

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
        asked = (to_request(item, "name") for item in as_dicts(event.data.get("toolRequests")))
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
        """A command the user ran; it is no call of the agent."""
        self.by_user.add(event.text("toolCallId") or "")

    def on_tool_start(self, event: _Event) -> None:
        """A call whose request is in no message counts all the same."""
        talk, request = self.talk(event), to_request(event.data, "toolName")
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


_HANDLERS: dict[str, Callable[[Events, _Event], None]] = {
    "session.start": Events.on_start,
    "session.resume": Events.on_start,
    "session.model_change": Events.on_model,
    "session.title_changed": Events.on_title,
    "session.compaction_complete": Events.on_compaction,
    "session.snapshot_rewind": Events.on_rewind,
    "session.shutdown": Events.on_shutdown,
    "system.message": Events.on_system,
    "system.notification": Events.on_injected,
    "skill.invoked": Events.on_injected,
    "user.message": Events.on_user,
    "assistant.message": Events.on_assistant,
    "assistant.usage": Events.on_usage,
    "tool.user_requested": Events.on_user_tool,
    "tool.execution_start": Events.on_tool_start,
    "tool.execution_complete": Events.on_tool_end,
    "subagent.started": Events.on_subagent,
    "abort": Events.on_abort,
}


def to_request(item: dict[str, Any], name_key: str, id_key: str = "toolCallId") -> Request:
    """A request from an object that names tool and call by these keys."""
    arguments = parse_arguments(item.get("arguments"))
    return Request(
        tool=as_text(item.get(name_key)) or "unknown",
        id=as_id(item.get(id_key)),
        arguments=arguments.data,
        raw=arguments.raw,
    )


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
    """Whether an error code means that somebody said no, or stopped it."""
    if code in REFUSALS:
        return Status.REJECTED
    return Status.CANCELLED if code in CANCELLATIONS else None


def _split_tokens(usage: Any) -> Tokens | None:
    """Copilot counts what was read from and written to the cache within the input."""
    tokens = parse_tokens(usage, USAGE)
    if tokens is None:
        return None
    return replace(tokens, input=max(tokens.input - tokens.cache_read - tokens.cache_write, 0))
