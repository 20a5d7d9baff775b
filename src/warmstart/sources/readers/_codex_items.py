"""The parts of a Codex rollout line by line: what each one says, without any memory of the others.

Calls and outputs are response items; how a call ended is often only in an event about it. A text
such as "Process exited with code 1" is the result itself and is left to the judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from warmstart.model import Kind, Request, Result, Status, Tokens
from warmstart.sources.fields import as_bool, as_count, as_int, as_list, as_text, parse_time
from warmstart.wire import (
    as_dict,
    as_dicts,
    as_id,
    content_text,
    encode_text,
    make_request,
    parse_arguments,
)

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "tool_search_call": "arguments",
    "web_search_call": "action",
    "image_generation_call": "revised_prompt",
}
"""Call items, and the field that holds their arguments."""
SELF_CONTAINED = frozenset({"web_search_call", "image_generation_call"})
"""Calls that the provider runs: the item is both the request and all that is kept of the result."""
OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "tool_search_output",
    }
)
ITEMS = frozenset({"message", "reasoning", *CALLS, *OUTPUTS})
FAILED = {"completed": False, "failed": True, "incomplete": True}

SUMMARY_HEAD = "Another language model started to solve this problem"
INJECTED_HEADS = (
    "# agents.md instructions",
    "<environment_context",
    "<user_instructions",
    "<turn_aborted",
    "<user_shell_command",
    "<user_action",
    "<skill>",
    "<subagent_notification",
    "<recommended_plugins",
    "<goal_context",
    "<codex_internal_context",
    "<hook_prompt",
    "<permissions instructions",
    "<collaboration_mode",
    "<external_",
    "warning: apply_patch was requested via ",
    "warning: the maximum number of unified exec processes",
)
"""How Codex opens the messages it writes in the user's name, in lower case."""
TYPED_KINDS = ("", "unknown", "images.", "audio.", "user.")


class RolloutLine(NamedTuple):
    """One line, in whatever version's wrapping it came."""

    kind: str
    payload: dict[str, Any]
    time: float | None
    ordinal: int | None


_make_line = partial(tuple.__new__, RolloutLine)
"""From a tuple; a named tuple's own constructor takes three times as long."""


def read_line(data: dict[str, Any]) -> RolloutLine | None:
    """Unwrap a line; the first versions wrote bare items after a bare header."""
    kind, payload = data.get("type"), data.get("payload")
    time = parse_time(data.get("timestamp"))
    if isinstance(kind, str) and isinstance(payload, dict):
        ordinal = data.get("ordinal")
        return _make_line((kind, payload, time, None if ordinal is None else as_int(ordinal)))
    if isinstance(kind, str) and kind in ITEMS:
        return RolloutLine("response_item", data, time, None)
    if is_bare_header(data):
        return RolloutLine("session_meta", data, time, None)
    if "record_type" in data:
        return RolloutLine("state", data, time, None)
    return None


