"""Titles, on both databases."""

from __future__ import annotations

import pytest

from warmstart.store import SessionDB, TitleError


def test_a_title_is_set_cleaned_and_cleared(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    assert db.set_title("s1", "  Mend\tthe \u200bshop\x07 ")
    assert db.get_session_title("s1") == "Mend the shop"
    assert db.set_session_title("s1", "")
    assert db.get_session_title("s1") is None


def test_a_title_needs_a_session(db: SessionDB) -> None:
    assert not db.set_session_title("nobody", "x")
    assert db.get_session_title("nobody") is None


def test_a_title_belongs_to_one_session(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.create_session("s2", "cli")
    db.set_title("s1", "shop")
    assert db.set_title("s1", "shop")
    with pytest.raises(TitleError, match="already in use by session s1"):
        db.set_title("s2", "shop")


def test_a_title_is_at_most_a_hundred_characters() -> None:
    assert SessionDB.sanitize_title("x" * 100) == "x" * 100
    assert SessionDB.sanitize_title(None) is None
    with pytest.raises(ValueError, match="too long"):
        SessionDB.sanitize_title("x" * 101)


def test_a_session_is_found_by_its_title(db: SessionDB) -> None:
    db.create_session("s1", "cli")
    db.set_title("s1", "50% of_shop")
    found = db.get_session_by_title("50% of_shop")
    assert found is not None
    assert found["id"] == "s1"
    assert db.get_session_by_title("50% of shop") is None


def test_continuations_are_numbered_and_the_last_one_is_found(db: SessionDB) -> None:
    assert db.get_next_title_in_lineage("shop") == "shop"
    for session_id, title in (
        ("s1", "shop"),
        ("s2", "shop #2"),
        ("s3", "shop #10"),
        ("s4", "shop #x"),
    ):
        db.create_session(session_id, "cli")
        db.set_title(session_id, title)
    assert db.get_next_title_in_lineage("shop #2") == "shop #11"
    assert db.resolve_session_by_title("shop") == "s3"
    assert db.resolve_session_by_title("other") is None
