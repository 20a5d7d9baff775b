"""A session of any format goes into the live store and comes out the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from warmstart.export import export_store
from warmstart.model import Fate, Message, Role, Session
from warmstart.samples import samples_path
from warmstart.sources import ReadLog, read_sessions
from warmstart.store import SessionDB

Pair = tuple[Session, Session]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Pair]:
    """Every sample session, and what the store gives back for it."""
    path = tmp_path_factory.mktemp("store") / "store.db"
    originals = list(read_sessions(samples_path(), ReadLog()))
    with SessionDB(path) as db:
        db.import_sessions(map(export_store, originals))
    copies = {session.native_id: session for session in read_sessions(path, ReadLog())}
    assert {session.id for session in originals} == set(copies)
    return [(session, copies[session.id]) for session in originals]


def kept(session: Session) -> list[Message]:
    """What happened: repeats and what was taken back are not exported."""
    return [one for one in session.messages if one.counts and one.role is not Role.TOOL]


def test_every_message_keeps_its_own_time(pairs: list[Pair]) -> None:
    dated = 0
    for original, copy in pairs:
        for own, stored in zip(kept(original), kept(copy), strict=True):
            assert stored.timestamp == own.timestamp or own.timestamp is None
        dated += len({one.timestamp for one in kept(copy)}) > 1
    assert dated > len(pairs) // 2


def test_results_keep_the_time_at_which_they_came(pairs: list[Pair]) -> None:
    for original, copy in pairs:
        assert [result_time(copy, call) for call in copy.calls] == [
            result_time(original, call) for call in original.calls
        ]


def result_time(session: Session, call: object) -> float | None:
    for message in session.messages:
        if any(result is call.result for result in message.results):  # type: ignore[attr-defined]
            return message.timestamp
    return None


def test_imported_sessions_have_the_calls_and_outcomes_of_their_originals(
    pairs: list[Pair],
) -> None:
    for original, copy in pairs:
        assert [(c.tool, c.outcome) for c in copy.calls] == [
            (c.tool, c.outcome) for c in original.calls
        ]


def test_model_usage_cost_task_and_title_are_kept(pairs: list[Pair]) -> None:
    for original, copy in pairs:
        for name in ("model", "project", "git_branch", "started_at", "ended_at", "tokens",
                     "cost_usd", "task", "reward"):  # fmt: skip
            assert getattr(copy, name) == getattr(original, name), (original.id, name)
        assert copy.title in (original.title, None)


def test_parents_and_compactions_are_kept(pairs: list[Pair]) -> None:
    with_parent = [pair for pair in pairs if pair[0].parent]
    assert with_parent
    for original, copy in with_parent:
        assert copy.parent == replace(original.parent, id=f"live_store:{original.parent.id}")
    assert any(original.compactions for original, _ in pairs)
    for original, copy in pairs:
        assert len(copy.compactions) == len(original.compactions)
        fates = [[one.fate for one in kept(session)] for session in (original, copy)]
        assert fates[0] == fates[1]
    assert any(one.fate is Fate.ARCHIVED for _, copy in pairs for one in copy.messages)


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    exports = [export_store(s) for s in read_sessions(samples_path(), ReadLog())]
    with SessionDB(tmp_path / "store.db") as db:
        first = db.import_sessions(exports)
        before = db.export_all()
        again = db.import_sessions(exports)
        assert (first["imported"], again["skipped"]) == (len(exports), len(exports))
        assert db.export_all() == before


def test_a_store_read_and_imported_elsewhere_keeps_ids_and_times(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "one.db") as one, SessionDB(tmp_path / "two.db") as two:
        one.import_sessions(map(export_store, read_sessions(samples_path(), ReadLog())))
        two.import_sessions(map(export_store, read_sessions(tmp_path / "one.db", ReadLog())))
        for session in one.export_all():
            copy = two.export_session(session["id"])
            assert copy is not None
            assert [row["timestamp"] for row in copy["messages"]] == [
                row["timestamp"] for row in session["messages"]
            ]
