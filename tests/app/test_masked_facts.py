"""What ``facts.db`` keeps of sessions holds no secret, and everything that asks it still works."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hermes_db import answers, asks, make_database, user
from support.machines import set_machine
from support.planting import (
    SHAPES,
    Planter,
    find_leaks,
    write_claude_code,
    write_codex,
    write_hermes,
    write_openai_chat,
)
from warmstart.app import Workspace
from warmstart.app.facts import MASKED, read_facts, refresh_facts
from warmstart.app.profiles import profile_corpus
from warmstart.app.redaction import Masker
from warmstart.facts import CUT, OPENING_CHARS
from warmstart.model import Selection
from warmstart.sources import ReadLog

WRITERS: dict[str, Callable[[Path, Planter], Path]] = {
    "claude_code": write_claude_code,
    "codex": write_codex,
    "hermes": write_hermes,
    "openai_chat": lambda folder, plant: write_openai_chat(folder / "chats.jsonl", plant),
}


@pytest.fixture
def plant() -> Planter:
    return Planter(5)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Planter) -> Workspace:
    """A user with a secret in the environment and one in an env file."""
    home = tmp_path / "home"
    home.mkdir()
    set_machine(monkeypatch, home)
    monkeypatch.setenv("ACME_LICENCE_KEY", plant.random("environment"))
    (home / ".env").write_text(f"SHOP_PASSWORD={plant.random('env file')}\n")
    return Workspace.open(home / "ws")


def read_kept(workspace: Workspace) -> bytes:
    """Every byte of the index, as it lies on the disk."""
    paths = sorted(workspace.home.glob("facts.db*"))
    assert paths
    return b"\n".join(path.read_bytes() for path in paths)


def value_of(plant: Planter, where: str) -> str:
    return next(one.value for one in plant.planted if one.where == where)


def write_leaky(path: Path, plant: Planter) -> Path:
    """A Hermes session with a secret in every text that facts keep of it."""
    p = plant.self_telling
    own, env = value_of(plant, "environment"), value_of(plant, "env file")
    rows = [
        user(f"Deploy with {p('opening')} and {own}, password: {plant.random('beside a name')}"),
        asks(("c1", f"mcp__{p('tool')}__run", {"path": f"/srv/{p('file')}/a.py"})),
        answers("c1", '{"output": "x", "exit_code": 0}'),
        asks(("c2", "web_fetch", {"url": f"https://h/x?access_token={plant.random('address')}"})),
        answers("c2", '{"output": "x"}'),
        asks(("c3", "read_file", {"path": f"/etc/{env}"})),
        answers("c3", '{"content": "x"}'),
    ]
    about = {
        "title": f"Cart {p('title')}", "model": f"m-{p('model')}", "cwd": f"/srv/{p('project')}/x",
        "end_reason": f"because {p('end')}",
    }  # fmt: skip
    return make_database(path, {"s1": rows}, {"s1": about})


@pytest.mark.parametrize("agent", WRITERS)
def test_no_secret_of_any_field_is_kept(
    workspace: Workspace, plant: Planter, tmp_path: Path, agent: str
) -> None:
    folder = tmp_path / agent
    folder.mkdir()
    selection = Selection(paths=(str(WRITERS[agent](folder, plant)),))
    assert refresh_facts(workspace, selection, ReadLog()) > 0
    profile_corpus(workspace, selection, ReadLog())  # summaries are kept beside the facts
    assert not find_leaks(plant.planted, read_kept(workspace))
    assert MASKED.encode() in read_kept(workspace)


def test_neither_are_those_only_this_user_has(
    workspace: Workspace, plant: Planter, tmp_path: Path
) -> None:
    selection = Selection(paths=(str(write_leaky(tmp_path / "state.db", plant)),))
    profile_corpus(workspace, selection, ReadLog())
    assert not find_leaks(plant.planted, read_kept(workspace))
    (facts,) = read_facts(workspace, selection, ReadLog())
    assert facts.title.startswith("Cart <SECRET:") if facts.title else False
    assert "Deploy with <SECRET:" in facts.opening


def test_while_it_is_being_written_nothing_is_in_the_log_either(
    workspace: Workspace, plant: Planter, tmp_path: Path
) -> None:
    selection = Selection(paths=(str(write_leaky(tmp_path / "state.db", plant)),))
    workspace.ensure_home()
    refresh_facts(workspace, selection, ReadLog())
    with closing(sqlite3.connect(workspace.home / "facts.db")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM session_fact").fetchone()  # keeps the log from going
        refresh_facts(workspace, Selection(paths=(str(tmp_path / "state.db"),)), ReadLog())
        assert not find_leaks(plant.planted, read_kept(workspace))


def test_a_secret_named_in_a_filter_finds_its_sessions(
    workspace: Workspace, plant: Planter, tmp_path: Path
) -> None:
    path = write_leaky(tmp_path / "state.db", plant)
    filters: dict[str, Any] = {
        "project": f"/srv/{value_of(plant, 'project')}",
        "model": value_of(plant, "model"),
        "tool": f"mcp__{value_of(plant, 'tool')}__run",
    }
    for name, value in filters.items():
        selection = replace(Selection(paths=(str(path),)), **{name: value})
        assert len(list(read_facts(workspace, selection, ReadLog()))) == 1, name
        other = replace(selection, **{name: f"{value}/elsewhere"})
        assert not list(read_facts(workspace, other, ReadLog())), name
    around = Selection(paths=(str(path),), project="/srv/", tool="mcp__*")
    assert len(list(read_facts(workspace, around, ReadLog()))) == 1


def test_equal_names_stay_equal_and_readings_agree(
    workspace: Workspace, plant: Planter, tmp_path: Path
) -> None:
    """Whatever was read before, in one order or another, a session gives the same row."""
    key = plant.self_telling("project")
    rows = {f"s{n}": [user(f"hello {plant.self_telling(f'opening {n}')}")] for n in range(4)}
    about = {name: {"cwd": f"/srv/{key}", "title": f"t {name}"} for name in rows}
    path = make_database(tmp_path / "state.db", rows, about)
    selection = Selection(paths=(str(path),))
    first = list(read_facts(workspace, selection, ReadLog()))
    assert len({facts.project for facts in first}) == 1
    half = make_database(tmp_path / "half.db", {name: rows[name] for name in ("s2", "s3")}, about)
    again = list(read_facts(workspace, Selection(paths=(str(half),)), ReadLog()))
    kept = {facts.id: facts.opening for facts in first}
    assert all(kept[facts.id] == facts.opening for facts in again)


def test_two_tools_whose_names_differ_by_a_secret_are_counted_apart(
    workspace: Workspace, plant: Planter, tmp_path: Path
) -> None:
    names = [f"mcp__{plant.self_telling('tool', 'github_pat')}__run" for _ in range(2)]
    rows = [user("go")]
    for number, name in enumerate((*names, names[0])):
        rows += [asks((f"c{number}", name, {})), answers(f"c{number}", '{"error": "no"}')]
    selection = Selection(paths=(str(make_database(tmp_path / "state.db", {"s": rows})),))
    (facts,) = read_facts(workspace, selection, ReadLog())
    assert len(facts.calls) == 3
    assert len({call.arguments_hash for call in facts.calls}) == 2
    profile = profile_corpus(workspace, selection, ReadLog())
    assert sum(tool.calls for tool in profile.tools) == 3


@given(
    kinds=st.lists(st.sampled_from(sorted(SHAPES)), min_size=1, max_size=3),
    around=st.lists(st.text("ab :=/\n\"'.-", max_size=12), min_size=4, max_size=4),
    place=st.integers(0, 3),
)
def test_texts_looked_at_together_hide_no_secret(
    kinds: list[str], around: list[str], place: int
) -> None:
    """One look at many texts finds whatever a look at each of them finds."""
    plant = Planter(9)
    texts = [f"{text} {text}" for text in around]
    texts[place] = " ".join([texts[place], *(plant.self_telling("x", kind) for kind in kinds)])
    masked = Masker(Workspace(Path("nowhere")))([*texts])
    assert not find_leaks(plant.planted, *masked)
    assert masked[place] != texts[place]


@given(st.lists(st.text(max_size=60), max_size=6))
def test_masking_keeps_the_number_of_texts_and_is_done_once(texts: list[str]) -> None:
    mask = Masker(Workspace(Path("nowhere")))
    masked = mask([*texts])
    assert len(masked) == len(texts)
    assert mask([*masked]) == masked


def test_a_text_without_a_secret_is_kept_as_it_is() -> None:
    mask = Masker(Workspace(Path("nowhere")))
    texts = ["fix the cart", "/srv/shop", "half \ud800 character", ""]
    assert mask(texts) is texts
    assert mask(texts) is texts


@pytest.mark.parametrize("back", range(0, 100, 7))
def test_a_secret_across_the_end_of_an_opening_is_not_kept_by_half(
    workspace: Workspace, plant: Planter, tmp_path: Path, back: int
) -> None:
    asked = ("fix it " * 200)[: OPENING_CHARS - back - 1] + " " + plant.self_telling("opening")
    path = make_database(tmp_path / "state.db", {"s": [user(f"{asked}{' and more' * 20}")]})
    refresh_facts(workspace, Selection(paths=(str(path),)), ReadLog())
    assert not find_leaks(plant.planted, read_kept(workspace))


def test_an_opening_without_spaces_is_kept_up_to_its_limit(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = make_database(tmp_path / "state.db", {"s": [user("修复购物车" * 400)]})
    (facts,) = read_facts(workspace, Selection(paths=(str(path),)), ReadLog())
    assert len(facts.opening) == OPENING_CHARS + len(CUT)
