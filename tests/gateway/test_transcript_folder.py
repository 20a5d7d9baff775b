"""Transcripts as JSONL files."""

from __future__ import annotations

import logging
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.gateway import RecordError, UnsafeNameError
from warmstart.gateway.transcripts import TranscriptFolder
from warmstart.store import StoreError

MESSAGES = st.dictionaries(
    st.sampled_from(["role", "content", "tool_calls", "x"]),
    st.none()
    | st.integers()
    | st.text(st.characters())
    | st.lists(st.text(max_size=3), max_size=2),
)


@pytest.fixture
def folder(tmp_path: Path) -> TranscriptFolder:
    return TranscriptFolder(tmp_path / "sessions")


def say(text: Any, **fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": text} | fields


def test_what_is_appended_is_read_in_order(folder: TranscriptFolder) -> None:
    for text in ("one", "zwei ü", "三\n"):
        folder.append("s1", say(text))
    assert [m["content"] for m in folder.read("s1")] == ["one", "zwei ü", "三\n"]


def test_files_are_private(folder: TranscriptFolder) -> None:
    folder.append("s1", say("x"))
    assert stat.S_IMODE(folder.path("s1").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.folder.stat().st_mode) == 0o700


def test_a_session_without_a_file_has_said_nothing(folder: TranscriptFolder) -> None:
    assert folder.read("none") == []


@pytest.mark.parametrize("session_id", ["../up", "a/b", "", ".."])
def test_an_id_cannot_name_a_file_elsewhere(folder: TranscriptFolder, session_id: str) -> None:
    with pytest.raises(UnsafeNameError):
        folder.append(session_id, say("x"))


@pytest.mark.parametrize("keep", range(1, 30, 7))
def test_a_torn_last_line_costs_only_itself(folder: TranscriptFolder, keep: int) -> None:
    folder.append("s1", say("one"))
    folder.append("s1", say("torn"))
    path = folder.path("s1")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:keep])
    assert [m["content"] for m in folder.read("s1")] == ["one"]
    folder.append("s1", say("two"))
    assert [m["content"] for m in folder.read("s1")] == ["one", "two"]


def test_a_broken_line_is_skipped_and_said(
    folder: TranscriptFolder, caplog: pytest.LogCaptureFixture
) -> None:
    folder.append("s1", say("one"))
    with folder.path("s1").open("ab") as file:
        file.write(b'\xff\xfe\n[1]\n\n{"role":')
    folder.append("s1", say("two"))
    with caplog.at_level(logging.WARNING):
        assert [m["content"] for m in folder.read("s1")] == ["one", "two"]
    assert [r.args and r.args[0] for r in caplog.records] == [2, 3, 5]


def test_a_message_delivered_twice_is_read_once(folder: TranscriptFolder) -> None:
    for _ in range(2):
        folder.append("s1", say("hello", platform_message_id=17))
        folder.append("s1", say("hello"))
    assert len(folder.read("s1")) == 3


def test_rewriting_replaces_everything_and_leaves_no_scraps(folder: TranscriptFolder) -> None:
    folder.append("s1", say("old"))
    folder.rewrite("s1", [say("new"), say("er")])
    assert [m["content"] for m in folder.read("s1")] == ["new", "er"]
    assert [path.name for path in folder.folder.iterdir()] == ["s1.jsonl"]


def test_what_json_cannot_say_is_refused_before_anything_is_written(
    folder: TranscriptFolder,
) -> None:
    with pytest.raises(RecordError, match="cannot be written as JSON"):
        folder.append("s1", say({1, 2}))
    with pytest.raises(RecordError):
        folder.rewrite("s1", [say("fine"), say(object())])
    assert not folder.folder.exists()


def test_threads_do_not_mix_their_lines(folder: TranscriptFolder) -> None:
    def write(name: int) -> None:
        for number in range(50):
            folder.append("s1", say(f"{name} {number} " + "x" * 500))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [tuple(map(int, m["content"].split()[:2])) for m in folder.read("s1")]
    assert len(said) == 200
    assert all([n for who, n in said if who == name] == list(range(50)) for name in range(4))


@given(st.lists(MESSAGES, max_size=5))
def test_any_message_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, messages: list[dict[str, Any]]
) -> None:
    folder = TranscriptFolder(tmp_path_factory.mktemp("any"))
    for message in messages:
        folder.append("s1", message)
    assert folder.read("s1") == messages


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = TranscriptFolder(tmp_path_factory.mktemp("any"))
    folder.path("s1").write_bytes(data)
    before = len(folder.read("s1"))
    folder.append("s1", say("after"))
    assert len(folder.read("s1")) == before + 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said(folder: TranscriptFolder) -> None:
    folder.folder.mkdir()
    folder.path("s1").symlink_to("/dev/full")
    with pytest.raises(StoreError, match="could not be written"):
        folder.append("s1", say("x"))


def test_a_half_written_line_is_taken_back(folder: TranscriptFolder) -> None:
    folder.append("s1", say("one"))
    before = folder.path("s1").read_bytes()
    room = len(before) + 10
    code = "\n".join([
        "import resource, signal, sys",
        "from pathlib import Path",
        "from warmstart.gateway.transcripts import TranscriptFolder",
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))",
        f"TranscriptFolder(Path({str(folder.folder)!r})).append('s1', {{'content': 'x' * 99}})",
    ])  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "could not be written" in done.stderr
    assert folder.path("s1").read_bytes() == before


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = TranscriptFolder(tmp_path / "file" / "sessions")
    for write in (lambda: folder.append("s1", say("x")), lambda: folder.rewrite("s1", [say("x")])):
        with pytest.raises(StoreError, match=r"s1\.jsonl"):
            write()
