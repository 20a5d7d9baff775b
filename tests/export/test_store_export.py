"""A session of any format goes into the live store and comes out the same."""

from __future__ import annotations

from pathlib import Path

from warmstart.export import export_store
from warmstart.samples import samples_path
from warmstart.sources import ReadLog, read_sessions
from warmstart.store import SessionDB


def test_imported_sessions_have_the_calls_and_outcomes_of_their_originals(tmp_path: Path) -> None:
    originals = list(read_sessions(samples_path(), ReadLog()))
    with SessionDB(tmp_path / "store.db") as db:
        db.import_sessions(map(export_store, originals))
    copies = {s.native_id: s for s in read_sessions(tmp_path / "store.db", ReadLog())}
    assert {s.id for s in originals} == set(copies)
    for original in originals:
        copy = copies[original.id]
        assert [c.tool for c in copy.calls] == [c.tool for c in original.calls]


def test_importing_twice_changes_nothing(tmp_path: Path) -> None:
    exports = [export_store(s) for s in read_sessions(samples_path(), ReadLog())]
    with SessionDB(tmp_path / "store.db") as db:
        first = db.import_sessions(exports)
        before = db.message_count()
        again = db.import_sessions(exports)
        assert (first["imported"], again["imported"]) == (len(exports), 0)
        assert db.message_count() == before
