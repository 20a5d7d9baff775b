"""``profile`` at a terminal: what fits, what is said in words, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from support.sessions import STARTED, make_session, make_steps, write_export
from warmstart.app.sessions import find_period
from warmstart.facts import derive_facts
from warmstart.model import Message, Role
from warmstart.model.selection import Selection
from warmstart.present import p_value, p_words
from warmstart.present.about import describe_filters, describe_period

Run = Callable[..., Any]
LONG_TOOL = "mcp__a_server_with_a_long_name__a_tool_with_a_long_name"
UUIDS = [f"{number:08x}-1111-4222-8333-444444444444" for number in range(12)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sessions = [
        make_steps(
            native_id,
            "x.." * (4 + number),
            LONG_TOOL if number % 2 else "terminal",
            started_at=STARTED,
        )
        for number, native_id in enumerate(UUIDS)
    ]
    return write_export(tmp_path / "sessions.jsonl", *sessions)


def rows_after(text: str, heading: str) -> list[str]:
    return text.partition(heading)[2].partition("\n\n")[0].splitlines()[1:]


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_the_tools_fit_and_name_a_session_that_can_be_asked_for(
    run: Run, folder: Path, width: int
) -> None:
    shown = run("profile", folder, COLUMNS=str(width)).stdout
    rows = rows_after(shown, "Tools, by what it would pay to fix")
    assert max(map(cell_len, rows)) <= width
    assert any("0000000a #1" in row for row in rows)
    assert run("profile", "0000000a", folder).exit_code == 0


def test_a_narrow_terminal_shows_fewer_columns_and_a_wide_one_all(run: Run, folder: Path) -> None:
    wide, narrow = (run("profile", folder, COLUMNS=str(width)).stdout for width in (200, 80))
    assert all(name in wide for name in ("MASKED", "REPEATS", "MOSTLY", LONG_TOOL))
    assert not any(name in narrow for name in ("MASKED", "REPEATS", "MOSTLY"))
    assert "REPAIRED" in narrow


@pytest.mark.parametrize("width", [60, 80])
def test_no_table_is_wider_than_the_terminal(run: Run, folder: Path, width: int) -> None:
    shown = run("profile", folder, COLUMNS=str(width)).stdout
    tables = [line for line in shown.splitlines() if "  " in line.strip()]
    assert max(map(cell_len, tables)) <= width


def test_calls_of_a_tool_are_those_its_rate_is_over(run: Run, tmp_path: Path) -> None:
    path = write_export(tmp_path / "s.jsonl", make_steps("one-1", "x...????"))
    rows = rows_after(run("profile", path).stdout, "Tools, by what it would pay to fix")
    (row,) = [row for row in rows if row.startswith("terminal")]
    assert row.split()[2:6] == ["4", "1", "25.0", "%"]


def test_the_contrast_counts_the_sessions_it_compares(run: Run, tmp_path: Path) -> None:
    sizes = (3, 3, 3, 8, 8, 14)
    made = [make_steps(f"s-{n}", "x" + "." * size) for n, size in enumerate(sizes)]
    path = write_export(tmp_path / "s.jsonl", *made)
    shown = run("profile", path, "--buckets", "10,20", "--details").stdout
    assert "Longest sessions minus the next" in shown
    assert "(3 sessions)" in shown


def test_a_small_p_is_said_as_a_limit() -> None:
    assert (p_words(0.0002), p_words(0.581)) == ("p < 0.001", "p = 0.581")
    assert p_value(0.0002) == "< 0.001"


@pytest.mark.parametrize("arguments", [("",), (" ",), (".", ""), ("compaction", "")])
def test_an_empty_argument_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    result = run("profile", *arguments)
    assert result.exit_code == 2
    assert "an argument is empty" in result.stderr


@pytest.mark.parametrize(
    "option", [("--min-messages", 5), ("--errors",), ("--model", "x"), ("--buckets", "5,9")]
)
def test_filters_beside_one_session_are_refused(
    run: Run, folder: Path, option: tuple[object, ...]
) -> None:
    result = run("profile", "0000000a", folder, *option)
    assert result.exit_code == 2
    assert "'0000000a' names one" in result.stderr


def test_where_to_look_for_one_session_may_be_said(run: Run, folder: Path) -> None:
    assert run("profile", "0000000a", folder, "--source", "hermes").exit_code == 0


def test_nothing_found_is_one_sentence(run: Run, tmp_path: Path) -> None:
    result = run("profile", tmp_path)
    assert result.stdout == "No sessions were found.\n"
    assert "warmstart doctor" in result.stderr


def test_what_is_not_known_is_not_printed_as_zero(run: Run, tmp_path: Path) -> None:
    silent = make_session("quiet-1", messages=[Message(role=Role.USER, text="hi")], ended_at=None)
    path = write_export(tmp_path / "s.jsonl", silent)
    shown = run("profile", path).stdout
    assert "No call of these sessions was judged ok or failed." in shown
    assert not any(word in shown for word in ("tokens", "time ", "0 of 0", "calls:"))
    alone = run("profile", "quiet-1", path).stdout
    assert "tokens" not in alone
    assert "1 message, 1 turn of the user, 0 calls" in alone


def test_one_of_anything_is_not_in_the_plural(run: Run, tmp_path: Path) -> None:
    path = write_export(tmp_path / "s.jsonl", make_steps("one-1", "x" + "." * 9))
    shown = run("profile", path).stdout
    assert "1 of 10 judged calls failed" in shown
    assert "1 sessions" not in shown


def test_repairs_seen_once_do_not_happen_again_and_again(run: Run, tmp_path: Path) -> None:
    once = write_export(tmp_path / "a.jsonl", make_steps("one-1", "x....."))
    twice = write_export(tmp_path / "b.jsonl", make_steps("one-1", "x.x..."))
    assert "Repairs, each seen once" in run("profile", once).stdout
    assert "Repairs that happen again and again" in run("profile", twice).stdout


def test_without_errors_there_is_no_table_of_trends(run: Run, tmp_path: Path) -> None:
    path = write_export(tmp_path / "s.jsonl", make_steps("one-1", "....."))
    shown = run("profile", path).stdout
    assert "inconclusive" in shown
    assert "WITHIN SESSIONS" not in shown
    assert shown.count("calls 1-10 0.0 %") == 1


def test_an_id_is_cleaned_before_it_is_cut(run: Run, tmp_path: Path) -> None:
    hostile = make_session("abcdef\x1b[31mred-and-long", title="x")
    shown = run("sessions", "list", write_export(tmp_path / "s.jsonl", hostile)).stdout
    assert "abcdefred-and-long" in shown


def test_the_page_says_what_it_is_about(run: Run, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    arguments = ("--agent", "hermes", "--min-messages", 3, "--html", page)
    assert run("profile", folder, *arguments).exit_code == 0
    header = page.read_text().partition("<header>")[2].partition("</header>")[0]
    assert "hermes; 2026-01-01" in header
    assert "12 sessions" in header
    assert "filters: agent hermes, at least 3 messages" in header
    assert " on 20" in page.read_text().partition("<footer>")[2]


def test_filters_on_the_page_name_no_home(run: Run, folder: Path, home: Path) -> None:
    page = home / "page.html"
    run("profile", folder, "--project", f"{home}/secret-project", "--html", page)
    assert str(home) not in page.read_text()


def test_every_filter_has_words() -> None:
    selection = Selection(
        source="hermes", agent="a", model="m", project="p", since=STARTED, until=STARTED, tool="t*",
        min_messages=1, max_messages=2, errors_only=True,
    )  # fmt: skip
    words = describe_filters(selection)
    assert len(words) == 10
    assert "at least 1 message" in words
    assert "with failed calls" in words
    assert describe_filters(Selection(paths=("x",))) == ()


def test_days_come_from_whatever_time_is_known() -> None:
    day = 86_400
    silent = [Message(role=Role.USER, text="hi")]
    sessions = [
        derive_facts(make_session("a-1", started_at=STARTED, ended_at=None)),
        derive_facts(make_session("b-1", started_at=None, ended_at=STARTED + 3 * day)),
        derive_facts(make_session("c-1", messages=silent, started_at=None, ended_at=None)),
    ]
    assert describe_period(find_period(sessions)) == "2026-01-01 to 2026-01-04"
    assert describe_period(find_period(sessions[2:])) == ""
