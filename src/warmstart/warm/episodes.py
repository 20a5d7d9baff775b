"""Examples and recoveries as the messages they become, with what each is worth and costs.

In an episode the user asks, the agent calls, the tool answers, and the agent closes.
Every call in it has its result and its last turn is the agent's, so that any sequence of episodes
can stand in front of a task. Long values are cut so that their beginning and end stay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from warmstart.model import (
    CALL_ID_PREFIX,
    Certainty,
    ErrorClass,
    Example,
    Kind,
    Message,
    Recovery,
    Request,
    Result,
    Role,
    Template,
)
from warmstart.warm.tokens import estimate_tokens
from warmstart.wire import encode_json

HEAD_SHARE = 0.7
MAX_ARGUMENT_DEPTH = 8
MAX_ITEMS = 20
CUT = "[…]"
MESSAGE_TOKENS = 4
"""What a provider's format adds to each message."""
CALL_TOKENS = 12
"""What it adds to a call and its result: ids, names, quotes."""
NO_CLOSING = "Done."
CERTAINTY_WORTH = {Certainty.EXPLICIT: 1.0, Certainty.STRUCTURAL: 0.9, Certainty.TEXTUAL: 0.6}
BASE_WORTH = 0.15
"""What an example of a tool that never fails is worth beside one of a tool that always does."""
ERROR_WORDS = {
    ErrorClass.NOT_FOUND: "something was not found",
    ErrorClass.PERMISSION: "it was not permitted",
    ErrorClass.TIMEOUT: "it took too long",
    ErrorClass.SYNTAX: "of a syntax error",
    ErrorClass.BAD_ARGUMENTS: "its arguments were wrong",
    ErrorClass.UNKNOWN_TOOL: "there is no such tool",
    ErrorClass.NONZERO_EXIT: "the command failed",
    ErrorClass.NETWORK: "of the network",
    ErrorClass.RATE_LIMIT: "of a rate limit",
    ErrorClass.CONFLICT: "of a conflict",
    ErrorClass.TEST_FAILURE: "a test failed",
    ErrorClass.CRASH: "the program crashed",
    ErrorClass.OTHER: "of an error",
}


DEFAULT_BUDGET = 1500
"""Tokens. Long prefixes cost more than they teach; this leaves room for guidance and a few
examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUpLimits:
    """What a warm-up may hold at most beside its budget, and which files still exist."""

    examples: int = 6
    """Episodes altogether, examples and recoveries."""
    per_tool: int = 3
    result_chars: int = 800
    argument_chars: int = 400
    """For each text among a call's arguments."""
    text_chars: int = 300
    """For the texts of the user and the agent."""
    markers: int = 5
    existing: frozenset[str] | None = None
    """Files among the template's markers that still exist; None if that was not looked up."""


DEFAULT_LIMITS = WarmUpLimits()


class Step(NamedTuple):
    """One call with its result."""

    tool: str
    arguments: Mapping[str, Any]
    result: str
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUpEpisode:
    """One example or recovery that may go into a warm-up."""

    part: str
    """``example:2`` or ``recovery:0``, by its place in the template."""
    tool: str
    tools: frozenset[str]
    ask: str
    steps: tuple[Step, ...]
    closing: str
    worth: float
    tokens: int


def list_episodes(template: Template, limits: WarmUpLimits) -> list[WarmUpEpisode]:
    """Every example and recovery of a template, cut to size, in the template's order."""
    failing = _weigh_tools(template)
    episodes = [
        _from_example(index, example, failing, limits)
        for index, example in enumerate(template.examples)
    ]
    episodes += [
        _from_recovery(index, recovery, failing, limits)
        for index, recovery in enumerate(template.recoveries)
    ]
    return episodes


def write_messages(episodes: Sequence[WarmUpEpisode]) -> tuple[Message, ...]:
    """The messages of chosen episodes; call ids are numbered, never random."""
    messages: list[Message] = []
    number = 0
    for episode in episodes:
        messages.append(_make_message(Role.USER, episode.ask))
        for step in episode.steps:
            number += 1
            messages += _write_step(step, f"{CALL_ID_PREFIX}{number}")
        messages.append(_make_message(Role.ASSISTANT, episode.closing))
    return tuple(messages)


def _make_message(role: Role, text: str) -> Message:
    return Message(role=role, text=text, kind=Kind.WARMUP)


