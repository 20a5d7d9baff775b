from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given

from support.badinput import damaged, to_jsonl, write
from warmstart.errors import SourceError
from warmstart.sources.probe import MAX_RECORDS, probe_path
from warmstart.sources.reader import Probe


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return buffer.getvalue()


def test_a_folder_gives_the_names_in_it(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", b"")
    write(tmp_path, "b/c.txt", b"")
    probe = probe_path(tmp_path)
    assert (probe.is_folder, probe.names) == (True, {"a.txt", "b"})


def test_a_database_gives_its_tables(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE notes (id)")
    assert probe_path(tmp_path / "a.db").tables == {"notes"}


def test_an_archive_gives_its_members(tmp_path: Path) -> None:
    path = write(tmp_path, "a.eval", zipped("header.json", "samples/1.json"))
    assert probe_path(path).members == {"header.json", "samples/1.json"}


def test_lines_give_their_first_records_only(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", to_jsonl([{"n": n} for n in range(50)]))
    probe = probe_path(path)
    assert (probe.is_lines, probe.is_array) == (True, False)
    assert probe.records == tuple({"n": n} for n in range(MAX_RECORDS))


def test_a_few_bad_lines_at_the_head_hide_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b'{bad\n\n[1]\n{worse\n{"a":1}\n')
    assert probe_path(path).records == ({"a": 1},)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_its_own_record(tmp_path: Path, indent: int | None) -> None:
    document = {"a": [1, 2, {"b": 3}]}
    path = write(tmp_path, "a.json", json.dumps(document, indent=indent).encode())
    probe = probe_path(path)
    assert (probe.records, probe.is_array) == ((document,), False)


def test_an_array_gives_its_first_objects(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", json.dumps([{"a": 1}, 5, {"b": 2}], indent=1).encode())
    probe = probe_path(path)
    assert (probe.records, probe.is_array, probe.is_lines) == (({"a": 1}, {"b": 2}), True, False)


def test_a_document_with_an_object_on_a_line_is_still_a_document(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", b'{"items": [\n{"n": 1},\n{"n": 2}\n]}\n')
    assert probe_path(path).records == ({"items": [{"n": 1}, {"n": 2}]},)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"hello", b"\x00" * 99, b"{", b"[1, 2", b"5"])
def test_what_holds_no_record_is_an_empty_probe(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, "a.json", data)
    assert probe_path(path) == Probe(path=path)


def test_packed_files_are_looked_into(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl.gz", gzip.compress(to_jsonl([{"a": 1}])))
    assert probe_path(path).records == ({"a": 1},)


def test_a_long_truncated_gzip_is_still_known_by_its_head(tmp_path: Path) -> None:
    noise = to_jsonl([{"n": os.urandom(50).hex()} for _ in range(400)])
    path = write(tmp_path, "a.jsonl.gz", gzip.compress(noise)[:-50])
    assert len(probe_path(path).records) == MAX_RECORDS


def test_a_short_truncated_gzip_is_still_known_by_its_head(tmp_path: Path) -> None:
    noise = to_jsonl([{"n": os.urandom(20).hex()} for _ in range(20)])
    path = write(tmp_path, "a.jsonl.gz", gzip.compress(noise)[:-50])
    assert probe_path(path).records


def test_a_byte_order_mark_hides_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", b"\xef\xbb\xbf" + to_jsonl([{"a": 1}]))
    assert probe_path(path).records == ({"a": 1},)


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"PK\x03\x04 and no more of it"])
def test_a_broken_archive_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(SourceError):
        probe_path(write(tmp_path, "a.eval", data))


@pytest.mark.parametrize("old", [b"\x14\x03\x14\x00", "ö.json".encode()])
def test_an_archive_with_a_broken_index_is_an_error(tmp_path: Path, old: bytes) -> None:
    data = bytearray(zipped("ö.json"))
    at = data.rindex(old)
    data[at : at + len(old)] = b"\xff" * len(old)
    with pytest.raises(SourceError):
        probe_path(write(tmp_path, "a.eval", bytes(data)))


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="gone"):
        probe_path(tmp_path / "gone")


@given(data=damaged(to_jsonl([{"a": 1}, {"b": [2]}])))
def test_damaged_lines_raise_nothing_but_a_source_error(tmp_path: Path, data: bytes) -> None:
    with contextlib.suppress(SourceError):
        probe_path(write(tmp_path, "a.jsonl", data))
