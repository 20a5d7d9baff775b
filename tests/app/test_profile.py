"""The use cases behind ``profile``: one refresh, complete results, nothing secret in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.sessions import STARTED, make_steps, write_export
from warmstart.app import Workspace, facts
from warmstart.app.profiles import load_rules, profile, profile_session, share_profile
from warmstart.app.sessions import list_sessions
from warmstart.errors import UsageError
from warmstart.model.selection import Selection


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "home")


@pytest.fixture
def place(tmp_path: Path) -> str:
    sessions = [
        make_steps(f"{number:08x}-1111-4222-8333-444444444444", "x...", started_at=STARTED + number)
        for number in range(6)
    ]
    return str(write_export(tmp_path / "sessions.jsonl", *sessions))


def test_figures_period_and_ids_come_from_one_refresh(
    workspace: Workspace, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    make_view = facts._make_view

    def count_views(*arguments: Any) -> Any:
        made.append(arguments)
        return make_view(*arguments)

    monkeypatch.setattr(facts, "_make_view", count_views)
    result = profile(workspace, Selection(paths=(place,), min_messages=2))
    assert len(made) == 1
    assert result.profile.rate.errors == 6
    assert result.period is not None
    assert result.period[0] == STARTED
    assert "00000000" in set(result.ids.values())


def test_filters_that_leave_none_say_what_is_there(workspace: Workspace, place: str) -> None:
    result = profile(workspace, Selection(paths=(place,), agent="nobody"))
    assert result.profile.totals.get("sessions", 0) == 0
    assert result.at_hand == 6
    assert result.newest is not None


def test_figures_alone_are_the_same_figures(workspace: Workspace, place: str) -> None:
    selection = Selection(paths=(place,))
    alone = profile(workspace, selection, figures_only=True)
    assert alone.profile == profile(workspace, selection).profile
    assert (alone.ids, alone.period) == ({}, None)


def test_without_an_index_the_result_is_the_same(
    workspace: Workspace, place: str, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the home should be")
    selection = Selection(paths=(place,))
    kept, unkept = profile(workspace, selection), profile(Workspace(blocked), selection)
    assert (unkept.profile, unkept.ids) == (kept.profile, kept.ids)
    assert unkept.period == kept.period
    assert "read each time" in unkept.log.notes[0]


def test_a_shared_result_names_no_home(workspace: Workspace, tmp_path: Path) -> None:
    project = "/home/jane/shop"
    path = write_export(tmp_path / "s.jsonl", make_steps("one-1", "x..", project=project))
    result = profile_session(workspace, "one-1", Selection(paths=(str(path),)))
    assert result.profile.project == project
    shared = share_profile(workspace, result)
    assert "jane" not in str(shared.profile)
    assert [call.position for call in shared.calls] == [0, 1, 2]


def test_a_tool_type_that_cannot_be_right_is_refused(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="is not TOOL=TYPE"):
        load_rules(workspace, tool_types=["terminal"])
    assert "mine" in load_rules(workspace, trivial=["Mine"]).trivial


def test_a_listing_counts_everything_and_shows_the_newest(workspace: Workspace, place: str) -> None:
    found = list_sessions(workspace, Selection(paths=(place,)), limit=2)
    assert (found.found, len(found.rows), found.totals.errors) == (6, 2, 6)
    assert [found.ids[row.id] for row in found.rows] == ["00000005", "00000004"]
