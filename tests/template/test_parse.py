"""Files nobody vouches for: read within limits, or refused in one sentence."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.template import Limits, TemplateError, parse_document

HOSTILE = {
    "a name that stands twice": b'{"a": 1, "a": 2}',
    "NaN": b'{"a": NaN}',
    "infinity": b"[-Infinity]",
    "a float too large": b"[1e999]",
    "an integer too large": b"[123456789012345678]",
    "an integer of many digits": b"[" + b"9" * 5000 + b"]",
    "half a surrogate": rb'["\ud800"]',
    "half a surrogate in a name": rb'{"\udfff": 1}',
    "no UTF-8": b'["\xff"]',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "nothing": b"",
    "two documents": b"{} {}",
    "a cut file": b'{"name": "x", "exam',
    "an unclosed text of escapes": b'"' + rb"\"" * 5000,
    "a control character": b'["\x01"]',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000,
    "deep and closed": b"[" * 40 + b"]" * 40,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_cannot_be_read_one_way_is_refused(what: str) -> None:
    with pytest.raises(TemplateError):
        parse_document(HOSTILE[what])


def test_a_large_file_is_refused_before_it_is_read() -> None:
    with pytest.raises(TemplateError, match="larger than 100 bytes"):
        parse_document(b" " * 101, Limits(file_bytes=100))


def test_brackets_inside_texts_are_no_depth() -> None:
    assert parse_document(json.dumps(["[" * 1000, '"[{' * 50]).encode()) == ["[" * 1000, '"[{' * 50]


def test_surrogate_pairs_are_ordinary_text() -> None:
    assert parse_document(rb'["\ud83d\ude00"]') == ["😀"]


def test_an_error_never_holds_a_value_of_the_file() -> None:
    with pytest.raises(TemplateError) as caught:
        parse_document(b'{"token": "ghp_thisIsNotToBePrinted", "a": 1, "a": 1}')
    assert "ghp_" not in str(caught.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(TemplateError):
        value = parse_document(data)
        assert json.loads(data.decode()) == value


@given(st.recursive(st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=20),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=20))  # fmt: skip
def test_ordinary_json_is_read_as_it_is(value: object) -> None:
    assert parse_document(json.dumps(value).encode()) == value
