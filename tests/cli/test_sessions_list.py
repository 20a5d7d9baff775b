"""``sessions list``: what is shown, in which order, and how wide."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from support.badinput import write
from support.sessions import STARTED, make_messages, make_session, write_export
from warmstart.app.sessions import ListedSession, shorten_ids
from warmstart.app.sessions import _make_row as make_row
from warmstart.cli._filters import Moment
from warmstart.facts import derive_facts
from warmstart.model import Session
from warmstart.present.terminal import CUT_NAMES

Run = Callable[..., Result]
DAY = 86_400


def at(day: int, native_id: str, **fields: object) -> object:
    return make_session(native_id, started_at=STARTED + day * DAY, ended_at=None, **fields)


@pytest.fixture
def store(home: Path) -> Path:
    names = ("aaaaaaaa-1111", "bbbbbbbb-2222", "cccccccc-3333")
    moments = [
        make_session(name, started_at=STARTED + n * DAY, ended_at=STARTED + n * DAY + 60)
        for n, name in enumerate(names)
    ]
    return write_export(home / "ws/archive/all.jsonl", *moments)


def _row(session: Session) -> ListedSession:
    return make_row(derive_facts(session))


def test_the_newest_is_first_and_the_footer_is_on_stderr(run: Run, store: Path) -> None:
    result = run("sessions", "list", store)
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["ID", "cccccccc", "bbbbbbbb", "aaaaaaaa"]
    assert result.stderr == "3 sessions, 9 calls, 3 errors (50.0 % of 6 judged)\n"


def test_without_a_path_the_machine_s_stores_are_read(run: Run, store: Path) -> None:
    assert run("sessions", "list").stdout == run("sessions", "list", store).stdout


def test_a_row_has_counts_a_rate_and_a_title(run: Run, store: Path) -> None:
    row = run("sessions", "list", store, "--limit", 1).stdout.splitlines()[1].split()
    assert row[:6] == ["cccccccc", "2026-01-03", "00:01", "hermes", "acme-large", "shop"]
    assert row[6:] == ["6", "3", "1", "50.0", "%", "Fix", "the", "checkout"]


def test_a_limit_is_said_and_all_lifts_it(run: Run, store: Path) -> None:
    assert "the 2 newest are shown" in run("sessions", "list", store, "--limit", 2).stderr
    assert len(run("sessions", "list", store, "--limit", 2, "--all").stdout.splitlines()) == 4


def test_json_is_one_object_with_everything(run: Run, store: Path) -> None:
    data = json.loads(run("sessions", "list", store, "--json", "--limit", 1).stdout)
    (session,) = data["sessions"]
    assert (data["schema_version"], data["totals"]["sessions"], data["skipped"]) == (1, 3, [])
    assert session["id"] == "hermes:cccccccc-3333"
    assert session["error_rate"] == 0.5
    assert session["outcomes"]["unanswered"] == 1
    assert session["started_at"] == "2026-01-03T00:00:00Z"


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (["--since", "2026-01-02"], 2),
        (["--since", "1d"], 0),
        (["--until", "2026-01-01"], 1),
        (["--until", "2026-01-02T00:00:00+00:00"], 1),
        (["--tool", "read_*"], 3),
        (["--model", "LARGE", "--agent", "hermes", "--project", "shop", "--errors"], 3),
        (["--min-messages", "7"], 0),
        (["--max-messages", "6", "--source", "hermes"], 3),
        (["--source", "codex"], 0),
        (["--platform", "telegram"], 0),
    ],
)
def test_filters_are_the_same_as_the_library_s(
    run: Run, store: Path, filters: list[str], count: int
) -> None:
    data = json.loads(run("sessions", "list", store, "--json", *filters).stdout)
    assert len(data["sessions"]) == count


def test_what_was_skipped_is_said_unless_quiet(run: Run, home: Path) -> None:
    good = write_export(home / "e.jsonl", make_session()).read_bytes()
    path = write(home, "e.jsonl", good + b"{broken\n")
    result = run("sessions", "list", path)
    assert f"skipped 1: line is not valid JSON (first: {path}:2)" in result.stderr
    assert run("sessions", "list", path, "--quiet").stderr == ""
    skipped = json.loads(run("sessions", "list", path, "--json").stdout)["skipped"]
    assert skipped == [
        {"reason": "line is not valid JSON", "count": 1, "path": str(path), "line": 2}
    ]


def test_nothing_found_is_no_error_and_says_what_to_do(run: Run) -> None:
    result = run("sessions", "list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "warmstart demo" in result.stderr


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_no_line_is_wider_than_the_terminal(run: Run, home: Path, width: int) -> None:
    hostile = [
        make_session("a/very/long/id/" + "x" * 90, title="你好" * 50, project="/p/" + "y" * 60),
        make_session("a/very/long/id/" + "x" * 89 + "y", model="m" * 70, agent="agent" * 9),
    ]
    path = write_export(home / "e.jsonl", *hostile)
    result = run("sessions", "list", path, COLUMNS=str(width))
    assert max(cell_len(line) for line in result.stdout.splitlines()) <= width
    assert CUT_NAMES in result.stdout


def test_hostile_text_is_shown_harmlessly(run: Run, home: Path) -> None:
    title = "[red]x[/red]\x1b[2J\x00\u202etxt.exe\n\nsecond"
    path = write_export(home / "e.jsonl", make_session(title=title, project="/a\x1b]0;t\x07b"))
    shown = run("sessions", "list", path).stdout
    assert "[red]x[/red]\\x00\\u202etxt.exe second" in shown
    assert "\x1b" not in shown


def test_without_a_title_the_first_words_of_the_user_stand_in(run: Run, home: Path) -> None:
    path = write_export(home / "e.jsonl", make_session(title=None))
    assert "Why does the checkout fail?" in run("sessions", "list", path).stdout
    silent = [message for message in make_messages() if message.role != "user"]
    path = write_export(home / "e.jsonl", make_session(title=None, messages=silent))
    assert run("sessions", "list", path).exit_code == 0


@given(ids=st.lists(st.text(alphabet="ab/:", min_size=1, max_size=14), min_size=1, unique=True))
def test_a_short_id_finds_exactly_its_session(ids: list[str]) -> None:
    rows = [_row(make_session(native_id)) for native_id in ids]
    for identity, short in shorten_ids(rows).items():
        native = identity.removeprefix("hermes:")
        others = [other for other in ids if other.startswith(short) and other != native]
        assert short == native or not others


def test_the_same_native_id_of_two_sources_is_shown_in_full() -> None:
    rows = [_row(make_session("same-id-1", origin=origin)) for origin in ("codex", "hermes")]
    assert set(shorten_ids(rows).values()) == {"codex:same-id-1", "hermes:same-id-1"}


def test_a_moment_already_converted_stays_what_it_is() -> None:
    assert Moment().convert(12.5, None, None) == 12.5
