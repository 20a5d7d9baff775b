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
from warmstart.integrations import install_agent, uninstall_agent
from warmstart.integrations.agents import Host, describe
from warmstart.integrations.edits import AddItem, AddTable, SetKey, find_inserted, parse_object

AGENTS = ("claude-code", "codex", "gemini", "opencode")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(environ={}, user_home=tmp_path / "user", command=("/opt/my apps/warmstart",))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "ws")


@pytest.mark.parametrize("agent", AGENTS)
def test_settings_that_were_not_there_are_gone_again(
    agent: str, host: Host, workspace: Workspace
) -> None:
    done = install_agent(workspace, agent, host)
    assert {one.result for one in done} == {"written"}
    assert {one.result for one in install_agent(workspace, agent, host)} == {"there already"}
    assert {one.result for one in uninstall_agent(workspace, agent, host)} == {"removed"}
    assert [path for path in host.user_home.rglob("*") if path.is_file()] == []
    assert {one.result for one in uninstall_agent(workspace, agent, host)} == {"not there"}


@pytest.mark.parametrize("indent", [2, 4, None, "\t"])
def test_settings_of_others_come_back_to_the_byte(
    indent: int | str | None, host: Host, workspace: Workspace
) -> None:
    path = host.user_home / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    before = json.dumps({"model": "x", "hooks": {"Stop": [{"hooks": []}]}, "é": "ü"},
                        indent=indent, ensure_ascii=False)  # fmt: skip
    path.write_text(before)
    path.chmod(0o640)
    install_agent(workspace, "claude-code", host)
    settings = json.loads(path.read_text())
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    assert command == "'/opt/my apps/warmstart' hook claude-code"
    assert settings["hooks"]["Stop"] == [{"hooks": []}]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    uninstall_agent(workspace, "claude-code", host)
    assert path.read_text() == before


def test_what_others_changed_meanwhile_stays(host: Host, workspace: Workspace) -> None:
    path = host.user_home / ".gemini" / "settings.json"
    install_agent(workspace, "gemini", host)
    settings = json.loads(path.read_text())
    settings["theme"] = "dark"
    settings["mcpServers"]["mine"] = {"command": "mine"}
    path.write_text(json.dumps(settings))
    uninstall_agent(workspace, "gemini", host)
    left = {"mcpServers": {"mine": {"command": "mine"}}, "theme": "dark"}
    assert json.loads(path.read_text()) == left


def test_codex_gets_a_block_that_toml_reads(host: Host, workspace: Workspace) -> None:
    path = host.user_home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    before = '# mine\nmodel = "x"\n\n[tools]\nweb = true'
    path.write_text(before)
    install_agent(workspace, "codex", host)
    servers = tomllib.loads(path.read_text())["mcp_servers"]
    assert servers == {"warmstart": {"command": "/opt/my apps/warmstart", "args": ["mcp"]}}
    uninstall_agent(workspace, "codex", host)
    assert path.read_text() == before


