from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.badinput import damaged, retyped, write
from support.claude_lines import (
    OTHER,
    SESSION,
    encode,
    files,
    got,
    line,
    progress,
    replied,
    said,
    use,
)
from warmstart.facts.claude_lane import reduce_conversation
from warmstart.facts.derive import derive_facts
from warmstart.facts.lanes import Unusual
from warmstart.facts.packing import SessionRow, unpack_facts
from warmstart.facts.units import read_rows
from warmstart.model.facts import SessionFacts
from warmstart.sources import ReadLog, find_units, read_unit
from warmstart.sources.readers.claude_code import ClaudeCode
from warmstart.sources.scan import Found

SAMPLES = Path(__file__).resolve().parents[2] / "src" / "warmstart" / "samples" / "claude_code"
DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]
TALK = [
    said(0, "Please run the tests."),
    replied(1, "I run them.", use("toolu_1"), use("toolu_2", "Read", {"file_path": "a.py"})),
    progress(2),
    got(3, "toolu_2", "1\tx", toolUseResult={"type": "text", "file": {"content": "x"}}),
    got(4, "toolu_1", "Exit code 2\nboom", is_error=True),
    replied(5, use("toolu_3", "Bash", {"command": "make test | tail -3"})),
    got(6, "toolu_3", "3 passed", toolUseResult={"stdout": "3 passed", "interrupted": False}),
    said(7, "No, that is wrong."),
    replied(8, "Sorry."),
]


def save(folder: Path, lines: list[Any], name: str = SESSION) -> Path:
    return write(folder, f"{name}.jsonl", b"".join(map(encode, lines)))


def find(path: Path) -> list[Found]:
    return list(find_units(path, ReadLog(), "claude_code"))


def reduce_all(found: list[Found], log: ReadLog) -> list[SessionFacts]:
    rows = [row for one in found for row in read_rows(one, log)]
    return [unpack_facts(SessionRow._make(row[2:-1]), row.calls) for row in rows]


def derive_all(found: list[Found], log: ReadLog) -> list[SessionFacts]:
    return [derive_facts(session) for one in found for session in read_unit(one, log)]


def check_equal(path: Path) -> list[SessionFacts]:
    """The lane's facts, once they are known to be what the reader's sessions give."""
    mine, theirs = ReadLog(), ReadLog()
    found = find(path)
    facts = reduce_all(found, mine)
    assert facts == derive_all(found, theirs)
    assert mine == theirs
    return facts


def is_left_to_reader(path: Path) -> bool:
    unit = next(ClaudeCode().units(path, ReadLog()))
    try:
        for conversation in ClaudeCode().read_conversations(unit, ReadLog()):
            reduce_conversation(conversation)
    except Unusual:
        return True
    return False


@given(files())
def test_any_file_gives_what_the_reader_and_derive_facts_give(
    tmp_path: Path, lines: list[Any]
) -> None:
    check_equal(save(tmp_path, lines))


@given(files(odd=False), files(odd=False))
def test_files_that_repeat_each_other_count_what_they_share_once(
    tmp_path: Path, lines: list[Any], more: list[Any]
) -> None:
    save(tmp_path / "project", lines)
    save(tmp_path / "project", [*lines, *more], OTHER)
    check_equal(tmp_path / "project")


@given(damaged(b"".join(map(encode, TALK))))
def test_a_damaged_file_gives_what_the_reader_gives(tmp_path: Path, data: bytes) -> None:
    check_equal(write(tmp_path, f"{SESSION}.jsonl", data))


@given(retyped(TALK))
def test_values_of_other_types_give_what_the_reader_gives(tmp_path: Path, lines: Any) -> None:
    check_equal(save(tmp_path, lines))


def test_the_sample_sessions_need_no_reader() -> None:
    facts = check_equal(SAMPLES)
    assert len(facts) > 10
    assert not any(is_left_to_reader(found.unit.path) for found in find(SAMPLES))


