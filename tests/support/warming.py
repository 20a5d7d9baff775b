"""A template worth starting from, and hypothesis strategies for any template a warm-up may meet."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from warmstart.model import Certainty, ErrorClass, Marker, MarkerKind
from warmstart.model.template import (
    Example,
    Guidance,
    PatternType,
    Provenance,
    Recovery,
    Template,
)

TEMPLATE_ID = "ab" * 32
GUIDANCE = (
    Guidance(tool="terminal", text="Run pytest with -q; give a path.", calls=80, errors=12),
    Guidance(tool="patch", text="Quote old text exactly.", calls=30, errors=9),
)
EXAMPLES = (
    Example(
        tool="terminal",
        arguments={"command": "pytest -q tests/test_cart.py"},
        result="1 failed, 3 passed",
        intent="Why does the cart test fail?",
        closing="One of four fails: the rounding.",
        sessions=5,
        certainty=Certainty.EXPLICIT,
    ),
    Example(
        tool="read_file",
        arguments={"path": "cart.py"},
        result="def total(items): ...",
        intent="Show me the cart.",
        closing="It adds up the items.",
    ),
    Example(
        tool="patch",
        arguments={"path": "cart.py", "old": "round(x)", "new": "round(x, 2)"},
        result='{"success": true}',
        intent="Fix the rounding.",
        pattern_type=PatternType.RETRY,
    ),
)
RECOVERY = Recovery(
    tool="patch",
    error_class=ErrorClass.NOT_FOUND,
    signature="could not find a match",
    failed_arguments={"path": "shop/cart.py", "old": "round( x )"},
    error='{"success": false, "error": "Could not find a match"}',
    repaired_by="patch",
    arguments={"path": "shop/cart.py", "old": "round(x)"},
    result='{"success": true}',
    change="the old text was quoted exactly as it stands in the file",
    count=4,
    tries=5,
    sessions=3,
)


def make_template(name: str = "fix-tests", **fields: Any) -> Template:
    """Two lines of guidance, three examples, a recovery and two markers."""
    values: dict[str, Any] = {
        "description": "Repairing failing tests of a web shop.",
        "task_type": "terminal",
        "tags": ("pytest", "shop"),
        "anchors": ("Fix the failing checkout test", "Why does the cart total differ?"),
        "system_context": "The shop's tests need no network.",
        "guidance": GUIDANCE,
        "examples": EXAMPLES,
        "recoveries": (RECOVERY,),
        "markers": (
            Marker(MarkerKind.FILE, "cart.py", 9),
            Marker(MarkerKind.COMMAND, "pytest -q", 7),
        ),
        "preferred_tools": ("terminal", "patch"),
        "provenance": Provenance(sessions=12, messages=300, calls=140, errors=22),
    }
    return Template(name=name, **(values | fields))


WORDS = st.text(max_size=40)
KNOWN_TOOLS = st.sampled_from(("terminal", "read_file", "patch", "mcp__web.search", "Ärger tool"))
TOOL = KNOWN_TOOLS | st.text(min_size=1, max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(WORDS, VALUES, max_size=4)
COUNT = st.integers(0, 200)
TEMPLATES = st.builds(
    Template,
    name=st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True),
    system_context=WORDS,
    guidance=st.lists(
        st.builds(Guidance, tool=TOOL, text=WORDS, calls=COUNT, errors=COUNT), max_size=4
    ).map(tuple),
    examples=st.lists(
        st.builds(
            Example,
            tool=TOOL,
            arguments=ARGUMENTS,
            result=st.text(max_size=300),
            intent=WORDS,
            closing=WORDS,
            pattern_type=st.sampled_from(PatternType),
            certainty=st.sampled_from(Certainty),
            sessions=COUNT,
        ),
        max_size=5,
    ).map(tuple),
    recoveries=st.lists(
        st.builds(
            Recovery,
            tool=TOOL,
            error_class=st.sampled_from(ErrorClass),
            signature=WORDS,
            failed_arguments=ARGUMENTS,
            error=WORDS,
            repaired_by=TOOL,
            arguments=ARGUMENTS,
            result=WORDS,
            change=WORDS,
            count=COUNT,
            tries=COUNT,
            sessions=COUNT,
        ),
        max_size=3,
    ).map(tuple),
    markers=st.lists(
        st.builds(Marker, kind=st.sampled_from(MarkerKind), value=WORDS, uses=COUNT), max_size=3
    ).map(tuple),
)
