"""Compressed files that unpack to far more than they are: counted, within little memory."""

from __future__ import annotations

import gzip
import io
import json
import struct
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from support.badinput import write
from support.limited import read_limited
from warmstart.errors import SourceError
from warmstart.sources import ReadLog
from warmstart.sources.files import read_json, read_lines
from warmstart.sources.unpacking import zstd_module

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

MAX_MEGABYTES = 250
BOMB_BYTES = 300 << 20
GOOD = b'{"messages":[{"role":"user","content":"Run it."}]}\n'
PIECE = 1 << 20
EMPTY = b"[],{}," * (PIECE // 6)
LINE = b'{"type":"user","parentUuid":null,"message":{"role":"user","content":"x"}}\n'
OPENINGS: dict[str, tuple[bytes, bytes]] = {
    "one long text": (b'{"messages":"', b"a" * PIECE),
    "one long list": (b"[", b" " * PIECE),
    "empty lists": (b'[{"role":"user","content":"x"},', EMPTY),
    "a line of empty lists": (GOOD + b'{"messages":[', EMPTY),
    "deep nesting": (b'{"messages":' + b"[" * PIECE, b"[" * PIECE),
    "empty lines": (GOOD, b"\n" * PIECE),
    "small lines": (LINE, LINE * (PIECE // len(LINE))),
    "numbers": (b"[1", b",1" * (PIECE // 2)),
    "zeros": (b"", b"\0" * PIECE),
    "a wide letter": ('[{"role":"user","content":"\U0001f600'.encode(), b"a" * PIECE),
    "a database": (b"SQLite format 3\0", b"\0" * PIECE),
}


def pour(opening: bytes, piece: bytes) -> Iterable[bytes]:
    yield opening
    for _ in range(BOMB_BYTES // len(piece)):
        yield piece


def pack_gzip(pieces: Iterable[bytes]) -> bytes:
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1) as file:
        for piece in pieces:
            file.write(piece)
    return target.getvalue()


def pack_zstd(pieces: Iterable[bytes]) -> bytes:
    target = io.BytesIO()
    with zstd_module().ZstdFile(target, "wb", level=1) as file:
        for piece in pieces:
            file.write(piece)
    return target.getvalue()


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [*((kind, "zst") for kind in OPENINGS), ("one long text", "gz"), ("one long list", "gz"),
     ("empty lists", "gz"), ("empty lines", "gz"), ("zeros", "gz")],
)  # fmt: skip
def test_a_bomb_takes_little_memory_and_the_rest_is_read(
    tmp_path: Path, kind: str, suffix: str
) -> None:
    pack = pack_zstd if suffix == "zst" else pack_gzip
    write(tmp_path, f"bomb.jsonl.{suffix}", pack(pour(*OPENINGS[kind])))
    write(tmp_path, "good.jsonl", GOOD)
    found = read_limited(tmp_path)
    assert f"openai_chat:{tmp_path.name}/good:1" in [name for name, _, _ in found.sessions]
    assert found.skipped
    assert found.peak_megabytes < MAX_MEGABYTES


HEADER = json.dumps({"eval": {"task": "t", "model": "m", "eval_id": "e"}, "plan": {}}).encode()
SAMPLE = b'{"id":1,"epoch":1,"messages":[{"role":"user","content":"x"}]}'


def write_archive(path: Path, method: int, sample: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", compression=method) as archive:
        archive.writestr("header.json", HEADER)
        archive.writestr("samples/1_epoch_1.json", sample)
        archive.writestr("samples/2_epoch_1.json", SAMPLE)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD])
@pytest.mark.parametrize("lies", [False, True])
def test_a_bomb_in_an_archive_is_one_sample_that_is_skipped(
    tmp_path: Path, method: int, *, lies: bool
) -> None:
    bomb = b'{"id":1,"epoch":1,"input":"' + b"a" * BOMB_BYTES + b'"}'
    path = write_archive(tmp_path / "a.eval", method, bomb)
    if lies:  # about how large the entry is when it is unpacked
        data = path.read_bytes().replace(struct.pack("<I", len(bomb)), struct.pack("<I", 90))
        path.write_bytes(data)
    found = read_limited(tmp_path)
    assert [messages for _, messages, _ in found.sessions] == [1]
    assert len(found.skipped) == 1
    assert found.peak_megabytes < MAX_MEGABYTES


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.eval", zipfile.ZIP_STORED, SAMPLE + b" " * 900)
    size = struct.pack("<I", len(SAMPLE))
    path.write_bytes(path.read_bytes().replace(size * 2, struct.pack("<I", 1500) * 2))
    found = read_limited(path)
    assert found.error is not None
    assert "overlap" in found.error


def test_a_sample_that_repeats_its_messages_without_end_is_skipped(tmp_path: Path) -> None:
    shell = {"id": 1, "epoch": 1, "message_refs": [[0, 20_000]] * 50_000}
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", HEADER)
        archive.writestr("samples/1_epoch_1/sample.json", json.dumps(shell))
        archive.writestr(
            "samples/1_epoch_1/messages/0.json", json.dumps([{"role": "user"}] * 20_000)
        )
    found = read_limited(tmp_path)
    assert found.sessions == []
    assert "again and again" in found.skipped[0]
    assert found.peak_megabytes < MAX_MEGABYTES


@pytest.mark.parametrize("pack", [pack_zstd, pack_gzip])
def test_a_small_file_may_shrink_as_much_as_it_likes(
    tmp_path: Path, pack: Callable[[Iterable[bytes]], bytes]
) -> None:
    text = json.dumps([{"role": "user", "content": "a" * 12_000_000}]).encode()
    path = write(tmp_path, "a.json.packed", pack([text]))
    assert len(path.read_bytes()) < 100_000
    assert len(read_json(path)[0]["content"]) == 12_000_000


def test_what_came_before_the_limit_is_read_and_the_rest_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl.zst", pack_zstd(pour(GOOD, b" " * (PIECE - 1) + b"\n")))
    log = ReadLog()
    assert next(iter(read_lines(path, log)))[1] == GOOD
    assert list(read_lines(path, log))
    assert list(log.counts) == ["it unpacks to far more than its size; unpack it to have it read"]


def test_a_zstd_file_that_wants_a_large_window_is_refused(tmp_path: Path) -> None:
    zstd = zstd_module()
    options = {zstd.CompressionParameter.window_log: 27}
    packed = zstd.compress(bytes(range(256)) * (1 << 18), options=options)
    with pytest.raises(SourceError, match="cannot read"):
        read_json(write(tmp_path, "a.json.zst", packed))
