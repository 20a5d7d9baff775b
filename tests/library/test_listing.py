"""A library opened for reading: what it lists, and what it never does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.template_cases import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.errors import NotFoundError
from warmstart.library import Library
from warmstart.library.versions import UNKNOWN
from warmstart.model.state import Arm, TemplateState
from warmstart.store import SessionDB, Start, StoreError, StoreVersionError, open_template_db

ONE = make_template()
TWO = replace(ONE, description="second")


def fill(library: Library) -> None:
    library.save(ONE, state=TemplateState.APPROVED)
    library.save(TWO, state=TemplateState.QUARANTINED)
    saved = library.save(replace(ONE, name="other"), state=TemplateState.DRAFT)
    start = Start(
        agent="a", arm=Arm.WARM, template="other", template_id=saved.id, version=1, started_at=1.0
    )
    db = library.require_db()
    db.settle_start(db.record_start(start), "a:s1", calls=3, errors=1, success=True)


def downgrade(path: Path) -> None:
    """A store as it was before it knew templates."""
    path.unlink()
    with SessionDB(path) as db:
        db._conn.execute("DELETE FROM schema_version WHERE version >= 4")


def test_a_reader_lists_what_the_library_lists(home: Path, library: Library) -> None:
    fill(library)
    with open_library(Workspace(home), read_only=True) as reader:
        assert reader.list() == library.list()
        assert reader.versions("py-tests") == library.versions("py-tests")
    other = next(row for row in library.list() if row.name == "other")
    assert (other.record.uses, other.record.successes) == (1, 1)
    assert [row.newest for row in library.list()] == [1, 2]


def test_a_name_that_is_not_there_has_no_versions(home: Path, library: Library) -> None:
    fill(library)
    with open_library(Workspace(home), read_only=True) as reader, pytest.raises(NotFoundError):
        reader.versions("nobody")


def test_without_a_store_every_file_is_quarantined(home: Path, library: Library) -> None:
    fill(library)
    library.close()
    (home / "store.db").unlink()
    with open_library(Workspace(home), read_only=True) as reader:
        rows = reader.list()
    assert {(row.name, row.state, row.reason) for row in rows} == {
        ("py-tests", TemplateState.QUARANTINED, UNKNOWN),
        ("other", TemplateState.QUARANTINED, UNKNOWN),
    }
    assert not (home / "store.db").exists()


def test_a_store_from_before_templates_knows_none(home: Path, library: Library) -> None:
    fill(library)
    library.close()
    downgrade(home / "store.db")
    with open_library(Workspace(home), read_only=True) as reader:
        assert [row.reason for row in reader.list()] == [UNKNOWN, UNKNOWN]


def test_a_newer_store_is_refused_and_let_go_of(home: Path, library: Library) -> None:
    db = library.require_db()
    assert isinstance(db, SessionDB)
    db._conn.execute("INSERT INTO schema_version VALUES (999, 0, 'm999_future')")
    with pytest.raises(StoreVersionError, match="999"):
        open_library(Workspace(home), read_only=True)


def test_what_is_no_store_is_an_error(home: Path) -> None:
    (home / "store.db").write_bytes(b"no database at all" * 90)
    with pytest.raises(StoreError):
        open_library(Workspace(home), read_only=True)


def test_reading_templates_writes_nothing(home: Path, library: Library) -> None:
    fill(library)
    db = open_template_db(home / "store.db")
    assert db is not None
    with db, pytest.raises(StoreError, match="readonly"):
        db.delete_template_rows("shop")
    assert len(library.list()) == 2
