"""One walk over every text of a record."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
import pytest

from warmstart.model.texts import map_texts


class Kind(StrEnum):
    A = "a"


class Pair(NamedTuple):
    kind: Kind
    text: str


class Row(msgspec.Struct, frozen=True):
    text: str
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class Record:
    text: str = "x"
    arguments: dict[str, Any] = field(default_factory=dict)
    parts: tuple[Any, ...] = ()
    digest: str = "d"


def test_every_text_is_reached_and_nothing_else_changes() -> None:
    value = Record(
        arguments={"k": ["v", None, 1.5]}, parts=(Pair(Kind.A, "p"), Row("r"), frozenset({"s"}))
    )
    assert map_texts(value, str.upper, skip=("digest",)) == Record(
        text="X",
        arguments={"K": ["V", None, 1.5]},
        parts=(Pair(Kind.A, "P"), Row("R"), frozenset({"S"})),
    )


def test_arguments_may_be_given_whole() -> None:
    found = map_texts(Record(arguments={"k": "v"}), str.upper, on_arguments=len)
    assert (found.arguments, found.text) == (1, "X")


def test_names_that_become_one_stay_two() -> None:
    assert map_texts({"a": 1, "A": 2}, str.upper) == {"A": 1, "A'": 2}


def test_what_cannot_be_looked_into_is_an_error() -> None:
    with pytest.raises(TypeError, match="object"):
        map_texts([object()], str.upper)
