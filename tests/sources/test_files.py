from __future__ import annotations

import contextlib
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, to_jsonl, write
from warmstart.errors import SourceError
from warmstart.sources.files import (
    MAX_LINE_BYTES,
    Line,
    open_bytes,
    read_json,
    read_json_lines,
    read_lines,
)
from warmstart.sources.json_text import is_json, parse_json
from warmstart.sources.log import ReadLog
from warmstart.sources.unpacking import zstd_module

RECORDS = [{"n": 1}, {"n": 2}, {"n": 3}]
LINES = to_jsonl(RECORDS)


def read(path: Path) -> tuple[list[Any], ReadLog]:
    log = ReadLog()
    return [line.data for line in read_json_lines(path, log)], log


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.zst", "no-suffix"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd_module().compress])
def test_compression_is_seen_in_the_bytes_not_in_the_name(
    tmp_path: Path, name: str, pack: Any
) -> None:
    path = write(tmp_path, name, pack(LINES))
    assert read(path)[0] == RECORDS
    with open_bytes(path) as file:
        assert file.read() == LINES


def test_lines_carry_their_number_blank_ones_included(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'\n{"a":1}\r\n  \n{"b":2}\n')
    lines = list(read_json_lines(path, ReadLog()))
    assert lines == [Line(2, {"a": 1}), Line(4, {"b": 2})]


def test_a_half_written_last_line_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", LINES[:-3])
    first, log = read(path)
    assert (first, log.counts) == (RECORDS[:2], {"last line half-written": 1})


def test_a_last_line_without_its_newline_counts_once(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", LINES[:-1])
    first, log = read(path)
    assert (first, log.total) == (RECORDS, 0)


def test_what_is_no_object_is_counted_by_kind(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'[1]\n"x"\nnull\n{oops\n\x00\x00\n{"ok":1}\n')
    records, log = read(path)
    assert records == [{"ok": 1}]
    assert log.counts == {"line is JSON but not an object": 3, "line is not valid JSON": 2}


def test_a_line_longer_than_the_limit_is_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{"n":1}\n')
    with path.open("r+b") as file:
        file.seek(MAX_LINE_BYTES + 100)
        file.write(b'\n{"n":2}\n')
    records, log = read(path)
    assert records == [{"n": 1}, {"n": 2}]
    assert log.counts == {"line longer than 32 MiB": 1}


@pytest.mark.parametrize("cut", [1, 8, 20])
def test_a_truncated_gzip_gives_what_it_still_holds(tmp_path: Path, cut: int) -> None:
    noise = [{"n": os.urandom(24).hex()} for _ in range(400)]
    path = write(tmp_path, "a.jsonl.gz", gzip.compress(to_jsonl(noise))[:-cut])
    records, log = read(path)
    assert records == noise[: len(records)]
    assert len(records) > 300
    assert log.counts["compressed data broken off"] == 1


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8b\x08garbage", b"\x28\xb5\x2f\xfdgarbage"])
def test_a_stream_broken_from_its_start_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, "a.jsonl", data)
    with pytest.raises(SourceError) as caught:
        read(path)
    assert caught.value.path == path


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert list(read_lines(write(tmp_path, "a.jsonl", b""), ReadLog())) == []


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot read .*gone.*: No such file"):
        read(tmp_path / "gone")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": "\\ud83d"}', {"a": "?"}),
        (b'{"a": ["\\ud83d", {"\\udc00": 1}]}', {"a": ["?", {"?": 1}]}),
        (b'{"a": "\xff\xfe"}', {"a": "��"}),
        (b'{"a": Infinity}', {"a": float("inf")}),
        (b'{"a": 123456789012345678901234567890}', None),
    ],
)
def test_what_agents_write_though_strict_json_forbids_it(text: bytes, value: Any) -> None:
    parsed = parse_json(text)
    assert is_json(parsed)
    assert value is None or parsed == value


def test_nan_is_let_through() -> None:
    assert parse_json(b'{"a": NaN}')["a"] != parse_json(b'{"a": NaN}')["a"]


def test_hostile_nesting_is_no_json() -> None:
    assert not is_json(parse_json(b'{"a":' + b"[" * 200_000))
    assert not is_json(parse_json(b"[" * 100_000 + b"]" * 100_000))


def test_lone_surrogates_are_replaced_outside_objects_too() -> None:
    assert parse_json(b'["\\ud800"]') == ["?"]


def test_a_byte_order_mark_is_no_part_of_the_json() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_a_document_is_read_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json.gz", gzip.compress(json.dumps(RECORDS, indent=2).encode()))
    assert read_json(path) == RECORDS


@pytest.mark.parametrize("data", [b"", b"{", b"\x00\x01", LINES])
def test_a_document_that_is_none_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(SourceError, match="not valid JSON"):
        read_json(write(tmp_path, "a.json", data))


@given(data=damaged(LINES))
def test_damaged_lines_are_read_or_counted(tmp_path: Path, data: bytes) -> None:
    try:
        records, _ = read(write(tmp_path, "a.jsonl", data))
    except SourceError:
        return
    assert all(isinstance(record, dict) for record in records)


@given(data=damaged(gzip.compress(LINES, mtime=0)))
def test_damaged_gzip_raises_nothing_but_a_source_error(tmp_path: Path, data: bytes) -> None:
    with contextlib.suppress(SourceError):
        read(write(tmp_path, "a.jsonl.gz", data))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    os.mkfifo(path)
    with pytest.raises(SourceError, match="not a regular file"):
        read_json(path)
