"""What is said of plain lines holds for every expression."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warmstart.outcome.lines import (
    DEATH,
    DIAGNOSTIC,
    EXCEPTION,
    FRAME,
    NAMED,
    USAGE,
    complains,
    ends_plainly,
    opens_plainly,
    opens_with_error,
)

WORDS = (
    "error", "Error", "ERROR:", "fatal:", "panic:", "e:", "E:", "[error]", "(error)", "npm", "ERR!", "failed:",
    "FAILED:", "failed", "to", "unable", "could", "not", "cannot", "accepts", "at", "most", "unknown", "flag",
    "usage:", "Usage:", "malformed", "command", "ValueError", "a.b.KeyError:", "SystemExit", "Warning", "Sorry:",
    "XError", "line", "3.", "12:", "from", "...", "2", "more", "x.py:3:", "x.py:3:4", "a.c(1,2):", "vet:",
    "undefined", "Killed", "Terminated", "Node.js", "v20", "Bun", "v1.2", "(", "cat:", "a/b.py:", "no", "such",
    "file", "- ", "--", "{", "build", "done", "ms", "Main", "make:", "***", "\t", "", "\u0130",
)  # fmt: skip
lines = st.builds(
    lambda opening, words, ending: opening + " ".join(words) + ending,
    st.sampled_from(["", "", "", " ", "\t", "  ", "--- "]),
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.sampled_from(["", "", ".", ":", ": "]),
)


@settings(max_examples=1000)
@given(lines)
def test_nothing_matches_a_line_that_ends_an_output_plainly(line: str) -> None:
    found = [rule.match(line) for rule in (DEATH, DIAGNOSTIC, EXCEPTION, FRAME)]
    if complains(line) or any(found):
        assert not ends_plainly(line)


@settings(max_examples=1000)
@given(lines)
def test_nothing_matches_a_line_that_opens_an_output_plainly(line: str) -> None:
    lowered = line.lower()
    if opens_with_error(lowered) or NAMED.match(lowered) or USAGE.match(lowered):
        assert not opens_plainly(line)


@given(lines)
def test_a_line_complains_in_any_case_of_its_letters(line: str) -> None:
    lowered = line.lower()
    assert complains(line) == bool(opens_with_error(lowered) or NAMED.match(lowered))


@pytest.mark.parametrize(
    "line", ["total 4", "-rw-r--r-- 1 a a 10 12:30 x.py", "3 passed in 1.2s", "  indented", "a: b"]
)
def test_common_lines_are_plain(line: str) -> None:
    assert ends_plainly(line)
    assert opens_plainly(line)
