"""What a scripted model is asked and what it answers, whichever API the question came through."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class ToolCall(NamedTuple):
    """A call the model makes."""

    name: str
    arguments: Mapping[str, Any] = {}
    raw: str | None = None
    """Argument text sent as it is, to play a model that writes no JSON."""


class Turn(NamedTuple):
    """One entry of the conversation a model is shown."""

    role: str
    """``user``, ``assistant`` or ``tool``."""
    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request in one form for every API."""

    api: str
    """``chat``, ``responses`` or ``messages``."""
    model: str = ""
    system: str = ""
    turns: tuple[Turn, ...] = ()
    tools: tuple[str, ...] = ()
    seed: int | None = None
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def since_asked(self) -> tuple[Turn, ...]:
        """What came after the user's last words: this task's own calls and results."""
        last = max((i for i, turn in enumerate(self.turns) if turn.role == "user"), default=-1)
        return self.turns[last + 1 :]

    @property
    def asked(self) -> str:
        """The user's last words."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == "user"), "")

    @property
    def examples(self) -> tuple[ToolCall, ...]:
        """Calls from before the user's last words."""
        before = self.turns[: len(self.turns) - len(self.since_asked)]
        return tuple(call for turn in before for call in turn.calls)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int | None = None
    """None for a count by the length of the prompt."""
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """An answer that is none."""

    status: int = 500
    body: str = '{"error": {"message": "scripted fault"}}'
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection without a word."""
    delay_seconds: float = 0.0


Answer = Reply | Fault
Policy = Callable[[Prompt], Answer]


class Script:
    """The answers given, one per request, whoever asks; the last one repeats."""

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
        seen = sum(turn.role == "tool" for turn in prompt.since_asked)
        return answers[min(seen, len(answers) - 1)]

    return policy
