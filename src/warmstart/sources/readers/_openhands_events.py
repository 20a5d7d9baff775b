"""OpenHands events to messages: V0 (``action`` and ``observation``) and V1 (``kind``).

V0 results name the event they answer by ``cause``. V1 joins calls and results by the model's own
call ids; the calls of one model response become one message again. A message remembers the events
it was made of: a condensation names events, not messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from warmstart.model import Compaction, Fate, Kind, Message, Request, Result, Role, Status, Tokens
from warmstart.sources.fields import as_bool, as_int, as_list, as_text, parse_time
from warmstart.sources.openai_blocks import read_usage
from warmstart.wire import as_dict, as_id, content_text, encode_text, make_request, parse_arguments

ROOT = "__root__"


@dataclass(slots=True)
class _EventMessage:
    """A message, the events it was made of and the model response they belong to."""

    message: Message
    events: list[str]
    response: str | None = None


@dataclass(slots=True)
class EventReplay:
    """A conversation as it builds up from its events."""

    entries: list[_EventMessage] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """Event id -> call id."""
    answered: set[str] = field(default_factory=set)
    latest: tuple[str, str] | None = None
    """Call id and tool of the latest call."""
    billed: set[str] = field(default_factory=set)
    """Model responses whose tokens were counted."""
    state: str | None = None
    """The last state the harness reported."""
    parents: dict[str, str | None] = field(default_factory=dict)
    """Event id -> the event it follows, in the order written; only where events say so."""

    @property
    def messages(self) -> list[Message]:
        """The messages, in the order of the events."""
        return [entry.message for entry in self.entries]

    def add(self, event: dict[str, Any], message: Message, response: str | None = None) -> None:
        """Append a message made from an event."""
        stamped = replace(
            message,
            native_id=as_id(event.get("id")),
            timestamp=parse_time(event.get("timestamp")),
        )
        self.entries.append(_EventMessage(stamped, [as_id(event.get("id")) or ""], response))

    def compact(self, event: dict[str, Any], forgets: Callable[[str], bool], summary: str) -> None:
        """Note a compaction: what it forgot happened, but the model no longer sees it."""
        for entry in self.entries:
            if entry.message.fate is Fate.LIVE and all(map(forgets, entry.events)):
                entry.message = replace(entry.message, fate=Fate.ARCHIVED)
        self.compactions.append(Compaction(at=len(self.entries)))
        if summary:
            self.add(event, Message(role=Role.USER, text=summary, kind=Kind.SUMMARY))

    def rewind_to(self, leaf: str | None) -> None:
        """Mark what was taken back: messages on no line through the conversation's head."""
        line = find_line(self.parents, leaf)
        for entry in self.entries:
            if all(event in self.parents and event not in line for event in entry.events):
                entry.message = replace(entry.message, fate=Fate.REWOUND)


def find_line(parents: dict[str, str | None], leaf: str | None) -> set[str]:
    """The events before and after ``leaf``; all of them where it is not among them.

    The head may be older than the newest events, so what follows it is kept. A line that begins
    at no root begins where events had no parents yet: everything before that is kept too.
    """
    if leaf not in parents:
        return set(parents)
    line: set[str] = set()
    at: str | None = leaf
    while at in parents and at not in line:
        line.add(at)
        at = parents[at]
    after = {leaf}
    is_before = at != ROOT
    for event, parent in parents.items():
        is_before = is_before and event not in line
        if parent in after:
            after.add(event)
        if is_before:
            line.add(event)
    return line | after


def wrap_output(text: str, metadata: dict[str, Any]) -> str:
    """Output as the model saw it, between the notes the terminal puts around it."""
    return f"{as_text(metadata.get('prefix')) or ''}{text}{as_text(metadata.get('suffix')) or ''}"


HARNESS = frozenset(
    {
        "null", "recall", "change_agent_state", "start", "pause", "resume", "stop", "add_task",
        "modify_task", "summarize", "condensation_request", "loop_recovery", "initialize",
    }
)  # fmt: skip
"""Actions of the harness itself."""
SPEECH = frozenset({"message", "finish", "reject"})
SILENT = frozenset({"null", "agent_state_changed"})
BOOKKEEPING = frozenset(
    {
        "thought", "confirmation_state", "is_confirmed", "security_risk", "hidden", "blocking",
        "is_static", "impl_source", "translated_ipython_code",
    }
)  # fmt: skip
"""Action fields the harness adds to what the agent asked for."""


