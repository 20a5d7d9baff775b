"""The short cuts answer only what the rules would answer too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.model import Outcome, Request, Result, Status
from warmstart.outcome import shell, structure
from warmstart.outcome.case import Case
from warmstart.outcome.classes import _split_words
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


@pytest.mark.parametrize(
    "answer",
    [
        "No files found",
        "Found 3 files\n/src/a.py",
        "File created successfully at: /src/a.py",
        "The file /src/not found.py has been updated. There is no need to read it again",
        "User has answered your questions: it must be done",
        "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.",
        '"{\\"error\\": 1}"',
        '[[{"error": "x"}]]',
        "     1\u2192import {\n     2\u2192  error,\n",
        '{"id": 1, "status": "open"}',
        '{"id": 1, "body": "' + "x" * 2000 + '"}',
        "{'id': 1}",
    ],
)
def test_harmless_answers_are_judged_as_the_rules_judge_them(answer: str) -> None:
    for tool in ("Edit", "Grep", "sql"):
        call = (Request(tool=tool, arguments={}), Result(text=answer), "claude_code")
        assert judge(*call) == by_rules(*call)
        assert judge(*call).status is Status.OK


fields = st.dictionaries(
    st.sampled_from(["id", "error", "status", "success", "ok", "exit_code", "metadata", "isError"]),
    st.sampled_from([None, True, False, 0, 1, "", "error", "failed", "open", "x" * 1200]),
)


@given(fields, st.sampled_from(["send_email", "Read", "sql"]))
def test_objects_are_judged_as_the_rules_judge_them(data: dict[str, object], tool: str) -> None:
    call = (Request(tool=tool, arguments={}), Result(text=json.dumps(data)), "")
    assert judge(*call) == by_rules(*call)


@pytest.mark.parametrize("tool", ["Bash", "PowerShell"])
@pytest.mark.parametrize("text", ["", "ok\n", "make: *** [all] Error 2\n", "3 failed, 1 passed\n"])
@pytest.mark.parametrize(
    "marker", ["", "Exit code 0\n", "Exit code 1\n", "<returncode>0</returncode>\n"]
)
@pytest.mark.parametrize("line", ["grep x f", "make", "make | tail -3", "make; echo $?"])
@pytest.mark.parametrize("origin", ["claude_code", ""])
def test_exit_codes_in_plain_sight_are_judged_as_the_rules_judge_them(
    tool: str, text: str, marker: str, line: str, origin: str
) -> None:
    call = (Request(tool=tool, arguments={"command": line}), Result(text=marker + text), origin)
    assert judge(*call) == by_rules(*call)


@given(st.text(alphabet="ab \"'\\`$()#|;\n", max_size=30))
def test_opaque_parts_are_blanked_as_the_expression_would(line: str) -> None:
    assert shell._blank_opaque(line) == shell._OPAQUE.sub("Q", line)


def test_every_filter_behind_a_pipe_hides_the_exit_code() -> None:
    words = [word for word in shell._FILTERS | shell._MATCHERS if " " not in word]
    assert [word for word in words if not shell.is_masked(f"make | {word}")] == []
    assert [word for word in words if shell.is_masked(f"make '| {word}'")] == []


@given(st.text(max_size=40))
def test_words_are_runs_of_ascii_letters_digits_and_quotes(text: str) -> None:
    assert [word.decode() for word in _split_words(text)] == re.findall(r"[a-z0-9_']+", text)
