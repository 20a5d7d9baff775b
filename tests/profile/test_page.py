"""Pages of profiles: what is drawn, what is said instead, and what stands under the title."""

from __future__ import annotations

from support.sessions import STARTED, make_session
from warmstart.facts import derive_facts
from warmstart.model import Message, Request, Result, Role, Session
from warmstart.profile.corpus import corpus_profile
from warmstart.profile.page import build_corpus_page
from warmstart.profile.page_parts import About, shorten
from warmstart.profile.page_session import build_session_page, list_judged
from warmstart.profile.session import profile_facts
from warmstart.profile.summarise import summarise

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


def corpus_page(*sessions: Session, about: About | None = None) -> str:
    return build_corpus_page(corpus_profile([summarise(map(derive_facts, sessions))]), about)


def plot_of(page: str, label: str) -> str:
    return page.partition(f'aria-label="{label}"')[2].partition("</svg>")[0]


def test_without_errors_the_axis_covers_the_bounds_and_empty_plots_are_words() -> None:
    page = corpus_page(*(worked(f"s-{n}", "...") for n in range(3)))
    assert "No plot of the trend" in page
    assert "No plot: no tool has 10 judged calls." in page
    assert "No plot over positions" in page
    plot = plot_of(page, "Error rate by session length")
    assert "20 %</text>" in plot
    assert "0.001" not in page


def test_a_bucket_without_sessions_claims_no_absence_of_errors() -> None:
    page = corpus_page(worked("s-1", "..."))
    row = page.partition("<td>101+</td>")[2].partition("</tr>")[0]
    assert "no error" not in row


def test_the_line_of_weeks_is_broken_where_weeks_are_missing() -> None:
    sessions = [worked(f"s-{n}", "..x.", week) for n, week in enumerate((0, 1, 2, 20, 21))]
    page = corpus_page(*sessions)
    plot = plot_of(page, "Error rate by week")
    assert plot.count("<polyline") == 2
    assert plot.count("<circle") == 5
    assert "The line is broken where weeks without calls lie between" in page


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
    about = About(made="2026-03-01", period=("2026-01-01", "2026-02-02"), filters=("model x",))
    page = corpus_page(worked("s-1", "..x."), about=about)
    header = page.partition("<header>")[2].partition("</header>")[0]
    assert "hermes; 2026-01-01 to 2026-02-02<br>1 session, 9 messages, 4 calls<br>" in header
    assert "Filters: model x.<br>Made on 2026-03-01." in header


def test_a_page_is_the_same_whenever_it_is_made() -> None:
    assert corpus_page(worked("s-1", "..x.")) == corpus_page(worked("s-1", "..x."))
    assert "Made on" not in corpus_page(worked("s-1", "..x."))


def test_nothing_found_is_one_sentence() -> None:
    page = corpus_page()
    assert "No sessions were found." in page
    assert 'class="card"' not in page
    silent = make_session("s-1", messages=[Message(role=Role.USER, text="hi")])
    assert "No call of these sessions was judged" in corpus_page(silent)


def test_evidence_is_named_by_the_short_id_it_is_given() -> None:
    about = About(ids={"hermes:s-1-and-more": "s-1-and-"})
    page = corpus_page(worked("s-1-and-more", "..x."), about=about)
    assert "s-1-and-\N{NO-BREAK SPACE}#2" in page
    uuid = "5b3691c0-1111-4222-8333-444444444444"
    assert shorten(f"codex:{uuid}", {}) == "codex:5b3691c0"
    assert shorten("hermes:other", {}) == "hermes:other"


def test_a_session_s_page_has_a_tick_per_judged_call() -> None:
    facts = derive_facts(worked("s-1", "..x."))
    profile = profile_facts(facts)
    page = build_session_page(profile, list_judged(facts), About(made="2026-03-01"))
    assert page.count("<rect") == 4
    assert "<title>#2 terminal: failed</title>" in page
    assert "Made on 2026-03-01." in page
    assert "<title>judged call 3: failed</title>" in build_session_page(profile)


def test_a_session_without_judged_calls_has_no_plots() -> None:
    silent = make_session("s-1", messages=[Message(role=Role.USER, text="hi")], title=None)
    page = build_session_page(profile_facts(derive_facts(silent)))
    assert "<svg" not in page
    assert "no call was judged" in page