def read_action(transcript: EventReplay, event: dict[str, Any], action: str) -> None:
    """Take an action into the conversation; those of the harness itself are passed over."""
    args = as_dict(event.get("args"))
    by_user = event.get("source") == "user"
    if action in HARNESS:
        return
    if action == "system":
        transcript.add(event, Message(role=Role.SYSTEM, text=content_text(args.get("content"))))
    elif action == "condensation":
        _read_v0_condensation(transcript, event, args)
    elif action in SPEECH or by_user:
        # A command the user ran is the user's, not one of the agent's calls.
        keys = ("content", "final_thought", "thought", "command", "code")
        text = next(filter(None, (content_text(args.get(key)) for key in keys)), "")
        transcript.add(event, Message(role=Role.USER if by_user else Role.ASSISTANT, text=text))
    else:
        _read_v0_call(transcript, event, action, args)


def _read_v0_call(
    transcript: EventReplay, event: dict[str, Any], action: str, args: dict[str, Any]
) -> None:
    metadata = as_dict(event.get("tool_call_metadata"))
    event_id = as_id(event.get("id"))
    call_id = as_id(metadata.get("tool_call_id")) or f"event {event_id or len(transcript.entries)}"
    request = _make_v0_request(action, call_id, args)
    transcript.latest = (call_id, action)
    transcript.answered.discard(call_id)
    if event_id is not None:
        transcript.calls[event_id] = call_id
    response = as_dict(metadata.get("model_response"))
    message = Message(
        role=Role.ASSISTANT,
        text=content_text(args.get("thought")),
        requests=(request,),
        model=as_text(response.get("model")),
        tokens=_bill_once(transcript, response),
    )
    transcript.add(event, message)


def _make_v0_request(action: str, call_id: str, args: dict[str, Any]) -> Request:
    """The call under the action's name, or under the tool's own behind an MCP server."""
    name = as_text(args.get("name"))
    if action in ("call_tool_mcp", "mcp") and name:
        return make_request(name, call_id, args.get("arguments"))
    asked = {k: v for k, v in args.items() if k not in BOOKKEEPING and v is not None}
    return Request(tool=action, id=call_id, arguments=asked)


def _bill_once(transcript: EventReplay, response: dict[str, Any]) -> Tokens | None:
    """Tokens of a model response: it is repeated with each of its calls, and counts once."""
    response_id = as_id(response.get("id"))
    if response_id is None or response_id in transcript.billed:
        return None
    transcript.billed.add(response_id)
    return read_usage(response.get("usage"))


def _read_v0_condensation(
    transcript: EventReplay, event: dict[str, Any], args: dict[str, Any]
) -> None:
    listed = frozenset(filter(None, map(as_id, as_list(args.get("forgotten_event_ids")))))
    first = as_int(args.get("forgotten_events_start_id"))
    last = as_int(args.get("forgotten_events_end_id"))

    def forgets(event_id: str) -> bool:
        number = as_int(event_id)
        if first is None or last is None or number is None:
            return event_id in listed
        return event_id in listed or first <= number <= last

    transcript.compact(event, forgets, content_text(args.get("summary")))


def read_observation(transcript: EventReplay, event: dict[str, Any], kind: str) -> None:
    """Take an observation into the conversation: a result, or a note of the harness."""
    extras = as_dict(event.get("extras"))
    if kind == "agent_state_changed":
        transcript.state = as_text(extras.get("agent_state")) or transcript.state
    if kind in SILENT:
        return
    metadata = as_dict(extras.get("metadata"))
    text = wrap_output(content_text(event.get("content")), metadata)
    call_id = _find_call(transcript, event, kind)
    if call_id is None or call_id in transcript.answered:
        transcript.add(event, Message(role=Role.USER, text=text, kind=Kind.INJECTED))
        return
    transcript.answered.add(call_id)
    code = as_int(extras.get("exit_code"))
    result = Result(
        text=text,
        call_id=call_id,
        is_error=True if kind == "error" else as_bool(extras.get("error")),
        exit_code=as_int(metadata.get("exit_code")) if code is None else code,
        status=Status.REJECTED if kind == "user_rejected" else None,
    )
    transcript.add(event, Message(role=Role.TOOL, results=(result,)))


