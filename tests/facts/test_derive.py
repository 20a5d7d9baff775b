from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from support.sessions import make_messages, make_session
from warmstart.facts.derive import derive_facts, hash_call, hash_signature
from warmstart.facts.markers import MAX_PER_KIND, MAX_VALUE_CHARS, MarkerCounter
from warmstart.facts.user_style import UserStyleCounter
from warmstart.model import (
    Compaction,
    Fate,
    Kind,
    Marker,
    MarkerKind,
    Message,
    Role,
    Status,
    UserStyleCounts,
)
from warmstart.outcome import name_command


def hear(*turns: str) -> UserStyleCounts:
    counter = UserStyleCounter()
    for turn in turns:
        counter.add(turn)
    return counter.finish()


def test_a_session_is_reduced_to_its_calls_and_counts() -> None:
    facts = derive_facts(make_session())
    assert (facts.messages, facts.turns, facts.warmups) == (6, 2, 0)
    assert [call.status for call in facts.calls] == [Status.ERROR, Status.OK, Status.UNANSWERED]
    assert [(call.position, call.message, call.turn) for call in facts.calls] == [
        (0, 2, 1), (1, 2, 1), (2, 2, 1),
    ]  # fmt: skip
    assert facts.title == "Fix the checkout"
    assert facts.opening == "Why does the checkout fail?"


def test_what_was_copied_rewound_or_put_there_by_us_is_no_turn() -> None:
    extra = [
        Message(role=Role.USER, text="copy", fate=Fate.COPIED),
        Message(role=Role.USER, text="gone", fate=Fate.REWOUND),
        Message(role=Role.USER, text="example", kind=Kind.WARMUP),
        Message(role=Role.USER, text="note", kind=Kind.INJECTED),
        Message(role=Role.USER, text="old", fate=Fate.ARCHIVED),
    ]
    facts = derive_facts(make_session(messages=[*extra, *make_messages()]))
    assert (facts.turns, facts.warmups, facts.user_style.messages) == (3, 1, 3)
    assert facts.opening == "copy"


def test_a_compaction_stands_before_the_first_call_after_it() -> None:
    session = replace(make_session(), compactions=(Compaction(at=0), Compaction(at=3)))
    assert derive_facts(session).compactions == (0, 3)


def test_facts_tell_what_filters_ask_for() -> None:
    facts = derive_facts(make_session())
    assert (facts.statuses.error, sum(facts.statuses)) == (1, 3)
    assert facts.native_id == "ab12cd34-shop-1"


def test_hashes_are_the_same_in_another_process() -> None:
    code = (
        "from warmstart.facts.derive import hash_call, hash_signature\n"
        "print(hash_call('a', {'x': 1, 'y': [None, 2.5]}, None), hash_signature('a', {'x': 1}))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = hash_call("a", {"y": [None, 2.5], "x": 1}, None), hash_signature("a", {"x": 2})
    assert out.stdout.split() == [str(number) for number in ours]


def test_other_arguments_and_other_tools_hash_otherwise() -> None:
    seen = {
        hash_call("a", {"x": 1}, None),
        hash_call("b", {"x": 1}, None),
        hash_call("a", {"x": 2}, None),
        hash_call("a", {}, "not json"),
        hash_call("a", {"x": 2**70}, None),
    }
    assert len(seen) == 5
    assert all(-(2**63) <= number < 2**63 for number in seen)
    assert hash_signature("a", {"x": 1}) != hash_signature("a", {"x": "1"})


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("git log --oneline -5", "git log"),
        ("cd /x && FOO=1 python -m pytest -q", "pytest"),
        ("sudo timeout 60 make test | tail", "make test"),
        ("/usr/bin/ls -la", "ls"),
        ("# note\nuv run x", "uv run"),
        ("docker", "docker"),
        ("git -C /x status", "git"),
        ("export A=1", ""),
        ("", ""),
    ],
)
def test_a_command_is_its_program_and_subcommand(line: str, name: str) -> None:
    assert name_command(line) == name


WORDS = st.sampled_from([
    "git", "log", "ls", "cd /x &&", "cd", "python", "python -m", "a.b", "a-b", "-q", "sudo", "x=1",
    "timeout 5", "'a; b'", '"', "&&", "&", ";", "|", "\n", "\t", "src/x", "test:unit", "é", "#",
])  # fmt: skip


@given(st.lists(WORDS, max_size=6), st.sampled_from(["", " "]))
def test_a_plain_line_has_the_name_its_stages_give(words: list[str], between: str) -> None:
    line = between.join(words)
    assert name_command(line) == name_command(f"true; {line}")


def test_a_file_that_is_an_address_is_counted_as_one() -> None:
    counter = MarkerCounter()
    counter.add("read_file", {"path": "https://example.org"})
    counter.add("web_extract", {"url": "https://example.org"})
    counter.add("read_file", {"path": "x" * (MAX_VALUE_CHARS + 1)})
    counter.add("read_file", {"path": ""})
    assert counter.finish() == (Marker(MarkerKind.URL, "https://example.org", 2),)


def test_markers_used_equally_often_come_by_name_and_files_first() -> None:
    counter = MarkerCounter()
    for line in ("make", "ls", "ls"):
        counter.add("terminal", {"command": line})
    for name in ("b", "a", "c", "c"):
        counter.add("read_file", {"path": name})
    assert [one.value for one in counter.finish()] == ["c", "ls", "a", "b", "make"]


def test_markers_are_ranked_by_use() -> None:
    counter = MarkerCounter()
    for number in range(MAX_PER_KIND + 5):
        counter.add("read_file", {"path": f"a{number}.py"})
    counter.add("read_file", {"path": "a3.py"})
    counter.add("web_extract", {"url": "https://example.org"})
    counter.add("terminal", {"command": "git status"})
    counter.add("todo", {"items": [1], "path": 3})
    found = counter.finish()
    assert found[0] == Marker(MarkerKind.FILE, "a3.py", 2)
    assert len(found) == MAX_PER_KIND + 2
    assert Marker(MarkerKind.COMMAND, "git status", 1) in found


def test_a_users_style_is_counted_turn_by_turn() -> None:
    counts = hear("fix the cart", "no, that is wrong", "why?", "/compact", "please " * 70, "")
    assert counts == UserStyleCounts(
        messages=6, words=79, questions=1, commands=2, corrections=1, long=1, short=5, polite=1
    )


def test_a_path_is_no_slash_command() -> None:
    assert hear("/home/dev/x is broken").commands == 0
    assert hear("ok now run it").commands == 1
    assert hear("so it goes").commands == 0


@pytest.mark.parametrize(
    "line",
    [
        "export TOKEN='12345678;AAHq7 x|y9Zk2w' && make test",
        'PASSWORD="correct horse; battery" make test',
        "export KEY='part one'\nmake test",
    ],
)
def test_a_piece_of_a_quoted_value_is_no_program(line: str) -> None:
    assert name_command(line) == "make test"


@pytest.mark.parametrize(
    "line",
    [
        f"export KEY=x\n{'Qx7' * 21}",
        "A=1 " * 12 + "./run --token=wJalrXUtnFEMI/K7MDENGbPxRf",
        f"A=1 {'x ' * 1000}"[:1994] + ";12345678901:AAxyz",
        "12345678:AAHq7x2",
        "bob@AAHq7x2",
    ],
)
def test_what_may_be_a_piece_of_a_key_is_no_marker(line: str) -> None:
    counter = MarkerCounter()
    counter.add("terminal", {"command": line})
    assert [one.value for one in counter.finish() if one.value not in ("run", "x")] == []
