"""OpenHands V0 events (``action`` with ``args``, ``observation`` with ``extras``) to messages.

An observation names the action that caused it; in early evaluation files it names nothing and
answers the call just before it. ``finish`` is how a run ends and has no observation: it is a
message, not a call.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from warmstart.model import Kind, Message, Request, Result, Role, Status, Tokens
from warmstart.sources.fields import (
    as_bool,
    as_dict,
    as_id,
    as_int,
    as_list,
    as_text,
    content_text,
    parse_arguments,
    parse_tokens,
)
from warmstart.sources.readers._openhands_transcript import Transcript, wrap_output

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
_USAGE_NAMES = {"input": "prompt_tokens", "output": "completion_tokens"}


def read_action(transcript: Transcript, event: dict[str, Any], action: str) -> None:
    """Take an action into the conversation; those of the harness itself are passed over."""
    args = as_dict(event.get("args"))
    by_user = event.get("source") == "user"
    if action in HARNESS:
        return
    if action == "system":
        transcript.add(event, Message(role=Role.SYSTEM, text=content_text(args.get("content"))))
    elif action == "condensation":
        _read_condensation(transcript, event, args)
    elif action in SPEECH or by_user:
        # A command the user ran is the user's, not one of the agent's calls.
        keys = ("content", "final_thought", "thought", "command", "code")
        text = next(filter(None, (content_text(args.get(key)) for key in keys)), "")
        transcript.add(event, Message(role=Role.USER if by_user else Role.ASSISTANT, text=text))
    else:
        _read_call(transcript, event, action, args)


def _read_call(
    transcript: Transcript, event: dict[str, Any], action: str, args: dict[str, Any]
) -> None:
    metadata = as_dict(event.get("tool_call_metadata"))
    event_id = as_id(event.get("id"))
    call_id = as_id(metadata.get("tool_call_id")) or f"event {event_id or len(transcript.entries)}"
    request = _make_request(action, call_id, args)
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


def _make_request(action: str, call_id: str, args: dict[str, Any]) -> Request:
    """The call under the action's name, or under the tool's own behind an MCP server."""
    name = as_text(args.get("name"))
    if action in ("call_tool_mcp", "mcp") and name:
        arguments, raw = parse_arguments(args.get("arguments"))
        return Request(tool=name, id=call_id, arguments=arguments, raw=raw)
    asked = {k: v for k, v in args.items() if k not in BOOKKEEPING and v is not None}
    return Request(tool=action, id=call_id, arguments=asked)


def _bill_once(transcript: Transcript, response: dict[str, Any]) -> Tokens | None:
    """Tokens of a model response: it is repeated with each of its calls, and counts once."""
    response_id = as_id(response.get("id"))
    if response_id is None or response_id in transcript.billed:
        return None
    transcript.billed.add(response_id)
    usage = as_dict(response.get("usage"))
    tokens = parse_tokens(usage, _USAGE_NAMES)
    cached = as_int(as_dict(usage.get("prompt_tokens_details")).get("cached_tokens")) or 0
    if tokens is None or not 0 < cached <= tokens.input:
        return tokens
    return replace(tokens, input=tokens.input - cached, cache_read=cached)


def _read_condensation(transcript: Transcript, event: dict[str, Any], args: dict[str, Any]) -> None:
    listed = frozenset(filter(None, map(as_id, as_list(args.get("forgotten_event_ids")))))
    first = as_int(args.get("forgotten_events_start_id"))
    last = as_int(args.get("forgotten_events_end_id"))

    def forgets(event_id: str) -> bool:
        number = as_int(event_id)
        if first is None or last is None or number is None:
            return event_id in listed
        return event_id in listed or first <= number <= last

    transcript.compact(event, forgets, content_text(args.get("summary")))


def read_observation(transcript: Transcript, event: dict[str, Any], kind: str) -> None:
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


def _find_call(transcript: Transcript, event: dict[str, Any], kind: str) -> str | None:
    """The call an observation answers: by cause, by call id, else the call just before it."""
    cause = as_id(event.get("cause")) or ""
    if cause in transcript.calls:
        return transcript.calls[cause]
    call_id = as_id(as_dict(event.get("tool_call_metadata")).get("tool_call_id"))
    if call_id is not None or transcript.latest is None:
        return call_id
    latest, action = transcript.latest
    return latest if kind in (action, "error", "user_rejected") else None