def _find_call(transcript: EventReplay, event: dict[str, Any], kind: str) -> str | None:
    """The call an observation answers: by cause, by call id, else the call just before it."""
    cause = as_id(event.get("cause")) or ""
    if cause in transcript.calls:
        return transcript.calls[cause]
    call_id = as_id(as_dict(event.get("tool_call_metadata")).get("tool_call_id"))
    if call_id is not None or transcript.latest is None:
        return call_id
    latest, action = transcript.latest
    return latest if kind in (action, "error", "user_rejected") else None


def read_event(transcript: EventReplay, event: dict[str, Any]) -> bool:
    """Take an event into the conversation; False where its kind is not known."""
    event_id = as_id(event.get("id"))
    if event_id is not None and "parent_id" in event:
        transcript.parents[event_id] = as_id(event["parent_id"])
    handler = HANDLERS.get(event["kind"])
    if handler is not None:
        handler(transcript, event)
    return handler is not None


def _pass_over(transcript: EventReplay, event: dict[str, Any]) -> None:
    """Pass over bookkeeping that is not part of the conversation."""


def _read_system(transcript: EventReplay, event: dict[str, Any]) -> None:
    parts = [content_text(event.get(key)) for key in ("system_prompt", "dynamic_context")]
    text = "\n\n".join(part for part in parts if part)
    transcript.add(event, Message(role=Role.SYSTEM, text=text))


def _read_message(transcript: EventReplay, event: dict[str, Any]) -> None:
    message = as_dict(event.get("llm_message"))
    from_user = event.get("source") == "user" or message.get("role") == "user"
    transcript.add(
        event,
        Message(
            role=Role.USER if from_user else Role.ASSISTANT,
            text=content_text(message.get("content")),
            reasoning=content_text(message.get("reasoning_content")),
        ),
    )
    added = content_text(event.get("extended_content"))
    if added:
        transcript.add(event, Message(role=Role.USER, text=added, kind=Kind.INJECTED))


def _read_action(transcript: EventReplay, event: dict[str, Any]) -> None:
    """One call; the calls of one model response are one message."""
    request = _make_request(event)
    transcript.calls[as_id(event.get("id")) or ""] = request.id or ""
    response = as_text(event.get("llm_response_id"))
    last = transcript.entries[-1] if transcript.entries else None
    if last is not None and response is not None and last.response == response:
        last.message = replace(last.message, requests=(*last.message.requests, request))
        last.events.append(as_id(event.get("id")) or "")
        return
    thinking = content_text(as_list(event.get("thinking_blocks")))
    message = Message(
        role=Role.ASSISTANT,
        text=content_text(event.get("thought")),
        requests=(request,),
        reasoning=content_text(event.get("reasoning_content")) or thinking,
    )
    transcript.add(event, message, response)


def _make_request(event: dict[str, Any]) -> Request:
    """The call as it was run; as the model wrote it where it could not be run."""
    action, written = as_dict(event.get("action")), as_dict(event.get("tool_call"))
    arguments, raw = parse_arguments(written.get("arguments"))
    if isinstance(action.get("data"), dict):
        arguments, raw = action["data"], None
    elif action:
        arguments, raw = {k: v for k, v in action.items() if k != "kind" and v is not None}, None
    return Request(
        tool=as_text(event.get("tool_name")) or as_text(written.get("name")) or "unknown",
        id=as_id(event.get("tool_call_id")) or as_id(event.get("id")),
        arguments=arguments,
        raw=raw,
    )


def _add_result(transcript: EventReplay, event: dict[str, Any], result: Result) -> None:
    """A result, joined by the call's id or else by the event that asked."""
    asked = transcript.calls.get(as_id(event.get("action_id")) or "")
    call_id = as_id(event.get("tool_call_id")) or asked
    named = replace(result, call_id=call_id, tool=as_text(event.get("tool_name")))
    transcript.add(event, Message(role=Role.TOOL, results=(named,)))


