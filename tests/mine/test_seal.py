"""Sealing fails closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from support.mining import make_worked
from warmstart.mine.people import find_names, make_eraser
from warmstart.mine.seal import SealError, seal, walk_fields
from warmstart.model import Marker, MarkerKind
from warmstart.model.template import Example, Guidance, Provenance
from warmstart.redact import RedactionError, Redactor


def draft(**fields: Any) -> dict[str, Any]:
    return {"name": "shop", "provenance": Provenance(), **fields}


class Broken:
    """A redactor that cannot run."""

    found: Mapping[str, int] = {}

    def text(self, text: str) -> str:
        raise RedactionError(f"out of order for {len(text)} characters")

    def value(self, value: Any) -> Any:
        raise RedactionError(f"out of order for a {type(value).__name__}")


class Restless(Broken):
    """A redactor whose output is never clean."""

    def text(self, text: str) -> str:
        return text if text == "shop" else text + "!"


def test_without_redaction_there_is_no_template() -> None:
    with pytest.raises(RedactionError):
        seal(draft(), Broken())


def test_redaction_that_does_not_settle_makes_no_template() -> None:
    with pytest.raises(SealError, match="did not come to an end"):
        seal(draft(description="x"), Restless())


def test_a_name_that_gives_someone_away_is_refused() -> None:
    with pytest.raises(SealError, match="name"):
        seal(draft(name="matilda"), Redactor(), names=["matilda"])


def test_every_kind_of_field_is_reached() -> None:
    sealed = seal(
        draft(
            description="by matilda",
            tags=("matilda",),
            guidance=(Guidance(tool="matilda", text="matilda", calls=1, errors=0),),
            examples=(Example(tool="t", arguments={"matilda": ["matilda"]}, result="matilda"),),
            markers=(Marker(MarkerKind.FILE, "matilda.py", 2),),
            provenance=Provenance(models={"matilda": 1}, tasks=("matilda",)),
        ),
        Redactor(),
        names=["matilda"],
    )
    assert "matilda" not in repr(sealed)
    assert sealed.markers == (Marker(MarkerKind.FILE, "<user>.py", 2),)


def test_what_cannot_be_checked_is_refused() -> None:
    with pytest.raises(SealError, match="cannot be checked"):
        walk_fields({"a": object()}, str)


def test_names_come_from_homes_and_commits_but_not_from_everyday_words() -> None:
    steps = [
        (
            "Bash",
            {"command": "ls /home/runner/x C:\\Users\\Otto\\y"},
            "-Users-ida-code-shop",
            False,
        ),
        ("Bash", {"command": "git log"}, "Author: Ida Lund <i@x.example>", False),
        ("Bash", {"command": "git log -2"}, "Co-Authored-By: Claude <c@x.example>", False),
    ]
    found = find_names([make_worked("n", steps, project="/home/dev/shop")])
    assert {"otto", "ida", "ida lund"} <= found
    assert found.isdisjoint({"runner", "dev", "claude"})


def test_erasing_leaves_other_words_alone() -> None:
    erase = make_eraser(["ida"])
    assert erase("Ida wrote /home/ida/a.py; Idaho stays") == "<user> wrote ~/a.py; Idaho stays"
    assert erase('{"text": "by\\nida"}') == '{"text": "by\\n<user>"}'
    assert make_eraser([])("/home/dev/a.py") == "~/a.py"
