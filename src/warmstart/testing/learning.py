"""A scripted model that does better when shown examples, for demonstrations.

It is asked to read files ("Read notes/a.txt ...") and reads each file named, one call at a time.
Before a call it may slip and write the path as an absolute one, which the sandbox refuses; then it
reads the error and does it right. How often it slips depends on the task and on whether the prompt
shows examples of the same tool. Every draw follows from the request's seed, so the same trial
gives the same answers however often it is run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from warmstart.testing.script import Reply, ToolCall
from warmstart.wire import Prompt

READ_TOOL = "read_file"
_PATH = re.compile(r"(?<![\w/.-])(?:[\w-]+/)*[\w-]+\.\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningModel:
    """The policy; give it to a ScriptedEndpoint."""

    cold_slips: float = 0.5
    """Share of calls that go wrong at first, on a task of middling difficulty."""
    warm_slips: float = 0.15
    spread: float = 0.6
    """How much tasks differ: 0 for not at all, 1 for between none and twice as often."""
    seed: int = 0

    def __call__(self, prompt: Prompt) -> Reply:
        """Ask for the next file, or answer with what was read."""
        paths = list(dict.fromkeys(_PATH.findall(prompt.asked)))
        results = [result.text for message in prompt.since_asked for result in message.results]
        read = [text for text in results if not is_failure(text)]
        if len(read) >= len(paths):
            return Reply("I read: " + " | ".join(text.strip() for text in read))
        path = paths[len(read)]
        slipped = bool(results) and is_failure(results[-1])
        if not slipped and self._slips(prompt, len(read)):
            path = f"/{path}"
        return Reply(calls=(ToolCall(READ_TOOL, {"path": path}),))

    def _slips(self, prompt: Prompt, place: int) -> bool:
        is_warm = any(call.tool == READ_TOOL for call in prompt.examples)
        base = self.warm_slips if is_warm else self.cold_slips
        harder = 1 + self.spread * (2 * self._draw("task", prompt.asked) - 1)
        drawn = self._draw("slip", prompt.asked, prompt.seed, place, is_warm)
        return drawn < min(base * harder, 0.95)

    def _draw(self, *parts: object) -> float:
        """A number from 0 to 1 that follows from the parts alone."""
        data = repr((self.seed, *parts)).encode("utf-8", "surrogatepass")
        return int.from_bytes(sha256(data).digest()[:7]) / 2**56


def is_failure(result: str) -> bool:
    """Whether a tool reported that it failed."""
    return result.startswith('{"error"')
