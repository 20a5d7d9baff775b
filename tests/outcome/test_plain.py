"""The short cuts answer only what the rules would answer too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.model import Outcome, Request, Result, Status
from warmstart.outcome import structure
from warmstart.outcome.case import Case
from warmstart.outcome.judge import RULES, _apply, judge
from warmstart.outcome.tools import kind_of
from warmstart.samples import samples_path
from warmstart.sources import ReadLog, read_sessions


def by_rules(request: Request, result: Result, origin: str) -> Outcome:
    """The judgement without any short cut."""
    kind = kind_of(request.tool)
    by_opening = RULES[kind]
    rules = by_opening.get(result.text.lstrip()[:1]) or by_opening[structure.ANY_OPENING]
    return _apply(rules, Case(request, result, origin, kind))


def bare_calls(path: Path) -> Iterator[tuple[Request, Result, str]]:
    """Calls as a format without explicit fields would have them, under every origin."""
    for session in read_sessions(path, ReadLog()):
        for call in session.calls:
            if call.result is not None:
                bare = Result(text=call.result.text)
                yield from ((call.request, bare, origin) for origin in (session.origin, ""))


def test_short_cuts_agree_with_the_rules_on_every_sample_call() -> None:
    calls = list(bare_calls(samples_path()))
    assert len(calls) > 1500
    assert [judge(*call) for call in calls] == [by_rules(*call) for call in calls]


@pytest.mark.corpus
def test_short_cuts_agree_with_the_rules_on_real_calls(corpus: Path) -> None:
    differ = [
        call for call in bare_calls(corpus / "claude_code") if judge(*call) != by_rules(*call)
    ]
    differ += [call for call in bare_calls(corpus / "codex") if judge(*call) != by_rules(*call)]
    assert [call[0].arguments for call in differ] == []


words = st.sampled_from(
    [
        "error",
        "failed",
        "The",
        "user",
        "file",
        "not",
        "found",
        "must",
        "be",
        "is",
        "ok",
        "3",
        "passed\n",
        "",
        "File",
        '"',
        "/src/a.py:",
        "line",
        "bash:",
        "|",
        "Exit",
        "code",
        "0\n",
        "<returncode>0</returncode>\n",
        "[",
        "{",
        "<",
        "Error:",
        "doesn't",
        "exist",
        "timeout",
    ]
)
texts = st.lists(words, max_size=8).map(" ".join)
lines = st.sampled_from(
    ["", "make", "make | tail -3", "make; echo $?", "grep x f", "diff a b", "cat f | sort"]
)
tools = st.sampled_from(["Bash", "bash", "Read", "send_email", "sql", "PowerShell"])


@given(tools, texts, lines, st.sampled_from(["claude_code", "codex", ""]))
def test_short_cuts_agree_with_the_rules_on_any_text(
    tool: str, text: str, line: str, origin: str
) -> None:
    request, result = Request(tool=tool, arguments={"command": line}), Result(text=text)
    fast, slow = judge(request, result, origin), by_rules(request, result, origin)
    assert (fast.status, fast.exit_code, fast.masked) == (slow.status, slow.exit_code, slow.masked)
    assert fast.status is not Status.UNANSWERED
