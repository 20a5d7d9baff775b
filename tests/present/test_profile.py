"""Pages of profiles: what is drawn, what is said instead, and what stands under the title."""

from __future__ import annotations

from typing import Any

from support.sessions import STARTED, make_session
from warmstart.app.profiles import JudgedCall, ProfileResult, SessionResult
from warmstart.facts.derive import derive_facts
from warmstart.model import Message, Request, Result, Role, Session
from warmstart.model.selection import Selection
from warmstart.present import profile_document, session_profile_document, write_html
from warmstart.present.about import shift_label, shorten_id
from warmstart.present.terminal import lay_out
from warmstart.profile.corpus import corpus_profile
from warmstart.profile.session import profile_facts
from warmstart.profile.summarise import summarise
from warmstart.sources import ReadLog

WEEK = 7 * 86_400


def worked(native_id: str, outcomes: str, week: int = 0, **fields: object) -> Session:
    messages = [Message(role=Role.USER, text="Fix the checkout, please.")]
    for index, letter in enumerate(outcomes):
        request = Request(tool="terminal", id=f"c{index}", arguments={"command": f"do {index}"})
        result = Result(text="done", call_id=f"c{index}", is_error=letter == "x")
        messages.append(Message(role=Role.ASSISTANT, requests=(request,)))
        messages.append(Message(role=Role.TOOL, results=(result,)))
    start = STARTED + week * WEEK
    return make_session(native_id, messages=messages, started_at=start, ended_at=start, **fields)


def make_result(*sessions: Session, **fields: Any) -> ProfileResult:
    profile = corpus_profile([summarise(map(derive_facts, sessions))])
    return ProfileResult(
        **{"profile": profile, "selection": Selection(), "log": ReadLog(), **fields}
    )


def corpus_page(*sessions: Session, **fields: Any) -> str:
    return write_html(profile_document(make_result(*sessions, **fields)))


def corpus_text(*sessions: Session, details: bool = False, **fields: Any) -> str:
    document = profile_document(make_result(*sessions, **fields))
    lines = lay_out(document, 100, details=details)
    return "\n".join("".join(span.text for span in line) for line in lines)


def plot_of(page: str, label: str) -> str:
    return page.partition(f'aria-label="{label}"')[2].partition("</svg>")[0]


def test_without_errors_the_axis_covers_the_bounds_and_empty_plots_are_words() -> None:
    page = corpus_page(*(worked(f"s-{n}", "...") for n in range(3)))
    assert "no trend." in page
    assert 'aria-label="Error rate per tool"' not in page
    plot = plot_of(page, "Error rate by session length")
    assert "20 %</text>" in plot
    assert "0.001" not in page


def test_a_bucket_without_sessions_claims_no_absence_of_errors() -> None:
    page = corpus_page(worked("s-1", "..."))
    row = page.partition(">101+</td>")[2].partition("</tr>")[0]
    assert "no error" not in row


def test_the_line_of_weeks_is_broken_where_weeks_are_missing() -> None:
    sessions = [worked(f"s-{n}", "..x.", week) for n, week in enumerate((0, 1, 2, 20, 21))]
    page = corpus_page(*sessions)
    plot = plot_of(page, "Error rate by week")
    assert plot.count("<polyline") == 2
    assert plot.count("<circle") == 5
    assert "The line is broken where weeks have no calls" in page


def test_twelve_weeks_are_shown_as_on_the_terminal() -> None:
    page = corpus_page(*(worked(f"s-{n}", "..x.", n) for n in range(20)))
    plot = plot_of(page, "Error rate by week")
    assert plot.count("<circle") == 12
    assert plot.count("<polyline") == 1
    assert "The line is broken" not in page


def test_sessions_without_a_time_are_no_week() -> None:
    timeless = worked("t-1", "..x.")
    undated = make_session("u-1", messages=timeless.messages, started_at=None, ended_at=None)
    page = corpus_page(undated, *(worked(f"s-{n}", "..x.", n) for n in range(2)))
    assert "known)" not in plot_of(page, "Error rate by week")


def test_who_when_how_many_and_which_stand_under_the_title() -> None:
    page = corpus_page(
        worked("s-1", "..x."), period=(0.0, 86_400.0), selection=Selection(model="x")
    )
    header = page.partition("<header>")[2].partition("</header>")[0]
    assert "hermes; 1970-01-01 to 1970-01-02<br>1 session, 9 messages, 4 calls" in header
    assert "filters: model contains x" in header


def test_a_first_reader_gets_five_lines_and_statistics_only_when_asked_for() -> None:
    sessions = [worked(f"s-{n}", "..x.x...") for n in range(4)]
    text = corpus_text(*sessions)
    lines = text.splitlines()
    assert lines[3].startswith("25.0 % error rate  95 % CI ")
    assert lines[4].startswith("terminal fails most  8 of 32 calls failed")
    assert lines[7].startswith("next: warmstart sessions show hermes:s-")
    assert "design effect" not in text
    assert "design effect" in corpus_text(*sessions, details=True)
    assert "design effect" in corpus_page(*sessions)


def test_weeks_that_are_left_out_are_counted() -> None:
    text = corpus_text(*(worked(f"s-{n}", "..x.", n) for n in range(16)))
    assert "and 4 more earlier weeks (--json)" in text


def test_filters_that_leave_nothing_say_what_there_is() -> None:
    text = corpus_text(selection=Selection(agent="x"), at_hand=58, newest=1_785_542_400.0)
    assert "58 sessions found, the newest of 2026-08-01; none matches: agent x." in text


def test_positions_are_counted_from_one() -> None:
    assert [shift_label(label) for label in ("0-9", "50-74", "100+")] == ["1-10", "51-75", "101+"]


def test_nothing_found_is_one_sentence() -> None:
    page = corpus_page()
    assert "No sessions were found." in page
    assert 'class="card"' not in page
    silent = make_session("s-1", messages=[Message(role=Role.USER, text="hi")])
    assert "No call of these sessions was judged" in corpus_page(silent)


def test_evidence_is_named_by_the_short_id_it_is_given() -> None:
    ids = {"hermes:s-1-and-more": "s-1-and-"}
    assert "s-1-and- #3" in corpus_page(worked("s-1-and-more", "..x."), ids=ids)
    uuid = "5b3691c0-1111-4222-8333-444444444444"
    assert shorten_id(f"codex:{uuid}", {}) == "codex:5b3691c0"
    assert shorten_id("hermes:other", {}) == "hermes:other"


def session_page(session: Session, *, named: bool = True) -> str:
    profile = profile_facts(derive_facts(session))
    calls = tuple(JudgedCall("terminal", n) for n in range(len(profile.outcomes))) if named else ()
    return write_html(
        session_profile_document(SessionResult(profile=profile, log=ReadLog(), calls=calls))
    )


def test_a_session_s_page_has_a_tick_per_judged_call_counted_from_one() -> None:
    page = session_page(worked("s-1", "..x.", title="The checkout"))
    assert "<h1>The checkout</h1>" in page
    assert plot_of(page, "Judged calls in order, failed ones taller").count("<rect") == 4
    assert "<title>#3 terminal: failed</title>" in page
    unnamed = session_page(worked("s-1", "..x."), named=False)
    assert "<title>judged call 3: failed</title>" in unnamed


def test_a_session_without_judged_calls_has_no_plots() -> None:
    silent = make_session("s-1", messages=[Message(role=Role.USER, text="hi")], title=None)
    page = session_page(silent)
    assert "<svg" not in page
    assert "no call was judged" in page
