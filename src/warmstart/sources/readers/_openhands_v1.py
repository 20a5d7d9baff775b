"""OpenHands V1 events (``kind`` names the type) to messages.

Calls and results are joined by the model's own call ids; the calls of one model response become
one message again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from warmstart.model import Kind, Message, Request, Result, Role, Status
from warmstart.sources.fields import (
    as_bool,
    as_dict,
    as_id,
    as_int,
    as_list,
    as_text,
    content_text,
    parse_arguments,
)
from warmstart.sources.json_text import dump
from warmstart.sources.readers._openhands_transcript import Transcript, wrap_output


def read_event(transcript: Transcript, event: dict[str, Any]) -> bool:
    """Take an event into the conversation; False where its kind is not known."""
    event_id = as_id(event.get("id"))
    if event_id is not None and "parent_id" in event:
        transcript.parents[event_id] = as_id(event["parent_id"])
    handler = HANDLERS.get(event["kind"])
    if handler is not None:
        handler(transcript, event)
    return handler is not None


def _pass_over(transcript: Transcript, event: dict[str, Any]) -> None:
    """Bookkeeping that is no part of the conversation."""


def _read_system(transcript: Transcript, event: dict[str, Any]) -> None:
    parts = [content_text(event.get(key)) for key in ("system_prompt", "dynamic_context")]
    text = "\n\n".join(part for part in parts if part)
    transcript.add(event, Message(role=Role.SYSTEM, text=text))


def _read_message(transcript: Transcript, event: dict[str, Any]) -> None:
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


def _read_action(transcript: Transcript, event: dict[str, Any]) -> None:
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


def _add_result(transcript: Transcript, event: dict[str, Any], result: Result) -> None:
    """A result, joined by the call's id or else by the event that asked."""
    asked = transcript.calls.get(as_id(event.get("action_id")) or "")
    call_id = as_id(event.get("tool_call_id")) or asked
    named = replace(result, call_id=call_id, tool=as_text(event.get("tool_name")))
    transcript.add(event, Message(role=Role.TOOL, results=(named,)))


def _read_observation(transcript: Transcript, event: dict[str, Any]) -> None:
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


def _read_agent_error(transcript: Transcript, event: dict[str, Any]) -> None:
    _add_result(transcript, event, Result(text=content_text(event.get("error")), is_error=True))


def _read_rejection(transcript: Transcript, event: dict[str, Any]) -> None:
    reason = content_text(event.get("rejection_reason"))
    _add_result(transcript, event, Result(text=reason, status=Status.REJECTED))


def _read_condensation(transcript: Transcript, event: dict[str, Any]) -> None:
    forgotten = frozenset(filter(None, map(as_id, as_list(event.get("forgotten_event_ids")))))
    transcript.compact(event, forgotten.__contains__, content_text(event.get("summary")))


def _read_summary(transcript: Transcript, event: dict[str, Any]) -> None:
    text = content_text(event.get("summary"))
    transcript.add(event, Message(role=Role.USER, text=text, kind=Kind.SUMMARY))


def _read_failure(transcript: Transcript, event: dict[str, Any]) -> None:
    transcript.state = as_text(event.get("code")) or "error"


def _read_state(transcript: Transcript, event: dict[str, Any]) -> None:
    if event.get("key") == "execution_status":
        transcript.state = as_text(event.get("value")) or transcript.state


def _read_foreign_call(transcript: Transcript, event: dict[str, Any]) -> None:
    """A call another agent made behind the agent protocol; told again as it proceeds."""
    call_id = as_id(event.get("tool_call_id")) or as_id(event.get("id")) or ""
    tool = as_text(event.get("tool_kind")) or as_text(event.get("title")) or "unknown"
    if call_id not in transcript.calls:
        transcript.calls[call_id] = call_id
        arguments, raw = parse_arguments(event.get("raw_input"))
        request = Request(tool=tool, id=call_id, arguments=arguments, raw=raw)
        transcript.add(event, Message(role=Role.ASSISTANT, requests=(request,)))
    if event.get("status") in ("completed", "failed") and call_id not in transcript.answered:
        transcript.answered.add(call_id)
        output = event.get("raw_output")
        text = content_text(output) or ("" if output is None else dump(output))
        result = Result(
            text=text or content_text(event.get("content")),
            call_id=call_id,
            tool=tool,
            is_error=event.get("is_error") is True or event["status"] == "failed",
        )
        transcript.add(event, Message(role=Role.TOOL, results=(result,)))


HANDLERS: dict[str, Callable[[Transcript, dict[str, Any]], None]] = {
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
