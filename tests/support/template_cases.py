"""Templates to test with: one that has everything, and any that hypothesis can think of."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from warmstart.model import Marker, MarkerKind
from warmstart.model.outcome import Certainty, ErrorClass
from warmstart.model.template import (
    ArgumentUse,
    Example,
    Guidance,
    PatternType,
    Provenance,
    Recovery,
    Template,
    ToolArguments,
    UserPatterns,
)


def make_template(name: str = "py-tests", **fields: Any) -> Template:
    """A template with something in every field."""
    values: dict[str, Any] = {
        "description": "Run and repair the tests of a Python project.",
        "task_type": "code",
        "tags": ("python", "pytest"),
        "anchors": ("fix the failing test",),
        "system_context": "Tests run with pytest from the root of the project.",
        "guidance": (
            Guidance(tool="patch", text="read the lines before you patch", calls=120, errors=21),
        ),
        "examples": (
            Example(
                tool="terminal",
                arguments={"command": "pytest -q <path>"},
                result="3 passed in 0.41s",
                intent="Are the tests green?",
                closing="All three pass.",
                pattern_type=PatternType.FINAL,
                certainty=Certainty.EXPLICIT,
                count=14,
                sessions=6,
            ),
        ),
        "recoveries": (
            Recovery(
                tool="patch",
                error_class=ErrorClass.NOT_FOUND,
                signature="old_string not found",
                failed_arguments={"path": "<path>", "old_string": "a"},
                error="old_string not found in file",
                repaired_by="read_file",
                arguments={"path": "<path>"},
                result="1: a = 1",
                change="read the file first",
                count=9,
                tries=11,
                sessions=5,
            ),
        ),
        "arguments": (
            ToolArguments(
                tool="terminal",
                calls=300,
                arguments=(ArgumentUse(name="command", uses=300, shapes={"str": 300}, ok=280),),
            ),
        ),
        "user": UserPatterns(style="terse", feedback="corrections only", sessions=12),
        "markers": (Marker(kind=MarkerKind.FILE, value="pyproject.toml", uses=30),),
        "preferred_tools": ("terminal", "patch"),
        "domains": ("testing",),
        "provenance": Provenance(
            sessions=12,
            messages=900,
            calls=420,
            errors=25,
            agents={"claude-code": 12},
            models={"some-model": 12},
            session_hashes=("00aa11bb22cc33dd",),
            redactions={"github_pat": 1},
            rules=("error rate at most 8 %",),
        ),
    }
    return Template(name=name, **{**values, **fields})


TEXTS = st.text(max_size=40)
LABELS = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["Cs", "Cc", "Cf"]),
    min_size=1,
    max_size=20,
)
COUNTS = st.integers(0, 10_000)
NAMES = st.from_regex(r"\A[a-z0-9][a-z0-9._-]{0,63}\Z")
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), TEXTS,
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@st.composite
def templates(draw: st.DrawFn) -> Template:
    """Any valid template."""
    calls = draw(COUNTS)
    tries = draw(COUNTS)
    return Template(
        name=draw(NAMES),
        description=draw(TEXTS),
        task_type=draw(LABELS),
        tags=tuple(draw(st.lists(LABELS, max_size=3))),
        system_context=draw(TEXTS),
        guidance=tuple(
            draw(st.lists(st.builds(Guidance, tool=LABELS, text=TEXTS, calls=st.just(calls),
                                    errors=st.integers(0, calls)), max_size=2))
        ),
        examples=tuple(
            draw(st.lists(st.builds(Example, tool=LABELS, arguments=ARGUMENTS, result=TEXTS,
                                    intent=TEXTS, closing=TEXTS,
                                    pattern_type=st.sampled_from(PatternType),
                                    certainty=st.sampled_from(Certainty), count=COUNTS,
                                    sessions=COUNTS), max_size=3))
        ),
        recoveries=tuple(
            draw(st.lists(st.builds(Recovery, tool=LABELS, error_class=st.sampled_from(ErrorClass),
                                    signature=TEXTS, failed_arguments=ARGUMENTS, error=TEXTS,
                                    repaired_by=LABELS, arguments=ARGUMENTS, result=TEXTS,
                                    change=TEXTS, count=st.integers(0, tries),
                                    tries=st.just(tries), sessions=COUNTS), max_size=2))
        ),
        arguments=tuple(
            draw(st.lists(st.builds(ToolArguments, tool=LABELS, calls=COUNTS, arguments=st.tuples(
                st.builds(ArgumentUse, name=TEXTS, uses=COUNTS,
                          shapes=st.dictionaries(LABELS, COUNTS, max_size=2)))), max_size=2))
        ),
        user=draw(st.builds(UserPatterns, style=TEXTS, feedback=TEXTS, sessions=COUNTS)),
        markers=tuple(
            draw(st.lists(st.builds(Marker, kind=st.sampled_from(MarkerKind), value=TEXTS,
                                    uses=COUNTS), max_size=2))
        ),
        provenance=draw(st.builds(Provenance, sessions=COUNTS, calls=st.just(calls),
                                  errors=st.integers(0, calls),
                                  models=st.dictionaries(LABELS, COUNTS, max_size=2))),
    )  # fmt: skip