def is_bare_header(data: dict[str, Any]) -> bool:
    """Whether it opens a rollout of the first versions."""
    return "type" not in data and "id" in data and ("instructions" in data or "git" in data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What events say about how a call ended."""

    call_id: str
    is_error: bool | None = None
    exit_code: int | None = None
    status: Status | None = None

    def apply_to(self, result: Result) -> Result:
        """The result with what is known; silence takes nothing back."""
        return replace(
            result,
            is_error=result.is_error if self.is_error is None else self.is_error,
            exit_code=result.exit_code if self.exit_code is None else self.exit_code,
            status=self.status or result.status,
        )

    def after(self, earlier: Signal | None) -> Signal:
        """Both events on the same call as one; the later wins where it has a value."""
        if earlier is None:
            return self
        return Signal(
            call_id=self.call_id,
            is_error=earlier.is_error if self.is_error is None else self.is_error,
            exit_code=earlier.exit_code if self.exit_code is None else self.exit_code,
            status=self.status or earlier.status,
        )


def read_signal(event: dict[str, Any]) -> Signal | None:
    """How a call ended, if the event is about that."""
    kind = event.get("type")
    item = as_dict(event.get("item")) if kind == "item_completed" else event
    call_id = as_id(item.get("id" if kind == "item_completed" else "call_id"))
    if call_id is None:
        return None
    status = as_text(item.get("status")) or ""
    return Signal(
        call_id=call_id,
        is_error=_event_failed(item, status),
        exit_code=as_int(item.get("exit_code")),
        status=Status.REJECTED if status == "declined" else None,
    )


def _event_failed(item: dict[str, Any], status: str) -> bool | None:
    success = as_bool(item.get("success"))
    if status == "declined":
        return None
    if success is not None:
        return not success
    result = as_dict(item.get("result"))
    if "Err" in result:
        return True
    if isinstance(result.get("Ok"), dict):
        return as_bool(result["Ok"].get("isError")) or False
    return FAILED.get(status)


def read_request(item: dict[str, Any]) -> Request:
    """The call of a call item."""
    kind = str(item.get("type"))
    value = item.get(CALLS[kind])
    written = {"prompt": value} if kind == "image_generation_call" else value
    return make_request(_tool_name(item, kind), item.get("call_id") or item.get("id"), written)


def _tool_name(item: dict[str, Any], kind: str) -> str:
    """The full name; a server's tools come with the server as their namespace."""
    name = as_text(item.get("name")) or kind.removesuffix("_call")
    namespace = as_text(item.get("namespace"))
    if namespace is None or namespace == "functions":
        return name
    return f"{namespace}{'' if name.startswith('_') else '__'}{name}"


def read_own_result(item: dict[str, Any], request: Request) -> Result:
    """The result of a call that the provider ran; the model saw more than is kept."""
    return Result(
        text="[image]" if as_text(item.get("result")) else "",
        call_id=request.id,
        tool=request.tool,
        is_error=FAILED.get(as_text(item.get("status")) or ""),
    )


def read_result(item: dict[str, Any]) -> Result:
    """The result of an output item."""
    if item.get("type") == "tool_search_output":
        text, success = encode_text(item.get("tools")), None
        failed = FAILED.get(as_text(item.get("status")) or "")
    else:
        output = item.get("output")
        text, success = content_text(output), as_bool(as_dict(output).get("success"))
        failed = None if success is None else not success
    return Result(
        text=text,
        call_id=as_id(item.get("call_id")),
        is_error=failed,
        exit_code=_metadata_exit_code(item.get("output")),
    )


def _metadata_exit_code(output: Any) -> int | None:
    """Older shells answered with an object; its metadata is a field, not prose."""
    if isinstance(output, str) and output.startswith("{"):
        output, _ = parse_arguments(output)
    return as_int(as_dict(as_dict(output).get("metadata")).get("exit_code"))


def read_reasoning(item: dict[str, Any]) -> str:
    """Readable thinking; the rest is encrypted."""
    return content_text([*as_list(item.get("summary")), *as_list(item.get("content"))])


def split_user_text(item: dict[str, Any]) -> Iterator[tuple[Kind, str]]:
    """A user message as (kind, text): what Codex put in first, then what the user typed."""
    content = item.get("content")
    blocks = content if isinstance(content, list) else [content]
    metadata = as_dict(item.get("internal_chat_message_metadata_passthrough"))
    labels = as_list(metadata.get("content_item_kinds"))
    if len(labels) != len(blocks):
        labels = [None] * len(blocks)
    kinds = [_block_kind(content_text([b]), label) for b, label in zip(blocks, labels, strict=True)]
    for kind in (Kind.INJECTED, Kind.SUMMARY, Kind.TURN):
        chosen = [block for block, its in zip(blocks, kinds, strict=True) if its is kind]
        if chosen:
            yield kind, content_text(chosen)


def _block_kind(text: str, label: Any) -> Kind:
    """By Codex's own label where it wrote one, else by how the text opens."""
    if text.startswith(SUMMARY_HEAD):
        return Kind.SUMMARY
    if isinstance(label, str):
        typed = label in TYPED_KINDS or label.startswith(TYPED_KINDS[2:])
    else:
        typed = not text.lstrip()[:60].lower().startswith(INJECTED_HEADS)
    return Kind.TURN if typed else Kind.INJECTED


def find_summary(compacted: dict[str, Any]) -> str | None:
    """The summary a compaction left; None where only the provider can read it."""
    message = as_text(compacted.get("message"))
    if message:
        return message
    history = as_dicts(compacted.get("replacement_history"))
    texts = (content_text(item.get("content")) for item in history if item.get("role") == "user")
    return next((text for text in texts if text.startswith(SUMMARY_HEAD)), None)


def read_usage(value: Any) -> Tokens | None:
    """Codex counts what the cache served and took within the input."""
    usage = as_dict(value)
    read = as_count(usage.get("cached_input_tokens"))
    written = as_count(usage.get("cache_write_input_tokens"))
    tokens = Tokens(
        input=max(as_count(usage.get("input_tokens")) - read - written, 0),
        output=as_count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=as_count(usage.get("reasoning_output_tokens")),
    )
    return tokens if tokens.total else None


class Usage:
    """Tokens by response, in the two ways Codex has written them, often both at once."""

    def __init__(self) -> None:
        self.responses: list[tuple[int, Tokens]] = []
        self.counts: list[tuple[int, Tokens]] = []
        self._seen: set[str] = set()
        self._total: Any = None

    def add_count(self, info: dict[str, Any], payer: int | None) -> bool:
        """Whether it was a new response: counts are sent again whenever a limit changes."""
        total = info.get("total_token_usage")
        if not info or total == self._total:
            return False
        self._total = total
        self._add(self.counts, info.get("last_token_usage"), payer)
        return True

    def add_response(self, record: dict[str, Any], payer: int | None) -> None:
        """Count a response once, however often it is recorded."""
        response = as_text(record.get("response_id"))
        if response not in self._seen:
            self._add(self.responses, record.get("usage"), payer)
        if response:
            self._seen.add(response)

    @staticmethod
    def _add(usage: list[tuple[int, Tokens]], value: Any, payer: int | None) -> None:
        tokens = read_usage(value)
        if tokens and payer is not None:
            usage.append((payer, tokens))

    def choose(self) -> list[tuple[int, Tokens]]:
        """The fuller of the two: a file continued by a newer version has one only in part."""
        return max(self.responses, self.counts, key=lambda used: sum(t.total for _, t in used))
