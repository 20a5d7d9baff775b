"""Sessions with invented content, and hypothesis strategies for any session at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from warmstart.export import export_warmstart
from warmstart.model import (
    Certainty,
    Compaction,
    ErrorClass,
    Fate,
    Kind,
    Link,
    Message,
    Outcome,
    Parent,
    Request,
    Result,
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.sources.assemble import build_session
from warmstart.wire import encode_line

STARTED = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def make_session(native_id: str = "ab12cd34-shop-1", **fields: Any) -> Session:
    """Six messages: one call that works, one that fails, one without an answer."""
    messages = fields.pop("messages", None) or make_messages()
    fields.setdefault("project", "/home/dev/shop")
    fields.setdefault("title", "Fix the checkout")
    return build_session(fields.pop("origin", "hermes"), native_id, messages, **fields)


def make_steps(native_id: str, outcomes: str, tool: str = "terminal", **fields: Any) -> Session:
    """A user's wish and a call per letter: x failed, ? was never answered."""
    messages = [Message(role=Role.USER, text="Fix the checkout, please.")]
    for index, letter in enumerate(outcomes):
        request = Request(tool=tool, id=f"c{index}", arguments={"command": f"step {index}"})
        messages.append(Message(role=Role.ASSISTANT, requests=(request,)))
        if letter != "?":
            result = Result(text="done", call_id=f"c{index}", is_error=letter == "x")
            messages.append(Message(role=Role.TOOL, results=(result,)))
    return make_session(native_id, messages=messages, **fields)


def make_messages() -> list[Message]:
    return [
        Message(role=Role.SYSTEM, text="You are careful."),
        Message(role=Role.USER, text="Why does the checkout fail?", timestamp=STARTED),
        Message(
            role=Role.ASSISTANT,
            text="I will look.",
            model="acme-large",
            timestamp=STARTED + 5,
            requests=(
                Request(tool="terminal", id="c1", arguments={"command": "pytest -q"}),
                Request(tool="read_file", id="c2", arguments={"path": "cart.py"}),
                Request(tool="terminal", id="c3", arguments={"command": "git log"}),
            ),
        ),
        Message(
            role=Role.TOOL,
            results=(
                Result(text="1 failed, 3 passed", call_id="c1", is_error=True),
                Result(text="def total(): ...", call_id="c2", is_error=False),
            ),
        ),
        Message(role=Role.ASSISTANT, text="A rounding error.", timestamp=STARTED + 60),
        Message(role=Role.USER, text="Thanks.", timestamp=STARTED + 90),
    ]


def write_export(path: Path, *sessions: Session) -> Path:
    """Sessions as a file of the lossless format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(encode_line(export_warmstart(session)) for session in sessions))
    return path


TEXT = st.text(max_size=20)
NAME = st.text(min_size=1, max_size=20)
MAYBE_TEXT = st.none() | TEXT
NUMBER = st.none() | st.floats(allow_nan=False, allow_infinity=False)
COUNT = st.integers(0, 2**40)
ARGUMENTS = st.dictionaries(
    TEXT,
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT | st.lists(TEXT),
    max_size=3,
)

TOKENS = st.builds(
    Tokens, input=COUNT, output=COUNT, cache_read=COUNT, cache_write=COUNT, reasoning=COUNT
)
REQUESTS = st.builds(Request, tool=NAME, id=MAYBE_TEXT, arguments=ARGUMENTS, raw=MAYBE_TEXT)
RESULTS = st.builds(
    Result,
    text=TEXT,
    call_id=MAYBE_TEXT,
    tool=MAYBE_TEXT,
    is_error=st.none() | st.booleans(),
    exit_code=st.none() | st.integers(-1000, 1000),
    status=st.none() | st.sampled_from(Status),
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(Role),
    text=TEXT,
    requests=st.lists(REQUESTS, max_size=3).map(tuple),
    results=st.lists(RESULTS, max_size=3).map(tuple),
    reasoning=TEXT,
    native_id=MAYBE_TEXT,
    timestamp=NUMBER,
    model=MAYBE_TEXT,
    tokens=st.none() | TOKENS,
    kind=st.sampled_from(Kind),
    fate=st.sampled_from(Fate),
)
OUTCOMES = st.builds(
    Outcome,
    status=st.sampled_from(Status),
    certainty=st.sampled_from(Certainty),
    evidence=TEXT,
    harness_error=st.none() | st.booleans(),
    exit_code=st.none() | st.integers(-1000, 1000),
    error_class=st.none() | st.sampled_from(ErrorClass),
    reason=MAYBE_TEXT,
    masked=st.booleans(),
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Any session the model can hold, its calls joined as readers join them."""
    messages: Sequence[Message] = draw(st.lists(MESSAGES, max_size=5))
    session = build_session(
        draw(NAME),
        draw(NAME),
        messages,
        agent=draw(NAME),
        parent=draw(st.none() | st.builds(Parent, id=NAME, link=st.sampled_from(Link))),
        compactions=tuple(
            draw(st.lists(st.builds(Compaction, at=COUNT, trigger=MAYBE_TEXT), max_size=2))
        ),
        path="/home/dev/any.jsonl",
    )
    calls = tuple(replace(call, outcome=draw(OUTCOMES)) for call in session.calls)
    return replace(
        session,
        calls=calls,
        model=draw(MAYBE_TEXT),
        title=draw(MAYBE_TEXT),
        project=draw(MAYBE_TEXT),
        started_at=draw(NUMBER),
        ended_at=draw(NUMBER),
        end_reason=draw(MAYBE_TEXT),
        cost_usd=draw(NUMBER),
        reward=draw(NUMBER),
        task=draw(MAYBE_TEXT),
        tokens=draw(TOKENS),
    )
