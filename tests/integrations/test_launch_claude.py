"""Claude Code's command line: what is read from it, and what is added."""

from __future__ import annotations

import json
import shlex
import uuid
from pathlib import Path

import pytest

from support.launching import MESSAGE, SESSION_ID, make_advice, make_host, make_prepared
from warmstart.integrations.launch_claude import ClaudeCodeLauncher
from warmstart.integrations.launch_parts import AgentCommand, Host
from warmstart.integrations.tools import AGENT_TOOLS, CLAUDE_CODE
from warmstart.sources import ReadLog, find_units, read_unit

OWN_ID = "99999999-2222-4333-8444-555555555555"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return make_host(tmp_path)


def read(line: str, host: Host) -> AgentCommand:
    given = ClaudeCodeLauncher().read(shlex.split(line), host)
    assert given is not None
    return given


@pytest.mark.parametrize("line", ["mcp list", "doctor", "--version", "-h", "update", "-p -v"])
def test_what_starts_no_session_is_left_alone(line: str, host: Host) -> None:
    assert ClaudeCodeLauncher().read(shlex.split(line), host) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-p 'fix it'", "fix it"),
        ("'fix it' --allowedTools Bash Edit", "fix it"),
        ("--model opus --add-dir a b -p 'fix it'", "fix it"),
        ("--allowedTools=Bash 'fix it'", "fix it"),
        ("-p -- '-v is broken'", "-v is broken"),
        ("", ""),
        ("--allowedTools Bash Edit", ""),
    ],
)
def test_the_message_is_the_word_that_belongs_to_no_option(
    line: str, message: str, host: Host
) -> None:
    assert read(line, host).message == message


@pytest.mark.parametrize(
    ("line", "native_id"),
    [
        ("-p x", SESSION_ID),
        (f"-p x --session-id {OWN_ID}", OWN_ID),
        (f"--resume {OWN_ID} x", OWN_ID),
        (f"--resume {OWN_ID} --fork-session x", None),
        ("--continue x", None),
    ],
)
def test_the_sessions_id_is_known_where_it_can_be(
    line: str, native_id: str | None, host: Host
) -> None:
    assert read(line, host).native_id == native_id


def test_only_a_printing_session_without_words_reads_its_message(host: Host) -> None:
    assert read("-p", host).reads_stdin
    assert not read("", host).reads_stdin
    assert not read("-p x", host).reads_stdin
    assert not read("-p --input-format stream-json", host).reads_stdin


def test_tools_the_user_left_out_are_not_there(host: Host) -> None:
    assert read("-p x", host).tools == AGENT_TOOLS[CLAUDE_CODE]
    assert read("--tools=default -p x", host).tools == AGENT_TOOLS[CLAUDE_CODE]
    assert read("-p x --tools Bash,Read Edit", host).tools == ("Bash", "Read", "Edit", "mcp__*")


def test_a_new_session_goes_on_with_a_seed_under_its_own_id(host: Host) -> None:
    given = read(f"-p '{MESSAGE}' --allowedTools Bash", host)
    prepared = make_prepared(tools=["Bash"])
    form = ClaudeCodeLauncher().name_form(given, prepared.warmup)
    launch = ClaudeCodeLauncher().put(given, prepared, form, host)
    option, seed_id, *rest = launch.arguments
    assert (form, option) == ("claude-session", "--resume")
    assert rest == ["--fork-session", "--session-id", SESSION_ID, *given.arguments]
    assert str(uuid.UUID(seed_id)) == seed_id != SESSION_ID
    (seed,) = launch.seeds
    assert seed.path.name == f"{seed_id}.jsonl"
    assert seed.path.parent.parent == host.user_home / ".claude" / "projects"


def test_a_seed_is_read_back_as_a_warm_up_that_never_counts(host: Host) -> None:
    given = read(f"-p '{MESSAGE}'", host)
    (seed,) = (
        ClaudeCodeLauncher().put(given, make_prepared(tools=["Bash"]), "claude-session", host).seeds
    )
    seed.path.parent.mkdir(parents=True)
    seed.path.write_bytes(seed.data)
    log = ReadLog()
    (found,) = find_units(seed.path, log)
    (session,) = read_unit(found, log)
    assert session.calls == ()
    assert {message.counts for message in session.messages} == {False}


def test_the_users_own_folder_and_id_are_used(tmp_path: Path) -> None:
    host = make_host(tmp_path, environ={"CLAUDE_CONFIG_DIR": str(tmp_path / "cc")})
    given = read(f"-p x --session-id {OWN_ID}", host)
    launch = ClaudeCodeLauncher().put(given, make_prepared(), "claude-session", host)
    assert launch.seeds[0].path.is_relative_to(tmp_path / "cc" / "projects")
    assert launch.arguments.count("--session-id") == 1
    assert launch.arguments[-1] == OWN_ID


@pytest.mark.parametrize(
    "line",
    [f"--resume {OWN_ID} x", "-c x", "-w tree x", "--bg x", "-p x --no-session-persistence"],
)
def test_where_there_is_no_place_for_a_seed_it_is_text(line: str, host: Host) -> None:
    given = read(line, host)
    assert ClaudeCodeLauncher().name_form(given, make_prepared().warmup) == "text"
    launch = ClaudeCodeLauncher().put(given, make_prepared(tools=["Bash"]), "text", host)
    at = launch.arguments.index("--append-system-prompt")
    assert "pytest -q" in launch.arguments[at + 1]
    assert launch.seeds == ()
    assert ("--session-id" in launch.arguments) is not given.continues


def test_advice_alone_is_text(host: Host) -> None:
    assert (
        ClaudeCodeLauncher().name_form(read("-p x", host), make_prepared(make_advice()).warmup)
        == "text"
    )


def test_a_path_too_long_for_a_folders_name_is_text() -> None:
    deep = make_host(Path("/" + "d" * 250))
    assert ClaudeCodeLauncher().name_form(read("-p x", deep), make_prepared().warmup) == "text"


def test_words_the_user_appends_stay_and_come_first(host: Host) -> None:
    given = read("--append-system-prompt 'Be brief.' -c x", host)
    launch = ClaudeCodeLauncher().put(given, make_prepared(make_advice()), "text", host)
    assert launch.arguments.count("--append-system-prompt") == 1
    assert launch.arguments[1].startswith("Be brief.\n\n")
    assert launch.arguments[2:] == ("-c", "x")


def test_a_file_the_user_appends_leaves_no_way_for_text(host: Host) -> None:
    given = read("--append-system-prompt-file f -c x", host)
    assert ClaudeCodeLauncher().name_form(given, make_prepared().warmup) == ""


def test_a_cold_session_is_only_named(host: Host) -> None:
    cold = ClaudeCodeLauncher().stay_cold
    assert cold(read("-p x", host), host).arguments == ("--session-id", SESSION_ID, "-p", "x")
    assert cold(read("-c x", host), host).arguments == ("-c", "x")


def test_without_a_message_the_hook_chooses_later(host: Host) -> None:
    launch = ClaudeCodeLauncher().defer(read("", host), host)
    assert launch is not None
    at = launch.arguments.index("--settings")
    hooks = json.loads(launch.arguments[at + 1])["hooks"]["UserPromptSubmit"]
    assert hooks[0]["hooks"][0]["command"] == "'/opt/my apps/warmstart' hook claude-code"
    assert ClaudeCodeLauncher().defer(read("--settings s.json", host), host) is None
