from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.badinput import write
from warmstart.sources import ReadLog, find_units, read_sessions, read_unit
from warmstart.sources.naming import name_file, name_record

TALK = json.dumps([{"role": "user", "content": "Go."}]).encode()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/r/shop/talk.json", "shop/talk"),
        ("/r/shop/tasks/1/api_conversation_history.json", "shop/tasks/1/api_conversation_history"),
        ("/r/shop/tasks/1735689600123/ui.json", "1735689600123/ui"),
        ("/r/shop/8f14e45f-ceea-467f-a9f2-0d6e1c2b3a4d.jsonl.gz",
         "8f14e45f-ceea-467f-a9f2-0d6e1c2b3a4d"),
        ("/r/shop/run-2026-03-01T10-11-12.json", "run-2026-03-01T10-11-12"),
        ("/r/shop/9e107d9d372bb6826bd81d3542a419d6.json", "9e107d9d372bb6826bd81d3542a419d6"),
        ("/r/shop/log-2026-03-01.json", "shop/log-2026-03-01"),
        ("/a.json", "a"),
        ("/r/a/b/runs/run_3/logs/out.json", "runs/run_3/logs/out"),
    ],
)  # fmt: skip
def test_a_file_is_named_with_the_folders_it_needs(path: str, name: str) -> None:
    assert name_file(Path(path)) == name


def test_a_record_with_a_mere_number_for_an_id_is_named_with_its_file() -> None:
    path = Path("/r/shop/out.jsonl")
    assert name_record(path, "7", 1) == "shop/out:7"
    assert name_record(path, "talk-7", 1) == "talk-7"
    assert name_record(path, None, 3) == "shop/out:3"


def test_a_relative_path_gives_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert name_file(Path("a.json")) == name_file(tmp_path / "a.json")


def test_files_of_one_name_in_two_folders_are_two_sessions(tmp_path: Path) -> None:
    for task in ("1", "9"):
        write(tmp_path, f"tasks/{task}/api_conversation_history.json", TALK)
    ids = [session.id for session in read_sessions(tmp_path, ReadLog())]
    assert len(set(ids)) == 2
    found = list(find_units(tmp_path, ReadLog()))
    assert [one.id for unit in found for one in read_unit(unit, ReadLog())] == ids


def test_another_file_changes_no_name(tmp_path: Path) -> None:
    write(tmp_path, "tasks/1/messages.json", TALK)
    before = [session.id for session in read_sessions(tmp_path, ReadLog())]
    write(tmp_path, "tasks/2/messages.json", TALK)
    after = [session.id for session in read_sessions(tmp_path, ReadLog())]
    assert set(before) < set(after)
