from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.badinput import to_jsonl, write
from warmstart.errors import FormatError, NotFoundError, SourceError, UsageError
from warmstart.model import Session
from warmstart.sources import (
    FoundUnit,
    Probe,
    ReadLog,
    Unit,
    find_units,
    get_reader,
    read_sessions,
    read_unit,
)
from warmstart.sources.assemble import build_session

NOBODY = 65534


def chat(text: str = "hi") -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def share(text: str = "hi") -> dict[str, Any]:
    return {"conversations": [{"from": "human", "value": text}]}


RUNS = json.dumps([{"task_id": 1, "trial": 0, "reward": 1.0, "traj": []}]).encode()


def scan(path: Path, format_name: str | None = None) -> tuple[list[str], ReadLog]:
    log = ReadLog()
    return [session.id for session in read_sessions(path, log, format_name)], log


def test_a_folder_of_mixed_formats_is_read_by_the_right_readers(tmp_path: Path) -> None:
    write(tmp_path, "chat.jsonl", to_jsonl([chat(), chat()]))
    write(tmp_path, "deep/er/share.jsonl.gz", gzip.compress(to_jsonl([share()])))
    write(tmp_path, "runs.json", RUNS)
    ids, log = scan(tmp_path)
    assert sorted(ids) == [
        f"openai_chat:{tmp_path.name}/chat:1",
        f"openai_chat:{tmp_path.name}/chat:2",
        "sharegpt:er/share:1",
        f"tau_bench:{tmp_path.name}/runs/1/0",
    ]
    assert log.total == 0


def test_files_come_oldest_first(tmp_path: Path) -> None:
    for age, name in enumerate(["b", "c", "a"]):
        path = write(tmp_path, f"{name}.jsonl", to_jsonl([chat()]))
        os.utime(path, (1000 + age, 1000 + age))
    assert [i.split("/")[-1] for i in scan(tmp_path)[0]] == ["b:1", "c:1", "a:1"]


@pytest.mark.parametrize("name", [".git", "node_modules", "__pycache__", ".venv"])
def test_folders_that_hold_no_sessions_are_not_entered(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"{name}/chat.jsonl", to_jsonl([chat()]))
    assert scan(tmp_path)[0] == []


def test_files_with_other_suffixes_are_not_opened(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", to_jsonl([chat()]))
    ids, log = scan(tmp_path)
    assert (ids, log.total) == ([], 0)


def test_links_to_files_are_followed_and_links_to_folders_are_not(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere", "chat.jsonl", to_jsonl([chat()]))
    folder = tmp_path / "scanned"
    folder.mkdir()
    (folder / "linked.jsonl").symlink_to(target)
    (folder / "dangling.jsonl").symlink_to(tmp_path / "gone")
    (folder / "loop").symlink_to(folder)
    ids, log = scan(folder)
    assert (ids, log.total) == (["openai_chat:scanned/linked:1"], 0)


def test_a_link_named_by_the_user_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "real", "chat.jsonl", to_jsonl([chat()]))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert scan(tmp_path / "link")[0] == ["openai_chat:link/chat:1"]


def test_what_cannot_be_read_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    noise = to_jsonl([chat(os.urandom(20).hex()) for _ in range(9)])
    write(tmp_path, "cut.jsonl.gz", gzip.compress(noise)[:20])
    write(tmp_path, "empty.jsonl", b"")
    write(tmp_path, "other.json", b'{"a": 1}')
    write(tmp_path, "bad.db", b"no database" * 100)
    write(tmp_path, "good.jsonl", to_jsonl([chat()]))
    ids, log = scan(tmp_path)
    assert ids == [f"openai_chat:{tmp_path.name}/good:1"]
    assert log.counts["file of no known format"] == 2
    assert log.total == 4


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that others may enter, which pytest's own are not; entered as nobody."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    me = os.geteuid()
    yield folder
    os.seteuid(me)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(folder)


def test_files_and_folders_we_may_not_open_are_counted(public_folder: Path) -> None:
    write(public_folder, "secret.jsonl", to_jsonl([chat()])).chmod(0)
    write(public_folder, "closed/chat.jsonl", to_jsonl([chat()])).parent.chmod(0)
    write(public_folder, "good.jsonl", to_jsonl([chat()])).chmod(0o644)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    ids, log = scan(public_folder)
    assert ids == [f"openai_chat:{public_folder.name}/good:1"]
    assert log.counts == {"Permission denied": 2}


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    ids, log = scan(tmp_path)
    assert (ids, log.total) == ([], 0)


def test_a_path_that_does_not_exist_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        scan(tmp_path / "gone")
    assert caught.value.wanted == str(tmp_path / "gone")


@pytest.mark.parametrize("data", [b"", b"hello", b'{"a": 1}', b"\x00\xff" * 50])
def test_a_file_no_reader_knows_is_an_error_with_a_hint(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        scan(write(tmp_path, "a.jsonl", data))
    assert caught.value.hint is not None
    assert "--format" in caught.value.hint


def test_a_broken_file_is_an_error_when_it_is_all_there_is(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        scan(write(tmp_path, "a.jsonl.gz", gzip.compress(to_jsonl([chat()]))[:15]))


def test_a_named_format_reads_what_would_be_read_otherwise(tmp_path: Path) -> None:
    both = {**chat(), **share()}
    path = write(tmp_path, "a.jsonl", to_jsonl([both]))
    assert scan(path)[0] == [f"sharegpt:{tmp_path.name}/a:1"]
    assert scan(path, "openai_chat")[0] == [f"openai_chat:{tmp_path.name}/a:1"]


def test_a_named_format_holds_for_every_file_of_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", to_jsonl([{**chat(), **share()}]))
    write(tmp_path, "b.jsonl", to_jsonl([{"x": 1}]))
    write(tmp_path, "c.json", b"no json")
    ids, log = scan(tmp_path, "openai_chat")
    assert ids == [f"openai_chat:{tmp_path.name}/a:1"]
    assert log.counts == {"record is not a conversation": 1, "not valid JSON": 1}


def test_an_unknown_format_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nonsense"):
        scan(tmp_path, "nonsense")


def test_units_are_listed_with_a_fingerprint_that_follows_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.jsonl", to_jsonl([chat()]))
    (before,) = find_units(tmp_path, ReadLog())
    path.write_bytes(to_jsonl([chat(), chat()]))
    (after,) = find_units(tmp_path, ReadLog())
    assert (before.reader, before.unit.path) == (get_reader("openai_chat"), path)
    assert before.unit.fingerprint != after.unit.fingerprint


class Failing:
    """A reader that gives one session and then breaks."""

    name = "failing"
    title = "Failing"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def recognises(self, probe: Probe) -> bool:
        return probe.is_folder

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        del log
        yield Unit(path=path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        del unit, log
        yield build_session(self.name, "1", [])
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ZeroDivisionError("x"), "reader failed (ZeroDivisionError)"),
        (SourceError("cannot read 'a': too old", path=Path("a")), "too old"),
    ],
)
def test_a_unit_that_breaks_is_counted_and_keeps_what_it_gave(error: Any, reason: str) -> None:
    log = ReadLog()
    found = FoundUnit(Failing(error), Unit(path=Path("a")))
    assert [session.native_id for session in read_unit(found, log)] == ["1"]
    assert log.counts == {reason: 1}


def test_a_source_error_of_the_only_unit_is_passed_on() -> None:
    error = SourceError("cannot read 'a': gone", path=Path("a"))
    found = FoundUnit(Failing(error), Unit(path=Path("a")))
    with pytest.raises(SourceError, match="gone"):
        list(read_unit(found, ReadLog(), alone=True))
