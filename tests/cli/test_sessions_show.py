"""``sessions show``: the transcript, its calls, and what the outcome rests on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from msgspec.structs import replace
from rich.cells import cell_len

from support.sessions import STARTED, make_messages, make_session, sessions, write_export
from warmstart.app.sessions import ShownSession
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
    Role,
    Session,
    Status,
    Tokens,
)
from warmstart.model import (
    Result as CallResult,
)
from warmstart.present import Document, Facts
from warmstart.present.session import (
    SessionView,
    describe_evidence,
    describe_status,
    session_document,
)
from warmstart.present.terminal import lay_out
from warmstart.sources import ReadLog

Run = Callable[..., Result]


@pytest.fixture
def show(run: Run, home: Path) -> Callable[..., str]:
    def shown(session: Session, *options: str) -> str:
        path = write_export(home / "e.jsonl", session)
        result = run("sessions", "show", session.native_id, path, *options)
        assert result.exit_code == 0
        return result.stdout

    return shown


Show = Callable[..., str]


def test_a_call_stands_with_its_outcome_and_its_result(show: Show) -> None:
    lines = show(make_session()).splitlines()
    at = lines.index('  → terminal command="pytest -q"')
    assert lines[at + 1].startswith("    ✗ error")
    assert "[explicit: " in lines[at + 1]
    assert lines[at + 2] == "    1 failed, 3 passed"


def test_a_call_without_an_answer_is_shown_as_such(show: Show) -> None:
    lines = show(make_session()).splitlines()
    at = lines.index('  → terminal command="git log"')
    assert lines[at + 1].startswith("    ? unanswered")


def test_the_head_says_what_is_known(show: Show) -> None:
    session = make_session(
        agent_version="1.2", git_branch="main", parent=Parent(id="hermes:p", link=Link.SUBAGENT),
        tokens=Tokens(input=1200, output=30, cache_read=5), cost_usd=0.5, reward=1.0, task="t-7",
        end_reason="agent_close", ended_at=STARTED + 90,
    )  # fmt: skip
    head = show(session).partition("\n\n")[0]
    for fact in (
        "agent     hermes, 1.2, acme-large", "project   /home/dev/shop, main", "1 min 30 s",
        "3 (1 ok, 1 error, 1 unanswered; 50.0 % of the 2 judged failed)", "hermes:p (subagent)",
        "1,200 input, 30 output, 5 cache read, $0.50", "task      t-7", "reward    1",
    ):  # fmt: skip
        assert fact in head


def test_kinds_fates_and_compactions_are_visible(show: Show) -> None:
    messages = [
        Message(role=Role.USER, text="note", kind=Kind.INJECTED),
        Message(role=Role.ASSISTANT, text="hm", reasoning="thinking hard", fate=Fate.ARCHIVED),
        Message(role=Role.USER, text="summary of it all", kind=Kind.SUMMARY),
        Message(role=Role.ASSISTANT, requests=(Request(tool="t", id="x"),), fate=Fate.COPIED),
        Message(role=Role.TOOL, results=(CallResult(text="r", call_id="x"),), fate=Fate.COPIED),
    ]
    compaction = Compaction(at=2, trigger="auto", tokens_before=155_000, tokens_after=600)
    text = show(make_session(messages=messages, compactions=(compaction,)))
    for sight in ("user  injected", "assistant  archived", "user  summary", "thinking hard",
                  "── compacted (auto), 155,000 tokens before, 600 after ──",
                  "not counted (copied)", "result (copied)"):  # fmt: skip
        assert sight in text


def test_a_result_without_a_call_is_not_lost(show: Show) -> None:
    stray = Message(role=Role.TOOL, results=(CallResult(text="stray", call_id="?"),))
    text = show(make_session(messages=[*make_messages(), stray]))
    assert "result without a call\n    stray" in text


def test_long_results_are_cut_and_full_shows_them_whole(show: Show) -> None:
    long = "\n".join(f"line {n}" for n in range(500))
    messages = make_messages()
    messages[3] = replace(messages[3], results=(CallResult(text=long, call_id="c1"),))
    session = make_session(messages=messages)
    assert "line 499" not in show(session)
    assert f"… {len(long):,} characters in all (--full)" in show(session)
    assert "line 499" in show(session, "--full")


def test_calls_only_is_a_table_and_errors_narrow_it(show: Show) -> None:
    rows = show(make_session(), "--calls").partition("\n\n")[2].splitlines()
    assert [row.split()[0] for row in rows] == ["#", "1", "2", "3"]
    failed = show(make_session(), "--calls", "--errors").partition("\n\n")[2].splitlines()
    assert [row.split()[0] for row in failed] == ["#", "1"]


def test_errors_show_each_failed_call_under_the_words_before_it(show: Show) -> None:
    text = show(make_session(), "--errors")
    assert "call 1\n  assistant:\n  I will look.\n  → terminal" in text
    assert "cart.py" not in text


def test_errors_of_a_session_without_any_say_so(show: Show) -> None:
    session = make_session(messages=[Message(role=Role.USER, text="hi")])
    assert "no call of this session failed" in show(session, "--errors")


def test_an_error_with_no_words_before_it_stands_alone(show: Show) -> None:
    text = show(make_session(messages=[replace(m, text="") for m in make_messages()]), "--errors")
    assert "call 1\n  → terminal" in text


def test_json_is_the_lossless_form(show: Show) -> None:
    data = json.loads(show(make_session(), "--json"))
    assert (data["schema_version"], data["id"]) == (1, "hermes:ab12cd34-shop-1")
    assert data["session"]["schema"] == "warmstart.session/1"
    assert data["session"]["calls"][0]["outcome"]["status"] == "error"


def test_hostile_text_is_shown_harmlessly(show: Show) -> None:
    evil = "\x1b[2J\x1b]0;own\x07[bold red]x[/] \u202e \x00 {{ :smile: }}"
    messages = [
        Message(role=Role.USER, text=evil, reasoning=evil),
        Message(
            role=Role.ASSISTANT, requests=(Request(tool=evil, id="1", arguments={evil: evil}),)
        ),
        Message(role=Role.TOOL, results=(CallResult(text=evil, call_id="1", is_error=True),)),
    ]
    session = make_session(messages=messages, title=evil, project=evil, model=evil)
    for options in ((), ("--full",), ("--calls",), ("--errors",)):
        text = show(session, *options)
        assert not {"\x1b", "\x07", "\u202e", "\x00"} & set(text)
        assert "[bold red]x[/]" in text


def test_a_failure_shows_the_lines_that_complain(show: Show) -> None:
    noise = [f"[STARTED] step {n}" for n in range(20)]
    text = "\n".join([*noise, "error: could not sign", "aborted", *noise])
    messages = make_messages()
    messages[3] = replace(
        messages[3], results=(CallResult(text=text, call_id="c1", is_error=True),)
    )
    shown = show(make_session(messages=messages), "--errors")
    assert "error: could not sign" in shown
    assert "characters in all" not in shown.partition("error: could not sign")[0]


def test_a_transcript_can_be_sent_as_a_page(run: Run, home: Path) -> None:
    session = make_session(project=f"{home}/shop", title="Fix the checkout")
    path = write_export(home / "e.jsonl", session)
    page = home / "page.html"
    result = run("sessions", "show", session.native_id, path, "--html", page)
    assert (result.exit_code, result.stdout) == (0, "")
    text = page.read_text()
    assert "<h1>Fix the checkout</h1>" in text
    assert "pytest -q" in text
    assert str(home) not in text


@given(session=sessions())
def test_any_session_can_be_shown_within_the_width(session: Session) -> None:
    shown = ShownSession(session=session, log=ReadLog())
    blocks = session_document(shown, SessionView(full=True)).blocks
    blocks = [block for block in blocks if not isinstance(block, Facts)]
    lines = lay_out(Document(title="", blocks=blocks), 80)
    assert all(cell_len("".join(span.text for span in line)) <= 80 for line in lines)


def outcome(**fields: object) -> Outcome:
    basis = {"status": Status.OK, "certainty": Certainty.STRUCTURAL, "evidence": "rule"}
    return Outcome(**(basis | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("judged", "status", "evidence"),
    [
        (outcome(), "ok", "structural: rule"),
        (outcome(exit_code=1, reason="no match"), "ok, exit 1 (no match)", "structural: rule"),
        (
            outcome(status=Status.ERROR, error_class=ErrorClass.NOT_FOUND, harness_error=False),
            "error: not_found",
            "structural: rule, harness says ok",
        ),
        (outcome(harness_error=True), "ok", "structural: rule, harness says error"),
        (outcome(masked=True), "ok", "structural: rule, exit code masked"),
        (outcome(status=Status.REJECTED, harness_error=True), "rejected", "structural: rule"),
    ],
)
def test_an_outcome_in_words(judged: Outcome, status: str, evidence: str) -> None:
    assert (describe_status(judged), describe_evidence(judged)) == (status, evidence)