KINDS = {
    "empty object": "{}",
    "empty object over lines": "{\n}\n",
    "empty file": "",
    "blank lines": "\n\n",
    "compact": '{"model":"x","hooks":{"Stop":[{"hooks":[]}]},"mcpServers":{"a":{"command":"b"}}}',
    "one line": '{"model": "x", "hooks": {"Stop": []}}\n',
    "four spaces": '{\n    "model": "x",\n    "mcpServers": {\n        "a": {}\n    }\n}\n',
    "tabs": '{\n\t"model": "x"\n}',
    "line ends of Windows": '{\r\n  "model": "x",\r\n  "hooks": {\r\n  }\r\n}\r\n',
    "numbers as written": '{"a": 1e5, "b": 1.50, "c": -0, "d": 12345678901234567890123}',
    "escapes as written": '{"a": "\\u00e9\\/", "b": "\u00e9"}',
    "repeated keys": '{"model": "x", "model": "y", "hooks": {"Stop": []}, "hooks": {}}',
    "empty holders": '{"hooks": {"UserPromptSubmit": []}, "mcpServers": {}}',
    "comments": '// mine\n{\n  "model": "x", // why\n  /* old */ "hooks": {} // end\n}\n',
    "trailing commas": '{\n  "model": "x",\n  "hooks": {"Stop": [],},\n}\n',
    "byte order mark": '\ufeff{"model": "x"}',
    "odd layout": '{ "model"\n:"x"\n,   "hooks" :{ }}   \n\n',
    "brackets in texts": '{"a": "}]{[,:", "hooks": {"Stop": ["\\"}"]}, "b\\"": "// no comment"}',
}
"""Settings as people and programs write them."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["settings.json", ".claude.json"])
def test_every_kind_of_settings_comes_back_to_the_byte(
    kind: str, name: str, host: Host, workspace: Workspace
) -> None:
    path = host.user_home / (".claude/settings.json" if name == "settings.json" else name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(KINDS[kind].encode())
    install_agent(workspace, "claude-code", host)
    assert path.read_bytes() != KINDS[kind].encode()
    settings = parse_object(path.read_bytes().decode())
    ours = settings["hooks"]["UserPromptSubmit"] if "settings" in name else settings["mcpServers"]
    assert "/opt/my apps/warmstart" in json.dumps(ours)
    uninstall_agent(workspace, "claude-code", host)
    assert path.read_bytes() == KINDS[kind].encode()


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_record_only_our_entry_goes(kind: str) -> None:
    edit = SetKey(keys=("mcpServers", "warmstart"), value={"command": "w"})
    before = parse_object(KINDS[kind])
    left = parse_object(edit.undo(edit.apply(KINDS[kind])))
    assert {**left, "mcpServers": 0} == {**before, "mcpServers": 0}
    assert left.get("mcpServers") in (before.get("mcpServers"), None)


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_read_only_file_is_not_replaced(agent: str, host: Host, workspace: Workspace) -> None:
    name = ".codex/config.toml" if agent == "codex" else ".claude/settings.json"
    path = host.user_home / name
    path.parent.mkdir(parents=True)
    path.write_text("" if agent == "codex" else "{}")
    path.chmod(0o444)
    with pytest.raises(UsageError, match="read-only"):
        install_agent(workspace, agent, host)
    path.chmod(0o644)
    install_agent(workspace, agent, host)
    path.chmod(0o444)
    written = path.read_bytes()
    with pytest.raises(UsageError, match="read-only"):
        uninstall_agent(workspace, agent, host)
    assert path.read_bytes() == written
    path.chmod(0o644)
    assert uninstall_agent(workspace, agent, host)[0].result == "removed"


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.other]\ncommand = 'x'\r\n",
        "# mine\r\nmodel = 'x'\r\n[a]\r\nb = 1e5",
        "",
        "\n",
        "a = [\n 1, # one\n]",
    ],
)
def test_toml_comes_back_to_the_byte(text: str, host: Host, workspace: Workspace) -> None:
    path = host.user_home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    install_agent(workspace, "codex", host)
    assert "warmstart" in tomllib.loads(path.read_bytes().decode())["mcp_servers"]
    uninstall_agent(workspace, "codex", host)
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize(
    "text", ["mcp_servers = {}", '[mcp_servers."warmstart"]\na = 1', "[broken", "mcp_servers = 3"]
)
def test_toml_that_a_table_cannot_be_added_to_is_left_alone(
    text: str, host: Host, workspace: Workspace
) -> None:
    path = host.user_home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(UsageError, match="left alone"):
        install_agent(workspace, "codex", host)
    assert path.read_text() == text


def test_settings_made_by_an_earlier_version_are_gone_again(
    host: Host, workspace: Workspace
) -> None:
    install_agent(workspace, "gemini", host)
    path = host.user_home / ".gemini" / "settings.json"
    workspace.write_file(workspace.home / "installed.json", [json.dumps([str(path)]).encode()],
                         overwrite=True)  # fmt: skip
    uninstall_agent(workspace, "gemini", host)
    assert not path.exists()


@pytest.mark.parametrize(
    "text", ["/ a comment\n{}", "[]", "{", '{"mcpServers": 3}', '{"mcpServers": null}']
)
def test_a_file_that_cannot_be_changed_with_certainty_is_left_alone(
    text: str, host: Host, workspace: Workspace
) -> None:
    path = host.user_home / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(UsageError, match="left alone"):
        install_agent(workspace, "gemini", host)
    assert path.read_text() == text


def test_an_entry_of_our_name_that_says_something_else_is_not_ours(
    host: Host, workspace: Workspace
) -> None:
    path = host.user_home / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    text = '{"mcpServers": {"warmstart": {"command": "other"}}}'
    path.write_text(text)
    with pytest.raises(UsageError):
        install_agent(workspace, "gemini", host)
    assert {one.result for one in uninstall_agent(workspace, "gemini", host)} == {"not there"}
    assert path.read_text() == text


def test_folders_named_by_the_agents_own_variables_are_used(tmp_path: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x")}
    host = Host(environ=environ, user_home=tmp_path, command=("warmstart",))
    paths = {change.path for change in describe("claude-code", host).changes}
    assert paths == {tmp_path / "c" / "settings.json", tmp_path / "c" / ".claude.json"}
    assert describe("codex", host).changes[0].path == tmp_path / "x" / "config.toml"


def test_an_unknown_agent_is_refused(host: Host) -> None:
    with pytest.raises(UsageError):
        describe("cobol", host)


def test_hermes_is_asked_through_its_own_door(
    host: Host, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="not on the PATH"):
        install_agent(workspace, "hermes", host)
    fake = tmp_path / "hermes"
    fake.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexit $HERMES_EXIT\n')
    fake.chmod(0o755)
    monkeypatch.setenv("HERMES_EXIT", "0")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert install_agent(workspace, "hermes", host)[0].result == "done"
    assert (tmp_path / "asked").read_text().startswith("plugins enable warmstart")
    secret = "ghp_x8Kq2LmZ7Vt4RbY1cNw9PdS3HfJ6GaTe05Uo"
    fake.write_text(f"#!/bin/sh\necho 'no config for {secret}' >&2\nexit $HERMES_EXIT\n")
    monkeypatch.setenv("HERMES_EXIT", "3")
    with pytest.raises(UsageError, match="failed: no config for <SECRET"):
        uninstall_agent(workspace, "hermes", host)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


blanks = st.text(alphabet=" \t\n\r", max_size=3)
numbers = st.sampled_from(["0", "-0", "1e5", "1.50", "12345678901234567890", "-1E+2"])
texts = st.text(max_size=5).map(json.dumps) | st.text(max_size=5).map(
    lambda text: json.dumps(text, ensure_ascii=False)
)
names = st.sampled_from(['"hooks!"', '"Start"', '"mcp!"', '"a"']) | texts


@st.composite
def layouts(draw: st.DrawFn, depth: int = 0) -> str:
    """JSON as no program would write it: any blanks, numbers as typed, keys repeated."""
    kind = draw(st.sampled_from(["text", "number", "list", "object"] if depth < 3 else ["text"]))
    if kind == "text":
        return draw(texts)
    if kind == "number":
        return draw(numbers)
    inner = draw(st.lists(layouts(depth + 1), max_size=3))
    return draw(join(inner, is_object=kind == "object"))


@st.composite
def join(draw: st.DrawFn, inner: list[str], *, is_object: bool) -> str:
    if is_object:
        inner = [f"{draw(names)}{draw(blanks)}:{draw(blanks)}{value}" for value in inner]
    parts = ",".join(f"{draw(blanks)}{one}{draw(blanks)}" for one in inner) or draw(blanks)
    return f"{{{parts}}}" if is_object else f"[{parts}]"


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    inner = draw(st.lists(layouts(1), max_size=4))
    return draw(blanks) + draw(join(inner, is_object=True)) + draw(blanks)


EDITS = (
    SetKey(keys=("mcp!", "warmstart"), value={"command": "w", "args": ["mcp"]}),
    AddItem(keys=("hooks!", "Start"), value={"hooks": [{"type": "command"}]}),
)


@given(settings_texts(), st.sampled_from(EDITS))
def test_adding_and_taking_back_is_nothing(before: str, edit: SetKey | AddItem) -> None:
    try:
        after = edit.apply(before)
    except UsageError:
        return  # something else is where the entry would go
    assert edit.apply(after) == after
    assert edit.undo(after, find_inserted(before, after)) == before


@given(
    st.dictionaries(st.text(max_size=5), values, max_size=4), st.sampled_from([2, 3, "\t", None])
)
def test_taking_back_without_a_record_leaves_the_rest(
    settings: dict[str, object], indent: int | str | None
) -> None:
    before = json.dumps(settings, indent=indent, ensure_ascii=False)
    for edit in EDITS:
        after = edit.apply(before)
        assert json.loads(edit.undo(after)) == settings
        if settings:
            assert edit.undo(after) == before


@given(st.text(alphabet="a1=# \n\r", max_size=30), st.booleans())
def test_a_table_is_cut_out_whole(text: str, knows: bool) -> None:  # noqa: FBT001 - drawn
    edit = AddTable(keys=("t", "x"), lines="[t.x]\nb = 1")
    try:
        after = edit.apply(text)
    except UsageError:
        return  # not TOML
    if knows:
        assert edit.undo(after, find_inserted(text, after)) == text
    else:
        assert edit.undo(after).rstrip("\r\n") == text.rstrip("\r\n")
