"""What leaves the workspace holds nothing of its user: exports, datasets, rows of sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from support.machines import invoke, set_machine
from support.planting import Planter, find_leaks, write_claude_code
from support.template_cases import make_template
from warmstart.app import Workspace
from warmstart.app.facts import read_facts
from warmstart.app.redaction import open_redactor
from warmstart.app.sharing import export_template, list_session_rows, make_dataset
from warmstart.app.templates import open_library
from warmstart.errors import NotFoundError
from warmstart.library import redact_for_others
from warmstart.model import Marker, MarkerKind, Selection
from warmstart.model.template import Example, Template, TemplateState
from warmstart.redact import MAX_DEPTH, RedactionError
from warmstart.samples import samples_path
from warmstart.sources import ReadLog


@pytest.fixture
def plant() -> Planter:
    return Planter(31)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Planter) -> Workspace:
    """A user with a key in the environment, which no rule would know for one."""
    home = tmp_path / "home"
    home.mkdir()
    set_machine(monkeypatch, home)
    monkeypatch.setenv("ACME_LICENCE_KEY", plant.random("environment"))
    return Workspace.open(home / "ws")


def make_leaky(plant: Planter) -> Template:
    """A template of before the rules knew what they know, with a secret in every field."""
    p = plant.self_telling
    own = next(one.value for one in plant.planted if one.where == "environment")
    example = Example(tool="t", arguments={p("key"): [f"push {p('value')}"]}, result=f"ok {own}",
                      intent=f"use {p('intent')}", closing=f"used {p('closing')}")  # fmt: skip
    return replace(
        make_template(), examples=(example,), description=f"with {p('description')}",
        system_context=f"knows {p('context')}", anchors=(f"about {p('anchor')}",),
        markers=(Marker(MarkerKind.FILE, f"/srv/{p('marker')}/x", 1),),
    )  # fmt: skip


def save(workspace: Workspace, template: Template) -> None:
    with open_library(workspace) as library:
        library.save(template, state=TemplateState.APPROVED)


def test_an_export_holds_no_secret_of_any_field(
    workspace: Workspace, plant: Planter, tmp_path: Path
) -> None:
    save(workspace, make_leaky(plant))
    report = export_template(workspace, "py-tests", tmp_path / "x.json")
    assert not find_leaks(plant.planted, report.path.read_bytes())
    assert sum(report.redactions.values()) >= len(plant.planted)


def test_a_dataset_holds_none_either(workspace: Workspace, plant: Planter) -> None:
    save(workspace, make_leaky(plant))
    lines = make_dataset(workspace).lines
    with pytest.raises(NotFoundError):
        make_dataset(workspace, ("none-such",))
    assert len(lines) > 1
    assert not find_leaks(plant.planted, b"".join(lines))


def test_rows_of_sessions_tell_counts_and_no_text(workspace: Workspace, plant: Planter) -> None:
    write_claude_code(workspace.home.parent / ".claude", plant, 2)
    rows = list(list_session_rows(workspace))
    assert len(rows) == 2
    assert not find_leaks(plant.planted, json.dumps(rows))


def list_joined(workspace: Workspace, path: Path) -> list[tuple[Any, Any]]:
    """For every session of a path, its row and its profile as ``profile ID --json`` prints it."""
    selection = Selection(paths=(str(path),))
    rows = {row["session"]: row for row in list_session_rows(workspace, selection)}
    names = {facts.id for facts in read_facts(workspace, selection, ReadLog())}
    assert len(rows) == len(names) > 0
    joined = []
    for name in sorted(names):
        told = invoke("profile", name, path, "--json", "--quiet").stdout
        joined.append((rows[sha256(name.encode()).hexdigest()[:16]], json.loads(told)["profile"]))
    return joined


def assert_same_figures(row: dict[str, Any], profile: dict[str, Any]) -> None:
    """Every figure of a row is the profile's own."""
    for name in row.keys() & profile.keys() - {"agent", "model", "tools"}:
        assert row[name] == profile[name], name
    rate = profile["rate"]
    assert (row["errors"], row["judged"]) == (rate["errors"], rate["calls"])
    assert row["error_rate"] == rate["rate"]
    assert row["repaired"] == len(profile["recoveries"])
    counts = {tool["tool"]: tool for tool in profile["tools"]}
    assert list(row["tools"]) == sorted(counts)
    for tool, own in row["tools"].items():
        assert own == {name: counts[tool][name] for name in ("calls", "ok", "errors")}


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "hermes", "openai_chat"])
def test_a_row_has_the_figures_of_the_profile_of_its_session(
    workspace: Workspace, agent: str
) -> None:
    for row, profile in list_joined(workspace, samples_path() / agent):
        assert_same_figures(row, profile)
        assert "<" not in json.dumps(row)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "agent", ["claude_code", "codex", "copilot", "gemini", "hermes", "mini_swe_agent", "tau_bench"]
)
def test_the_same_holds_for_real_sessions(workspace: Workspace, corpus: Path, agent: str) -> None:
    for path in sorted((corpus / agent).iterdir()):  # two databases may number sessions alike
        for row, profile in list_joined(workspace, path):
            assert_same_figures(row, profile)


def test_settings_of_the_profile_are_settings_of_the_dataset(workspace: Workspace) -> None:
    selection = Selection(paths=(str(samples_path() / "hermes"),))
    workspace.home.mkdir()
    (workspace.home / "config.toml").write_text('[profile]\ntrivial = "terminal"\n')
    rows = list(list_session_rows(workspace, selection))
    assert sum(row["trivial_calls"] for row in rows) > 0
    assert not any("terminal" in row["tools"] for row in rows)


def test_where_redaction_cannot_run_there_is_no_template(workspace: Workspace) -> None:
    deep: list[object] = []
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    example = Example(tool="t", arguments={"x": deep}, result="ok")
    with pytest.raises(RedactionError):
        redact_for_others(replace(make_template(), examples=(example,)), open_redactor(workspace))
