from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from warmstart.model import Kind, Link, Session, Status
from warmstart.samples import samples_path
from warmstart.sources import ReadLog, read_sessions
from warmstart.sources.files import open_bytes

GENERATOR = Path(__file__).resolve().parents[1] / "scripts" / "make_samples.py"
AGENTS = ("claude_code", "codex", "gemini", "hermes", "openai_chat")
MAX_BYTES = 1_500_000
FAKE_SECRETS = {
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ghp_000000000000000000000000000000000000",
}
SECRET_SHAPES = re.compile(
    r"AKIA[0-9A-Z]{16}|gh[pousr]_\w{30,}|github_pat_\w+|sk-[\w-]{20,}|xox[abp]-[\w-]+"
    r"|(?<=SECRET_ACCESS_KEY=)[\w/+]{40}|-----BEGIN [A-Z ]*PRIVATE KEY"
)


def _files(folder: Path) -> dict[str, Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".py")
    return {str(p.relative_to(folder)): p for p in sorted(found) if "__pycache__" not in p.parts}


def _content(path: Path) -> str:
    """Text whatever the container; a database is its dump, for its bytes are SQLite's own."""
    if path.suffix == ".db":
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return "\n".join(connection.iterdump())
    with open_bytes(path) as file:
        return file.read().decode()


def _everything() -> Iterator[str]:
    return (_content(path) for path in _files(samples_path()).values())


@pytest.fixture(scope="module")
def sessions() -> dict[str, list[Session]]:
    return {agent: list(read_sessions(samples_path() / agent, ReadLog())) for agent in AGENTS}


@pytest.fixture(scope="module")
def everything(sessions: dict[str, list[Session]]) -> list[Session]:
    return [session for agent in AGENTS for session in sessions[agent]]


def test_the_generator_writes_what_ships(tmp_path: Path) -> None:
    subprocess.run([sys.executable, GENERATOR, "--into", tmp_path], check=True, capture_output=True)
    made, shipped = _files(tmp_path), _files(samples_path())
    assert list(made) == list(shipped)
    assert [name for name in made if _content(made[name]) != _content(shipped[name])] == []


def test_text_samples_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    subprocess.run([sys.executable, GENERATOR, "--into", tmp_path], check=True, capture_output=True)
    text = {name: path for name, path in _files(tmp_path).items() if name.endswith("l")}
    assert len(text) > 20
    assert all(path.read_bytes() == (samples_path() / name).read_bytes()
               for name, path in text.items())  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_every_sample_is_read_by_its_reader_and_nothing_is_skipped(agent: str) -> None:
    log = ReadLog()
    origins = {session.origin for session in read_sessions(samples_path() / agent, log)}
    assert origins == {agent}
    assert log.sentences() == []


def test_the_whole_folder_reads_like_its_parts(everything: list[Session]) -> None:
    log = ReadLog()
    together = [session.id for session in read_sessions(samples_path(), log)]
    assert sorted(together) == sorted(session.id for session in everything)
    assert log.total == 0


def test_the_samples_are_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in _files(samples_path()).values()) < MAX_BYTES


def test_there_are_a_few_dozen_sessions_and_a_thousand_calls(
    sessions: dict[str, list[Session]], everything: list[Session]
) -> None:
    counts = {agent: len(found) for agent, found in sessions.items()}
    assert counts == {"claude_code": 17, "codex": 6, "gemini": 2, "hermes": 14, "openai_chat": 4}
    assert 800 < sum(len(session.calls) for session in everything) < 1_200


def _rate(sessions: list[Session]) -> float:
    statuses = Counter(call.outcome.status for s in sessions for call in s.calls)
    return statuses[Status.ERROR] / (statuses[Status.OK] + statuses[Status.ERROR])


def test_about_a_tenth_of_the_calls_fail_and_one_agent_is_clearly_better(
    sessions: dict[str, list[Session]], everything: list[Session]
) -> None:
    assert 0.08 < _rate(everything) < 0.12
    assert all(_rate(sessions["codex"]) < 0.6 * _rate(sessions[agent])
               for agent in AGENTS if agent != "codex")  # fmt: skip


def test_every_way_a_call_can_end_occurs(everything: list[Session]) -> None:
    found = {call.outcome.status for session in everything for call in session.calls}
    assert found == set(Status) - {Status.UNKNOWN}


def test_family_ties_and_compactions_occur(sessions: dict[str, list[Session]]) -> None:
    links = {s.parent.link for s in sessions["hermes"] if s.parent}
    assert links == {Link.COMPACTION, Link.SUBAGENT, Link.BRANCH}
    compacted = {agent for agent in AGENTS if any(s.compactions for s in sessions[agent])}
    assert {"claude_code", "codex", "hermes"} <= compacted


def test_a_compaction_copies_no_call(everything: list[Session]) -> None:
    ids = Counter((s.origin, c.request.id) for s in everything for c in s.calls if c.request.id)
    assert [ident for ident, count in ids.items() if count > 1] == []


def test_some_sessions_are_long_and_one_is_nearly_empty(everything: list[Session]) -> None:
    lengths = sorted(len(session.messages) for session in everything)
    assert lengths[0] <= 3
    assert sum(length >= 80 for length in lengths) >= 5


def test_the_sessions_lie_within_six_weeks(everything: list[Session]) -> None:
    starts = [session.started_at for session in everything if session.started_at is not None]
    assert len(starts) > 35
    assert 28 * 86_400 < max(starts) - min(starts) < 42 * 86_400


def test_the_harness_speaks_for_itself_somewhere(everything: list[Session]) -> None:
    kinds = {message.kind for session in everything for message in session.messages}
    assert {Kind.TURN, Kind.INJECTED, Kind.SUMMARY} <= kinds


def test_every_home_in_the_samples_is_invented() -> None:
    homes = {home for text in _everything() for home in re.findall(r"/(?:home|Users)/\w+", text)}
    assert homes == {"/home/dev"}
    assert not any(re.search(r"/root\b|/mnt/|/tmp/pytest", text) for text in _everything())


def test_every_planted_secret_is_a_known_fake() -> None:
    found = {secret for text in _everything() for secret in SECRET_SHAPES.findall(text)}
    assert found == FAKE_SECRETS
