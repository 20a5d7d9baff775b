"""Claude Code's command line: what is read from it, and what is added."""

from __future__ import annotations

import json
import shlex
import uuid
from pathlib import Path

import pytest

from support.launching import MESSAGE, SESSION_ID, make_advice, make_place, make_prepared
from warmstart.integrations.launch_claude import ClaudeCode
from warmstart.integrations.launch_parts import Ask, Place
from warmstart.integrations.tools import AGENT_TOOLS, CLAUDE_CODE
from warmstart.sources import ReadLog, find_units, read_unit

OWN_ID = "99999999-2222-4333-8444-555555555555"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def read(line: str, place: Place) -> Ask:
    ask = ClaudeCode().read(shlex.split(line), place)
    assert ask is not None
    return ask


@pytest.mark.parametrize("line", ["mcp list", "doctor", "--version", "-h", "update", "-p -v"])
def test_what_starts_no_session_is_left_alone(line: str, place: Place) -> None:
    assert ClaudeCode().read(shlex.split(line), place) is None


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
    line: str, message: str, place: Place
) -> None:
    assert read(line, place).message == message


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
    line: str, native_id: str | None, place: Place
) -> None:
    assert read(line, place).native_id == native_id


def test_only_a_printing_session_without_words_reads_its_message(place: Place) -> None:
    assert read("-p", place).reads_stdin
    assert not read("", place).reads_stdin
    assert not read("-p x", place).reads_stdin
    assert not read("-p --input-format stream-json", place).reads_stdin


def test_tools_the_user_left_out_are_not_there(place: Place) -> None:
    assert read("-p x", place).tools == AGENT_TOOLS[CLAUDE_CODE]
    assert read("--tools=default -p x", place).tools == AGENT_TOOLS[CLAUDE_CODE]
    assert read("-p x --tools Bash,Read Edit", place).tools == ("Bash", "Read", "Edit", "mcp__*")


def test_a_new_session_goes_on_with_a_seed_under_its_own_id(place: Place) -> None:
    ask = read(f"-p '{MESSAGE}' --allowedTools Bash", place)
    prepared = make_prepared(tools=["Bash"])
    form = ClaudeCode().name_form(ask, prepared.warmup)
    launch = ClaudeCode().put(ask, prepared, form, place)
    option, seed_id, *rest = launch.arguments
    assert (form, option) == ("claude-session", "--resume")
    assert rest == ["--fork-session", "--session-id", SESSION_ID, *ask.arguments]
    assert str(uuid.UUID(seed_id)) == seed_id != SESSION_ID
    (seed,) = launch.seeds
    assert seed.path.name == f"{seed_id}.jsonl"
    assert seed.path.parent.parent == place.user_home / ".claude" / "projects"


def test_a_seed_is_read_back_as_a_warm_up_that_never_counts(place: Place) -> None:
    ask = read(f"-p '{MESSAGE}'", place)
    (seed,) = ClaudeCode().put(ask, make_prepared(tools=["Bash"]), "claude-session", place).seeds
    seed.path.parent.mkdir(parents=True)
    seed.path.write_bytes(seed.data)
    log = ReadLog()
    (found,) = find_units(seed.path, log)
    (session,) = read_unit(found, log)
    assert session.calls == ()
    assert {message.counts for message in session.messages} == {False}


def test_the_users_own_folder_and_id_are_used(tmp_path: Path) -> None:
    place = make_place(tmp_path, environ={"CLAUDE_CONFIG_DIR": str(tmp_path / "cc")})
    ask = read(f"-p x --session-id {OWN_ID}", place)
    launch = ClaudeCode().put(ask, make_prepared(), "claude-session", place)
    assert launch.seeds[0].path.is_relative_to(tmp_path / "cc" / "projects")
    assert launch.arguments.count("--session-id") == 1
    assert launch.arguments[-1] == OWN_ID


@pytest.mark.parametrize(
    "line",
    [f"--resume {OWN_ID} x", "-c x", "-w tree x", "--bg x", "-p x --no-session-persistence"],
)
def test_where_there_is_no_place_for_a_seed_it_is_text(line: str, place: Place) -> None:
    ask = read(line, place)
    assert ClaudeCode().name_form(ask, make_prepared().warmup) == "text"
    launch = ClaudeCode().put(ask, make_prepared(tools=["Bash"]), "text", place)
    at = launch.arguments.index("--append-system-prompt")
    assert "pytest -q" in launch.arguments[at + 1]
    assert launch.seeds == ()
    assert ("--session-id" in launch.arguments) is not ask.continues


def test_advice_alone_is_text(place: Place) -> None:
    assert (
        ClaudeCode().name_form(read("-p x", place), make_prepared(make_advice()).warmup) == "text"
    )


def test_a_path_too_long_for_a_folders_name_is_text() -> None:
    deep = make_place(Path("/" + "d" * 250))
    assert ClaudeCode().name_form(read("-p x", deep), make_prepared().warmup) == "text"


def test_words_the_user_appends_stay_and_come_first(place: Place) -> None:
    ask = read("--append-system-prompt 'Be brief.' -c x", place)
    launch = ClaudeCode().put(ask, make_prepared(make_advice()), "text", place)
    assert launch.arguments.count("--append-system-prompt") == 1
    assert launch.arguments[1].startswith("Be brief.\n\n")
    assert launch.arguments[2:] == ("-c", "x")


def test_a_file_the_user_appends_leaves_no_way_for_text(place: Place) -> None:
    ask = read("--append-system-prompt-file f -c x", place)
    assert ClaudeCode().name_form(ask, make_prepared().warmup) == ""


def test_a_cold_session_is_only_named(place: Place) -> None:
    cold = ClaudeCode().stay_cold
    assert cold(read("-p x", place), place).arguments == ("--session-id", SESSION_ID, "-p", "x")
    assert cold(read("-c x", place), place).arguments == ("-c", "x")


def test_without_a_message_the_hook_chooses_later(place: Place) -> None:
    launch = ClaudeCode().defer(read("", place), place)
    assert launch is not None
    at = launch.arguments.index("--settings")
    hooks = json.loads(launch.arguments[at + 1])["hooks"]["UserPromptSubmit"]
    assert hooks[0]["hooks"][0]["command"] == "'/opt/my apps/warmstart' hook claude-code"
    assert ClaudeCode().defer(read("--settings s.json", place), place) is None
