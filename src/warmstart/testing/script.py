"""What a scripted model answers, whichever API the question came through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from warmstart.wire import Prompt


class ToolCall(NamedTuple):
    """A call the model makes."""

    name: str
    arguments: Mapping[str, Any] = {}
    raw: str | None = None
    """Argument text sent as it is, to play a model that does not write JSON."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int | None = None
    """None for a count by the length of the prompt."""
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A failure in place of an answer."""

    status: int = 500
    body: str = '{"error": {"message": "scripted fault"}}'
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection without a word."""
    delay_seconds: float = 0.0


Answer = Reply | Fault
Policy = Callable[[Prompt], Answer]


class Script:
    """The answers given, one per request; the last one repeats."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = answers
        self._asked = 0
        self._lock = threading.Lock()

    def __call__(self, prompt: Prompt) -> Answer:
        """The next answer."""
        del prompt
        with self._lock:
            number = min(self._asked, len(self._answers) - 1)
            self._asked += 1
        return self._answers[number]


def by_turn(*answers: Answer) -> Policy:
    """Answers chosen by how many results the model has since it was asked.

    A request that is sent again, or one for another purpose in between, changes nothing.
    """

    def policy(prompt: Prompt) -> Answer:
        seen = sum(len(message.results) for message in prompt.since_asked)
        return answers[min(seen, len(answers) - 1)]

    return policy