def _write_step(step: Step, call_id: str) -> tuple[Message, Message]:
    request = Request(tool=step.tool, id=call_id, arguments=step.arguments)
    result = Result(text=step.result, call_id=call_id, tool=step.tool, is_error=step.failed)
    return (
        Message(role=Role.ASSISTANT, requests=(request,), kind=Kind.WARMUP),
        Message(role=Role.TOOL, results=(result,), kind=Kind.WARMUP),
    )


def _weigh_tools(template: Template) -> dict[str, float]:
    """Each tool's share of all failed calls: tokens are spent where agents fail."""
    errors = {line.tool: line.errors for line in template.guidance}
    total = sum(errors.values())
    return {tool: count / total for tool, count in errors.items()} if total else {}


def _from_example(
    index: int, example: Example, failing: Mapping[str, float], limits: WarmUpLimits
) -> WarmUpEpisode:
    worth = (
        (BASE_WORTH + failing.get(example.tool, 0.0))
        * CERTAINTY_WORTH[example.certainty]
        * (1 + math.log(max(example.sessions, 1)))
    )
    step = Step(
        example.tool,
        shorten_arguments(example.arguments, limits.argument_chars),
        shorten(example.result, limits.result_chars),
    )
    ask = shorten_line(example.intent, limits.text_chars) or f"Please use {example.tool}."
    closing = shorten(example.closing.strip(), limits.text_chars) or NO_CLOSING
    return _make(f"example:{index}", ask, (step,), closing, worth)


def _from_recovery(
    index: int, recovery: Recovery, failing: Mapping[str, float], limits: WarmUpLimits
) -> WarmUpEpisode:
    proven = (recovery.count + 1) / (max(recovery.tries, recovery.count) + 2)
    worth = (
        (BASE_WORTH + failing.get(recovery.tool, 0.0))
        * 2
        * proven
        * (1 + math.log(max(recovery.sessions, 1)))
    )
    first = Step(
        recovery.tool,
        shorten_arguments(recovery.failed_arguments, limits.argument_chars),
        shorten(recovery.error, limits.result_chars // 2),
        failed=True,
    )
    second = Step(
        recovery.repaired_by,
        shorten_arguments(recovery.arguments, limits.argument_chars),
        shorten(recovery.result, limits.result_chars // 2),
    )
    ask = f"What if {recovery.tool} fails because {ERROR_WORDS[recovery.error_class]}?"
    change = shorten(recovery.change.strip(), limits.text_chars)
    closing = f"That worked: {change}" if change else "The second call worked."
    return _make(f"recovery:{index}", ask, (first, second), closing, worth)


def _make(
    part: str, ask: str, steps: tuple[Step, ...], closing: str, worth: float
) -> WarmUpEpisode:
    tokens = estimate_tokens(ask) + estimate_tokens(closing) + 2 * MESSAGE_TOKENS
    for step in steps:
        tokens += estimate_tokens(encode_json(step.arguments).decode())
        tokens += estimate_tokens(step.result) + estimate_tokens(step.tool)
        tokens += 2 * MESSAGE_TOKENS + CALL_TOKENS
    return WarmUpEpisode(
        part=part,
        tool=steps[0].tool,
        tools=frozenset(step.tool for step in steps),
        ask=ask,
        steps=steps,
        closing=closing,
        worth=worth,
        tokens=tokens,
    )


def shorten(text: str, limit: int) -> str:
    """A text cut to ``limit`` characters, with a note of how many are missing."""
    if len(text) <= limit:
        return text
    head = int(limit * HEAD_SHARE)
    tail = limit - head
    left_out = len(text) - limit
    return f"{text[:head].rstrip()}\n[… {left_out} characters …]\n{text[-tail:].lstrip()}"


def shorten_line(text: str, limit: int) -> str:
    """A text on one line of at most ``limit`` characters, its end cut off."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def shorten_arguments(arguments: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Arguments with every text cut and every key in order, so that equal ones give equal bytes."""
    return {
        key: _shorten_value(arguments[key], limit, MAX_ARGUMENT_DEPTH) for key in sorted(arguments)
    }


def _shorten_value(value: Any, limit: int, depth: int) -> Any:
    if isinstance(value, str):
        return shorten(value, limit)
    if depth == 0:
        return value if isinstance(value, int | float | bool | None) else CUT
    if isinstance(value, Mapping):
        keys = sorted(map(str, value))[:MAX_ITEMS]
        named = {str(key): inner for key, inner in value.items()}
        return {key: _shorten_value(named[key], limit, depth - 1) for key in keys}
    if isinstance(value, list | tuple):
        return [_shorten_value(inner, limit, depth - 1) for inner in value[:MAX_ITEMS]]
    return value
