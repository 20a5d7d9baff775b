from __future__ import annotations

import json

import pytest

from warmstart.sources.readers._claude_code_transcript import read_progress

UUID, PARENT = "1" * 8 + "-1111-4111-8111-" + "1" * 12, "2" * 8 + "-2222-4222-8222-" + "2" * 12
LINE = {
    "parentUuid": PARENT, "isSidechain": False, "cwd": "/x", "type": "progress",
    "data": {"uuid": "inner", "type": "hook_progress"}, "uuid": UUID, "timestamp": "2026-01-01",
}  # fmt: skip


def encode(line: dict[str, object]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def test_of_a_progress_line_only_its_place_in_the_chain_is_read() -> None:
    assert read_progress(encode(LINE)) == (UUID, PARENT)
    swapped = {name: LINE[name] for name in (*list(LINE)[:5], "timestamp", "uuid")}
    assert read_progress(encode(swapped)) == (UUID, PARENT)


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "user"},
        {"isSidechain": True},
        {"parentUuid": None},
        {"cwd": 'a "quoted" folder'},
        {"data": {"type": "progress"}, "type": "user"},
        {"more": 1},
    ],
)
def test_any_other_line_is_parsed_whole(changes: dict[str, object]) -> None:
    assert read_progress(encode({**LINE, **changes})) is None


def test_a_half_written_line_is_parsed_whole() -> None:
    assert read_progress(encode(LINE)[:-1]) is None