def test_a_usual_file_needs_no_reader(tmp_path: Path) -> None:
    path = save(tmp_path, TALK)
    assert not is_left_to_reader(path)
    (facts,) = check_equal(path)
    assert [call.status for call in facts.calls] == ["error", "ok", "ok"]
    assert (facts.turns, facts.messages, facts.calls[2].masked) == (2, 8, True)


def test_the_calls_before_a_cleared_context_count(tmp_path: Path) -> None:
    lines = [*TALK, said(9, "Implement the plan.", parentUuid=None, planContent="...")]
    path = save(tmp_path, [*lines, replied(10, use("toolu_4")), got(11, "toolu_4")])
    assert not is_left_to_reader(path)
    (facts,) = check_equal(path)
    assert (len(facts.calls), facts.compactions, facts.messages) == (4, (3,), 11)


@pytest.mark.parametrize(
    "lines",
    [
        [replied(0, use("call_warm_1"))],
        [replied(0, use(None))],
        [replied(0, use("toolu_1", "Bash", "ls"))],
        [replied(0, use("toolu_1", "Bash", {"n": DEEP}))],
        [replied(0, use("toolu_1")), replied(1, use("toolu_1"))],
        [replied(0, use("toolu_1")), got(1, None)],
    ],
)
def test_what_is_unusual_is_left_to_the_reader(tmp_path: Path, lines: list[Any]) -> None:
    path = save(tmp_path, lines)
    assert is_left_to_reader(path)
    assert check_equal(path)


def test_an_id_used_again_after_its_result_is_usual(tmp_path: Path) -> None:
    lines = [replied(0, use("toolu_1")), got(1, "toolu_1"), replied(2, use("toolu_1"))]
    path = save(tmp_path, lines)
    assert not is_left_to_reader(path)
    assert [call.status for call in check_equal(path)[0].calls] == ["ok", "unanswered"]


@pytest.mark.parametrize(
    "moment", ["2026-13-01T00:00:00.000Z", "2999-01-01T00:00:00.000+", "x" * 24, 0, 1.5, "9" * 24]
)
def test_the_last_moment_is_the_latest_that_can_be_read(tmp_path: Path, moment: Any) -> None:
    lines = [said(0, "Go."), said(1, "On."), said(2, "Now.", timestamp=moment)]
    assert check_equal(save(tmp_path, lines))[0].ended_at is not None


def test_compressed_files_are_read_too(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(map(encode, TALK)))
    path = write(tmp_path, f"{SESSION}.jsonl.gz", data)
    assert len(check_equal(path)[0].calls) == 3


def test_a_file_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    path = save(tmp_path, TALK)
    (found,) = find(path)
    path.unlink()
    log = ReadLog()
    assert read_rows(found, log) == []
    assert log.total == 1


def test_compactions_stand_before_the_first_call_after_them(tmp_path: Path) -> None:
    boundary = line("system", 9, subtype="compact_boundary")
    more = [boundary, replied(10, use("toolu_9")), got(11, "toolu_9")]
    assert check_equal(save(tmp_path, [*TALK, *more]))[0].compactions == (3,)


@settings(max_examples=25)
@given(st.integers(0, 3), files(odd=False))
def test_what_was_seen_in_files_before_counts_there(
    tmp_path: Path, number: int, lines: list[Any]
) -> None:
    (found,) = find(save(tmp_path, lines))
    mine, theirs = ReadLog(), ReadLog()
    for log in (mine, theirs):
        list(read_unit(found, log))
        log.seen = set(sorted(log.asked)[number:])
    assert reduce_all([found], mine) == derive_all([found], theirs)


@pytest.mark.corpus
def test_real_transcripts_give_what_the_reader_and_derive_facts_give(corpus: Path) -> None:
    facts = check_equal(corpus / "claude_code")
    assert sum(len(one.calls) for one in facts) > 1000
