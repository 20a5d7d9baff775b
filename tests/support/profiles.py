"""Facts with invented content, and simulated worlds whose truth is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from warmstart.model import (
    CallFact,
    Certainty,
    ErrorClass,
    Link,
    Marker,
    MarkerKind,
    Parent,
    SessionFacts,
    Status,
    UserStyleCounts,
)

LETTERS = {
    ".": Status.OK,
    "x": Status.ERROR,
    "r": Status.REJECTED,
    "c": Status.CANCELLED,
    "u": Status.UNANSWERED,
    "?": Status.UNKNOWN,
}


def make_calls(tools: Sequence[str], outcomes: str, **fields: Any) -> tuple[CallFact, ...]:
    """Calls from a tool each and a letter each; every call differs unless ``sames`` says so."""
    sames = fields.get("sames") or range(len(outcomes))
    shapes = fields.get("shapes") or [0] * len(outcomes)
    masked = fields.get("masked") or ()
    return tuple(
        CallFact(
            position=index,
            message=2 * index,
            turn=1,
            tool=tool,
            status=LETTERS[letter],
            certainty=Certainty.EXPLICIT,
            error_class=ErrorClass.NOT_FOUND if letter == "x" else None,
            masked=index in masked,
            arguments_hash=same,
            signature_hash=shape,
        )
        for index, (tool, letter, same, shape) in enumerate(
            zip(tools, outcomes, sames, shapes, strict=True)
        )
    )


def make_facts(outcomes: str = "", tool: str = "bash", **fields: Any) -> SessionFacts:
    """A session of one tool, a letter per call."""
    calls = fields.pop("calls", None)
    if calls is None:
        calls = make_calls([tool] * len(outcomes), outcomes)
    fields.setdefault("id", "test:one")
    fields.setdefault("origin", "test")
    fields.setdefault("agent", "test")
    fields.setdefault("messages", 2 * len(calls))
    return SessionFacts(calls=calls, **fields)


def continuation(parent: str, outcomes: str, **fields: Any) -> SessionFacts:
    """A session that goes on after a rotating compaction."""
    link = fields.pop("link", Link.COMPACTION)
    return make_facts(outcomes, parent=Parent(id=parent, link=link), **fields)


def simulate(
    sessions: int,
    seed: int,
    chance: Callable[[float, int], float],
    *,
    ends_on_error: float = 0.0,
    ends: float = 0.015,
    spread: float = 0.0,
) -> list[SessionFacts]:
    """Sessions whose calls fail with ``chance(own rate, position)``.

    ``spread`` is how much sessions differ (sd of the log rate), ``ends_on_error`` the chance that
    a failure is the last call: together they make reliable sessions long without any learning.
    """
    draw = random.Random(seed)  # noqa: S311 - a simulation, no secret
    made = []
    for number in range(sessions):
        own = math.exp(draw.gauss(0.0, spread) - spread * spread / 2)
        letters = []
        for position in range(600):
            failed = draw.random() < chance(own, position)
            letters.append("x" if failed else ".")
            if draw.random() < (ends_on_error if failed else ends):
                break
        tools = [draw.choice(("bash", "read_file", "edit")) for _ in letters]
        calls = make_calls(tools, "".join(letters))
        made.append(make_facts(id=f"sim:{number}", calls=calls, model="m", project="p"))
    return made


def no_learning(sessions: int, seed: int) -> list[SessionFacts]:
    """Error-prone sessions end sooner; nobody learns."""
    return simulate(
        sessions, seed, lambda own, _: min(0.9, 0.08 * own), ends_on_error=0.12, spread=0.9
    )


def real_learning(sessions: int, seed: int) -> list[SessionFacts]:
    """Everybody gets better; when a session ends has nothing to do with it."""
    return simulate(
        sessions, seed, lambda _, at: 0.25 * math.exp(-0.5 * math.log2(1 + at / 10)), ends=0.02
    )


def getting_worse(sessions: int, seed: int) -> list[SessionFacts]:
    """Errors rise with position."""
    return simulate(
        sessions, seed, lambda _, at: min(0.6, 0.03 * math.exp(0.5 * math.log2(1 + at / 10)))
    )


def given_up_after_errors(sessions: int, seed: int, rate: float = 0.15) -> list[SessionFacts]:
    """One tool that fails as often as ever; three failures in a row end a session."""
    draw = random.Random(seed)  # noqa: S311 - a simulation, no secret
    made = []
    for number in range(sessions):
        letters = ""
        while len(letters) < 200 and not letters.endswith("xxx"):
            letters += "x" if draw.random() < rate else "."
        made.append(make_facts(letters, id=f"sim:{number}"))
    return made


def clusters_of(sessions: Iterable[SessionFacts]) -> list[tuple[float, float]]:
    """Errors and judged calls of each session."""
    made = []
    for facts in sessions:
        statuses = [call.status for call in facts.calls]
        errors = statuses.count(Status.ERROR)
        made.append((float(errors), float(errors + statuses.count(Status.OK))))
    return made


MARKERS = st.lists(
    st.builds(
        Marker, st.sampled_from(MarkerKind), st.sampled_from(["a.py", "b.go", "x"]),
        st.integers(1, 9)),
    max_size=3,
)  # fmt: skip
USER_STYLES = st.builds(
    UserStyleCounts, messages=st.integers(0, 5), words=st.integers(0, 300), questions=st.integers(0, 5),
    commands=st.integers(0, 5), corrections=st.integers(0, 5), long=st.integers(0, 5),
    short=st.integers(0, 5), polite=st.integers(0, 5),
)  # fmt: skip


@st.composite
def any_facts(draw: st.DrawFn) -> SessionFacts:
    """Any session: every status, few tools, repeats, markers, a style."""
    outcomes = draw(st.text(alphabet="..xrcu?", max_size=40))
    size = len(outcomes)
    pick = st.sampled_from(["bash", "read_file", "todo", "web_search", "mcp__x__y"])
    tools = draw(st.lists(pick, min_size=size, max_size=size))
    sames = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    return make_facts(
        id=f"test:{draw(st.integers(0, 10**6))}",
        calls=make_calls(tools, outcomes, sames=sames),
        model=draw(st.sampled_from([None, "m1", "m2"])),
        project=draw(st.sampled_from([None, "/p"])),
        started_at=draw(st.none() | st.floats(0, 2e9)),
        ended_at=draw(st.none() | st.floats(0, 2e9)),
        markers=tuple(draw(MARKERS)),
        user_style=draw(USER_STYLES),
        messages=draw(st.integers(0, 300)),
        compactions=tuple(draw(st.lists(st.integers(0, 40), max_size=2))),
    )
