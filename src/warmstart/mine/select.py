"""Which examples are kept: where agents fail most, each saying something the others do not.

Greedy: each step takes the example with the largest gain. A tool's worth is its error rate times
its use; it falls with each example the tool already has, and with what an example shares with
those chosen. No session may supply more than its share.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warmstart.mine.candidates import PRIOR_CALLS, PRIOR_ERRORS, ToolStat
from warmstart.mine.merge import TOLD_CHARS, Family
from warmstart.mine.results import LEFT_OUT, NOTHING
from warmstart.model import Example, PatternType

MAX_PER_TOOL = 3
SESSION_SHARE = 4
"""No session supplies more than one example in this many (but two are always allowed)."""
TYPE_BONUS = 1.5
ONE_SESSION = 0.5
"""What one session did may be its own way only."""
_WORDS = re.compile(r"[A-Za-z_][\w-]{2,}")


class _Candidate(NamedTuple):
    """A family and what does not change about it while others are taken."""

    family: Family
    words: frozenset[str]
    worth: float


@dataclass(slots=True)
class _Chosen:
    """What has been taken so far."""

    tools: Counter[str]
    sessions: Counter[str]
    types: set[PatternType]
    words: list[frozenset[str]]


def select_examples(
    families: Sequence[Family], stats: Mapping[str, ToolStat], limit: int, *, shared: bool = True
) -> list[Example]:
    """At most ``limit`` examples, most useful first; ``shared`` holds the cap per session."""
    per_session = max(2, -(-limit // SESSION_SHARE)) if shared else limit
    chosen = _Chosen(Counter(), Counter(), set(), [])
    left = [
        _Candidate(family, _words(family.example), _worth(family.example, stats))
        for family in families
        if _is_informative(family.example)
    ]
    # An agent with one tool has nothing else to be taught about.
    per_tool = max(MAX_PER_TOOL, limit // max(len({one.family.example.tool for one in left}), 1))
    picked: list[Example] = []
    while left and len(picked) < limit:
        allowed = [
            one
            for one in left
            if chosen.tools[one.family.example.tool] < per_tool
            and chosen.sessions[one.family.session] < per_session
        ]
        if not allowed:
            break
        best = max(allowed, key=lambda one: _gain(one, chosen))
        left.remove(best)
        family, words, _ = best
        picked.append(family.example)
        chosen.tools[family.example.tool] += 1
        chosen.sessions[family.session] += 1
        chosen.types.add(family.example.pattern_type)
        chosen.words.append(words)
    return picked


def _is_informative(example: Example) -> bool:
    """An example must show a call, and say something in its result or words."""
    says = example.result not in (NOTHING, LEFT_OUT) or example.closing
    return bool(example.arguments) and bool(says)


def _worth(example: Example, stats: Mapping[str, ToolStat]) -> float:
    """What an example is worth by itself."""
    stat = stats.get(example.tool)
    weight = stat.weight if stat else PRIOR_ERRORS / PRIOR_CALLS
    worth = math.sqrt(weight) * (1 + math.log2(example.count) + math.log2(example.sessions))
    return worth * _clarity(example) * (1.0 if example.sessions > 1 else ONE_SESSION)


def _gain(one: _Candidate, chosen: _Chosen) -> float:
    """What it adds to those already taken."""
    example = one.family.example
    gain = one.worth / (1 + 2 * chosen.tools[example.tool])
    gain *= 1.0 - max((_likeness(one.words, other) for other in chosen.words), default=0.0)
    return gain * (TYPE_BONUS if example.pattern_type not in chosen.types else 1.0)


def _clarity(example: Example) -> float:
    """How much of the example can be followed: words around it, concrete arguments, a result."""
    filled = 0.3 + 0.3 * bool(example.closing) + 0.2 * (len(example.intent) >= TOLD_CHARS[0])
    filled += 0.2 * (example.result not in (NOTHING, LEFT_OUT))
    shown = str(list(example.arguments.values()))
    names = len(_WORDS.findall(re.sub(r"<[a-z_-]+\d*>", "", shown)))
    holes = len(re.findall(r"<[a-z_-]+\d*>", shown))
    return filled * (names + 1) / (names + holes + 1)


def _words(example: Example) -> frozenset[str]:
    return frozenset(_WORDS.findall(f"{example.tool} {list(example.arguments.values())}"))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    together = len(one | other)
    return len(one & other) / together if together else 0.0
