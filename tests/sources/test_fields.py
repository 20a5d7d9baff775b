from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.badinput import ODD_VALUES
from warmstart.model import Tokens
from warmstart.sources.fields import (
    as_bool,
    as_float,
    as_int,
    as_list,
    as_text,
    parse_time,
    parse_tokens,
)
from warmstart.wire import as_dict, as_dicts, as_id, content_text, encode_text, parse_arguments

MOMENT = 1_767_225_600.0
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize("value", [None, 5, "x", True, [1]])
def test_a_wrong_type_is_an_empty_object(value: Any) -> None:
    assert as_dict(value) == {}


def test_lists_give_their_objects_and_pass_over_the_rest() -> None:
    assert list(as_dicts([{"a": 1}, 5, None, {"b": 2}])) == [{"a": 1}, {"b": 2}]
    assert as_list("abc") == list(as_dicts({"a": 1})) == []


def test_text_is_a_string_with_something_in_it() -> None:
    assert [as_text(v) for v in ("x", "", None, 5)] == ["x", None, None, None]


def test_an_id_may_be_a_whole_number_but_no_truth_value() -> None:
    assert [as_id(v) for v in ("x", 7, 0, True, 1.5, "")] == ["x", "7", "0", None, None, None]


def test_whole_numbers_are_taken_in_every_spelling() -> None:
    assert [as_int(v) for v in (3, 3.0, "3", "-3")] == [3, 3, 3, -3]
    assert [as_int(v) for v in (True, 3.5, "x", "", "-", None, "9" * 30)] == [None] * 7


def test_digits_behind_two_signs_are_no_number() -> None:
    assert as_int("--5") is None


def test_only_finite_numbers_are_numbers() -> None:
    assert [as_float(v) for v in (1, 1.5)] == [1.0, 1.5]
    bad = (True, "1.5", float("nan"), float("inf"), 10**400, None)
    assert [as_float(v) for v in bad] == [None] * 6


def test_truth_is_written_as_truth() -> None:
    assert [as_bool(v) for v in (True, False, 1, "true", None)] == [True, False, None, None, None]


@pytest.mark.parametrize(
    "value",
    [
        MOMENT,
        int(MOMENT),
        MOMENT * 1000,
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00",
        "2026-01-01",
        "2026-01-01T01:00:00+01:00",
        "2026-01-01T00:00:00.000000000Z",
    ],
)
def test_a_time_is_the_same_in_every_spelling(value: Any) -> None:
    assert parse_time(value) == MOMENT


@pytest.mark.parametrize(
    "value",
    [None, True, "", "soon", "2026-13-01T00:00:00", 0, -5, 1e30, float("nan"), "x" * 500, [], {}],
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert parse_time(value) is None


@pytest.mark.parametrize("value", ["1712121212000", "0001-01-01T00:00:00"])
def test_no_time_lies_before_the_epoch(value: str) -> None:
    moment = parse_time(value)
    assert moment is None or moment > 0


def test_arguments_come_as_an_object_or_as_its_json() -> None:
    assert parse_arguments({"a": 1}) == parse_arguments('{"a": 1}') == ({"a": 1}, None)
    assert parse_arguments(None) == parse_arguments("  ") == ({}, None)


@pytest.mark.parametrize("value", ["ls -l", "[1]", '{"a": ', '"x"', '{"a": NaN}', "\ud800"])
def test_arguments_that_are_no_object_are_kept_as_written(value: str) -> None:
    assert parse_arguments(value) == ({}, value)


def test_arguments_of_another_type_are_kept_as_json() -> None:
    assert parse_arguments([1, "x"]) == ({}, '[1,"x"]')


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        (None, ""),
        (5, ""),
        ([{"type": "text", "text": "a"}, "b", {"type": "image"}, 5], "a\nb\n[image]"),
        ({"type": "tool_result", "content": [{"type": "text", "text": "in"}, "out"]}, "in\nout"),
        ({"output": {"text": "deep"}}, "deep"),
        ([{"thinking": "hm"}, {}], "hm"),
        ([[["x"]]], ""),
    ],
)
def test_content_is_text_whatever_its_blocks(value: Any, text: str) -> None:
    assert content_text(value) == text


def test_any_value_has_a_dump() -> None:
    assert encode_text({"a": [1, None]}) == '{"a":[1,null]}'
    assert encode_text(2**70) == str(2**70)


def nest(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def test_a_dump_survives_moderate_nesting() -> None:
    assert encode_text(nest(400)).startswith("[[[")


def test_a_dump_survives_hostile_nesting() -> None:
    assert isinstance(encode_text(nest(1000)), str)


NAMES = {"input": "in", "output": "out"}


def test_tokens_are_named_by_the_format() -> None:
    assert parse_tokens({"in": 5, "out": "7", "more": 9}, NAMES) == Tokens(input=5, output=7)


@pytest.mark.parametrize("usage", [None, [], {}, {"in": 0}, {"in": None}, {"in": "x"}])
def test_no_usage_is_no_tokens(usage: Any) -> None:
    assert parse_tokens(usage, NAMES) is None


def test_negative_counts_are_none() -> None:
    assert parse_tokens({"in": -5, "out": 3}, NAMES) == Tokens(output=3)
    assert parse_tokens({"in": 2**62, "out": 3}, NAMES) == Tokens(output=3)


@given(value=JSON | st.sampled_from(ODD_VALUES))
def test_no_getter_ever_raises(value: Any) -> None:
    for getter in (as_dict, as_list, as_text, as_id, as_float, as_bool, parse_time):
        getter(value)
    assert isinstance(content_text(value), str)
    assert isinstance(encode_text(value), str)
    data, _ = parse_arguments(value)
    assert isinstance(data, dict)
    parse_tokens(value, NAMES)
