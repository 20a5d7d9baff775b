"""Settings of agents: what is written, and that taking it back leaves no trace."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.app import Workspace
from warmstart.errors import UsageError
from warmstart.integrations.agents import Machine, describe
from warmstart.integrations.edits import AddBlock, AddItem, SetKey, write_object
from warmstart.integrations.install import install, uninstall

AGENTS = ("claude-code", "codex", "gemini", "opencode")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(environ={}, user_home=tmp_path / "user", command=("/opt/my apps/warmstart",))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "ws")


@pytest.mark.parametrize("agent", AGENTS)
def test_settings_that_were_not_there_are_gone_again(
    agent: str, machine: Machine, workspace: Workspace
) -> None:
    done = install(workspace, agent, machine)
    assert {one.result for one in done} == {"written"}
    assert {one.result for one in install(workspace, agent, machine)} == {"there already"}
    assert {one.result for one in uninstall(workspace, agent, machine)} == {"removed"}
    assert [path for path in machine.user_home.rglob("*") if path.is_file()] == []
    assert {one.result for one in uninstall(workspace, agent, machine)} == {"not there"}


@pytest.mark.parametrize("indent", [2, 4, None, "\t"])
def test_settings_of_others_come_back_to_the_byte(
    indent: int | str | None, machine: Machine, workspace: Workspace
) -> None:
    path = machine.user_home / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    before = json.dumps({"model": "x", "hooks": {"Stop": [{"hooks": []}]}, "é": "ü"},
                        indent=indent, ensure_ascii=False)  # fmt: skip
    path.write_text(before)
    path.chmod(0o640)
    install(workspace, "claude-code", machine)
    settings = json.loads(path.read_text())
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    assert command == "'/opt/my apps/warmstart' hook claude-code"
    assert settings["hooks"]["Stop"] == [{"hooks": []}]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    uninstall(workspace, "claude-code", machine)
    assert path.read_text() == before


def test_what_others_changed_meanwhile_stays(machine: Machine, workspace: Workspace) -> None:
    path = machine.user_home / ".gemini" / "settings.json"
    install(workspace, "gemini", machine)
    settings = json.loads(path.read_text())
    settings["theme"] = "dark"
    settings["mcpServers"]["mine"] = {"command": "mine"}
    path.write_text(write_object(settings))
    uninstall(workspace, "gemini", machine)
    left = {"mcpServers": {"mine": {"command": "mine"}}, "theme": "dark"}
    assert json.loads(path.read_text()) == left


def test_codex_gets_a_block_that_toml_reads(machine: Machine, workspace: Workspace) -> None:
    path = machine.user_home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    before = '# mine\nmodel = "x"\n\n[tools]\nweb = true'
    path.write_text(before)
    install(workspace, "codex", machine)
    servers = tomllib.loads(path.read_text())["mcp_servers"]
    assert servers == {"warmstart": {"command": "/opt/my apps/warmstart", "args": ["mcp"]}}
    uninstall(workspace, "codex", machine)
    assert path.read_text().rstrip("\n") == before


@pytest.mark.parametrize("text", ["// a comment\n{}", "[]", "{", '{"mcpServers": 3}'])
def test_a_file_that_cannot_be_changed_with_certainty_is_left_alone(
    text: str, machine: Machine, workspace: Workspace
) -> None:
    path = machine.user_home / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(UsageError, match="left alone"):
        install(workspace, "gemini", machine)
    assert path.read_text() == text


def test_an_entry_of_our_name_that_says_something_else_is_not_ours(
    machine: Machine, workspace: Workspace
) -> None:
    path = machine.user_home / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    text = '{"mcpServers": {"warmstart": {"command": "other"}}}'
    path.write_text(text)
    with pytest.raises(UsageError):
        install(workspace, "gemini", machine)
    assert {one.result for one in uninstall(workspace, "gemini", machine)} == {"not there"}
    assert path.read_text() == text


def test_folders_named_by_the_agents_own_variables_are_used(tmp_path: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    machine = Machine(environ=environ, user_home=tmp_path, command=("warmstart",))
    paths = {change.path for change in describe("claude-code", machine).changes}
    assert paths == {tmp_path / "c" / "settings.json", tmp_path / "c" / ".claude.json"}
    assert describe("codex", machine).changes[0].path == tmp_path / "x" / "config.toml"


def test_an_unknown_agent_is_refused(machine: Machine) -> None:
    with pytest.raises(UsageError):
        describe("cobol", machine)


def test_hermes_is_asked_through_its_own_door(
    machine: Machine, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="not on the PATH"):
        install(workspace, "hermes", machine)
    fake = tmp_path / "hermes"
    fake.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexit $HERMES_EXIT\n')
    fake.chmod(0o755)
    monkeypatch.setenv("HERMES_EXIT", "0")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert install(workspace, "hermes", machine)[0].result == "done"
    assert (tmp_path / "asked").read_text().startswith("plugins enable warmstart")
    monkeypatch.setenv("HERMES_EXIT", "3")
    with pytest.raises(UsageError, match="failed"):
        uninstall(workspace, "hermes", machine)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=4), st.sampled_from([2, 3, "\t"]))
def test_adding_and_taking_back_is_nothing(settings: dict[str, object], indent: int | str) -> None:
    before = json.dumps(settings, indent=indent, ensure_ascii=False)
    for edit in (
        SetKey(keys=("mcpServers!", "warmstart"), value={"command": "w"}),
        AddItem(keys=("hooks!", "Start"), value={"hooks": []}),
    ):
        after = edit.apply(before)
        assert edit.apply(after) == after
        assert json.loads(edit.undo(after)) == settings
        if settings:
            assert edit.undo(after) == before


@given(st.text(alphabet=st.characters(blacklist_characters="\r", blacklist_categories=["Cs"])))
def test_a_block_is_cut_out_whole(text: str) -> None:
    edit = AddBlock(lines="[a]\nb = 1", unless="[a]\nb")
    assert edit.undo(edit.apply(text)).rstrip("\n") == text.rstrip("\n")
