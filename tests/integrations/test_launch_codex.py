"""Codex' command line: what is read from it, and what is added."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from support.launching import MESSAGE, SESSION_ID, make_advice, make_host, make_prepared
from warmstart.integrations.launch_codex import CodexLauncher
from warmstart.integrations.launch_parts import AgentCommand, Host
from warmstart.model.template import Guidance, Template
from warmstart.sources import ReadLog, find_units, read_unit

OWN_ID = "99999999-2222-4333-8444-555555555555"


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return make_host(tmp_path)


def read(line: str, host: Host) -> AgentCommand:
    given = CodexLauncher().read(shlex.split(line), host)
    assert given is not None
    return given


@pytest.mark.parametrize(
    "line", ["login", "mcp list", "exec review", "exec help", "--version", "-m x apply", "exec -h"]
)
def test_what_starts_no_session_is_left_alone(line: str, host: Host) -> None:
    assert CodexLauncher().read(shlex.split(line), host) is None


@pytest.mark.parametrize(
    ("line", "message", "native_id", "reads_stdin"),
    [
        ("'fix it'", "fix it", None, False),
        ("", "", None, False),
        ("exec 'fix it'", "fix it", None, False),
        ("-m big e -C sub 'fix it' --json", "fix it", None, False),
        ("exec", "", None, True),
        ("exec -", "", None, True),
        (f"exec resume {OWN_ID} 'go on'", "go on", OWN_ID, False),
        ("exec resume --last 'go on'", "go on", None, False),
        (f"resume {OWN_ID}", "", OWN_ID, False),
        ("resume", "", None, False),
        (f"fork {OWN_ID} 'go on'", "go on", None, False),
    ],
)
def test_message_and_session_are_where_codex_looks_for_them(
    line: str,
    message: str,
    native_id: str | None,
    reads_stdin: bool,  # noqa: FBT001 - a column of the table
    host: Host,
) -> None:
    given = read(line, host)
    assert (given.message, given.native_id, given.reads_stdin) == (message, native_id, reads_stdin)


def test_the_folder_is_the_one_codex_is_sent_to(host: Host) -> None:
    assert read("exec -C sub x", host).cwd == str(Path(host.cwd) / "sub")
    assert read("exec --cd /srv/p x", host).cwd == "/srv/p"
    assert read("exec x", host).cwd == host.cwd


@pytest.mark.parametrize(
    ("line", "resumed"),
    [
        ("exec 'fix it' --json -s read-only", "exec --json -s read-only resume ID 'fix it'"),
        ("-m big exec 'fix it'", "exec -m big resume ID 'fix it'"),
        ("exec -", "exec resume ID -"),
        ("'fix it'", "resume ID 'fix it'"),
        ("-a never", "-a never resume ID"),
        ("exec -i a.png b.png -- 'fix it'", "exec resume ID -i a.png -i b.png -- 'fix it'"),
        ("exec -- '-x fails'", "exec resume ID -- '-x fails'"),
    ],
)
def test_the_same_command_goes_on_with_the_rollout(line: str, resumed: str, host: Host) -> None:
    given = read(line, host)
    prepared = make_prepared(tools=["exec_command"])
    assert CodexLauncher().name_form(given, prepared.warmup) == "codex-rollout"
    launch = CodexLauncher().put(given, prepared, "codex-rollout", host)
    assert shlex.join(launch.arguments) == resumed.replace("ID", SESSION_ID)


def test_a_seed_is_read_back_as_a_warm_up_that_never_counts(host: Host) -> None:
    given = read(f"exec '{MESSAGE}'", host)
    launch = CodexLauncher().put(
        given, make_prepared(tools=["exec_command"]), "codex-rollout", host
    )
    (seed,) = launch.seeds
    assert seed.path.is_relative_to(host.user_home / ".codex" / "sessions")
    seed.path.parent.mkdir(parents=True)
    seed.path.write_bytes(seed.data)
    log = ReadLog()
    (found,) = find_units(seed.path, log)
    (session,) = read_unit(found, log)
    assert (session.native_id, session.calls) == (SESSION_ID, ())
    assert {message.counts for message in session.messages} == {False}


@pytest.mark.parametrize("line", ["exec --ephemeral x", "--worktree x"])
def test_where_there_is_no_place_for_a_rollout_it_is_text(line: str, host: Host) -> None:
    given = read(line, host)
    assert CodexLauncher().name_form(given, make_prepared().warmup) == "text"
    launch = CodexLauncher().put(given, make_prepared(tools=["exec_command"]), "text", host)
    option, setting, *rest = launch.arguments
    assert (option, rest) == ("-c", list(given.arguments))
    assert "pytest -q" in tomllib.loads(setting)["developer_instructions"]


def test_any_text_arrives_as_it_was_written(host: Host) -> None:
    odd = 'say "hi" \\ and\ttab \x7f \U0001f600'
    line = Guidance(tool="exec_command", text=odd, calls=9, errors=3)
    prepared = make_prepared(Template(name="odd", guidance=(line,)))
    launch = CodexLauncher().put(read("x", host), prepared, "text", host)
    text = tomllib.loads(launch.arguments[1])["developer_instructions"]
    assert text == prepared.render("text").text


def test_instructions_of_the_user_stay_and_come_first(host: Host) -> None:
    home = host.user_home / ".codex"
    home.mkdir(parents=True)
    (home / "config.toml").write_text('developer_instructions = "Be brief."\n')
    launch = CodexLauncher().put(read("x", host), make_prepared(make_advice()), "text", host)
    text = tomllib.loads(launch.arguments[1])["developer_instructions"]
    assert text.startswith("Be brief.\n\n")
    (home / "config.toml").write_text("developer_instructions = [\n")
    broken = CodexLauncher().put(read("x", host), make_prepared(make_advice()), "text", host)
    assert "Be brief." not in broken.arguments[1]


@pytest.mark.parametrize("line", ["-c developer_instructions=x y", "exec -p work y"])
def test_settings_of_another_hand_leave_no_way_for_text(line: str, host: Host) -> None:
    assert CodexLauncher().name_form(read(line, host), make_prepared(make_advice()).warmup) == ""


@pytest.mark.parametrize("line", [f"exec resume {OWN_ID} x", "resume --last", f"fork {OWN_ID}"])
def test_a_session_that_goes_on_keeps_what_it_began_with(line: str, host: Host) -> None:
    given = read(line, host)
    assert given.continues
    assert "began with" in given.obstacle


def test_a_cold_session_is_started_as_it_was_typed(host: Host) -> None:
    given = read("exec 'fix it' --json", host)
    assert CodexLauncher().stay_cold(given, host).arguments == ("exec", "fix it", "--json")
    assert CodexLauncher().defer(given, host) is None
