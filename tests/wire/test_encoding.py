"""Whatever a foreign file held can be written as one line."""

from __future__ import annotations

import json
from typing import Any

from warmstart.wire import encode_json, encode_line
from warmstart.wire.encoding import TOO_DEEP


def test_a_line_ends_with_its_only_line_break() -> None:
    line = encode_line({"text": "two\nlines"})
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")


def test_numbers_beyond_64_bits_and_lone_surrogates_are_written() -> None:
    assert json.loads(encode_json({"n": 2**70, "s": "\ud83d"})) == {"n": 2**70, "s": "\ud83d"}


def test_json_for_people_is_indented_either_way() -> None:
    assert encode_json({"a": 1}, indent=True) == b'{\n  "a": 1\n}'
    assert encode_json({"a": 2**70}, indent=True).startswith(b'{\n  "a": 1180')


def test_hostile_nesting_is_cut_and_marked() -> None:
    value: Any = "end"
    for _ in range(900):
        value = {"a": [value]}
    text = encode_line({"arguments": value, "kept": True})
    assert TOO_DEEP.encode() in text
    assert json.loads(text)["kept"] is True