def _read_observation(transcript: EventReplay, event: dict[str, Any]) -> None:
    seen = as_dict(event.get("observation"))
    failed = as_bool(seen.get("is_error"))
    if failed is None and "error" in seen:
        # The first releases wrote the error itself, null where there was none.
        failed = bool(seen["error"])
    metadata = as_dict(seen.get("metadata"))
    code = as_int(seen.get("exit_code"))
    text = content_text(seen.get("content")) or content_text(seen.get("output"))
    result = Result(
        text=wrap_output(text or content_text(seen.get("error")), metadata),
        is_error=failed,
        exit_code=as_int(metadata.get("exit_code")) if code is None else code,
    )
    _add_result(transcript, event, result)


def _read_agent_error(transcript: EventReplay, event: dict[str, Any]) -> None:
    _add_result(transcript, event, Result(text=content_text(event.get("error")), is_error=True))


def _read_rejection(transcript: EventReplay, event: dict[str, Any]) -> None:
    reason = content_text(event.get("rejection_reason"))
    _add_result(transcript, event, Result(text=reason, status=Status.REJECTED))


def _read_condensation(transcript: EventReplay, event: dict[str, Any]) -> None:
    forgotten = frozenset(filter(None, map(as_id, as_list(event.get("forgotten_event_ids")))))
    transcript.compact(event, forgotten.__contains__, content_text(event.get("summary")))


def _read_summary(transcript: EventReplay, event: dict[str, Any]) -> None:
    text = content_text(event.get("summary"))
    transcript.add(event, Message(role=Role.USER, text=text, kind=Kind.SUMMARY))


def _read_failure(transcript: EventReplay, event: dict[str, Any]) -> None:
    transcript.state = as_text(event.get("code")) or "error"


def _read_state(transcript: EventReplay, event: dict[str, Any]) -> None:
    if event.get("key") == "execution_status":
        transcript.state = as_text(event.get("value")) or transcript.state


def _read_foreign_call(transcript: EventReplay, event: dict[str, Any]) -> None:
    """A call another agent made behind the agent protocol; written again as it proceeds."""
    call_id = as_id(event.get("tool_call_id")) or as_id(event.get("id")) or ""
    tool = as_text(event.get("tool_kind")) or as_text(event.get("title")) or "unknown"
    if call_id not in transcript.calls:
        transcript.calls[call_id] = call_id
        request = make_request(tool, call_id, event.get("raw_input"))
        transcript.add(event, Message(role=Role.ASSISTANT, requests=(request,)))
    if event.get("status") in ("completed", "failed") and call_id not in transcript.answered:
        transcript.answered.add(call_id)
        output = event.get("raw_output")
        text = content_text(output) or ("" if output is None else encode_text(output))
        result = Result(
            text=text or content_text(event.get("content")),
            call_id=call_id,
            tool=tool,
            is_error=event.get("is_error") is True or event["status"] == "failed",
        )
        transcript.add(event, Message(role=Role.TOOL, results=(result,)))


HANDLERS: dict[str, Callable[[EventReplay, dict[str, Any]], None]] = {
    "SystemPromptEvent": _read_system,
    "MessageEvent": _read_message,
    "ActionEvent": _read_action,
    "ObservationEvent": _read_observation,
    "AgentErrorEvent": _read_agent_error,
    "UserRejectObservation": _read_rejection,
    "Condensation": _read_condensation,
    "CondensationSummaryEvent": _read_summary,
    "ConversationErrorEvent": _read_failure,
    "ConversationStateUpdateEvent": _read_state,
    "ACPToolCallEvent": _read_foreign_call,
    "CondensationRequest": _pass_over,
    "PauseEvent": _pass_over,
    "InterruptEvent": _pass_over,
    "TokenEvent": _pass_over,
    "LLMCompletionLogEvent": _pass_over,
    "StreamingDeltaEvent": _pass_over,
    "HookExecutionEvent": _pass_over,
}
