"""Hermes' command line: what is read from it, and the file it is given."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from support.launching import SESSION_ID, make_host, make_prepared
from warmstart.integrations.launch_hermes import VARIABLE, HermesLauncher
from warmstart.integrations.launch_parts import AgentCommand, Host


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return make_host(tmp_path)


def read(line: str, host: Host) -> AgentCommand:
    given = HermesLauncher().read(shlex.split(line), host)
    assert given is not None
    return given


@pytest.mark.parametrize("line", ["model", "gateway run", "--version", "chat -h", "warm list"])
def test_what_starts_no_session_is_left_alone(line: str, host: Host) -> None:
    assert HermesLauncher().read(shlex.split(line), host) is None


@pytest.mark.parametrize(
    ("line", "message", "native_id"),
    [
        ("chat -q 'fix it' -m big", "fix it", None),
        ("chat --query='fix it'", "fix it", None),
        ("-t file chat", "", None),
        ("", "", None),
        ("chat --resume s1 -q 'go on'", "go on", "s1"),
        ("chat --continue -q 'go on'", "go on", None),
    ],
)
def test_message_and_session_are_where_hermes_looks_for_them(
    line: str, message: str, native_id: str | None, host: Host
) -> None:
    given = read(line, host)
    assert (given.message, given.native_id, given.obstacle) == (message, native_id, "")


@pytest.mark.parametrize("line", ["-z 'fix it'", "chat --tui"])
def test_where_hermes_reads_no_file_that_is_said(line: str, host: Host) -> None:
    assert "prefilled" in read(line, host).obstacle


def test_the_file_holds_paired_examples_and_nothing_is_added_to_the_command(host: Host) -> None:
    given = read("chat -q 'fix it'", host)
    prepared = make_prepared(tools=["terminal"])
    launch = HermesLauncher().put(
        given, prepared, HermesLauncher().name_form(given, prepared.warmup), host
    )
    (seed,) = launch.seeds
    assert launch.arguments == given.arguments
    assert launch.environ == {VARIABLE: str(seed.path)}
    assert seed.path == host.home / "launch" / f"{SESSION_ID}.json"
    roles = [message["role"] for message in json.loads(seed.data)]
    assert roles == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("where", ["variable", "setting", "quoted"])
def test_messages_the_user_prefills_come_first(where: str, tmp_path: Path) -> None:
    home = tmp_path / "user" / ".hermes"
    home.mkdir(parents=True)
    (home / "own.json").write_text('[{"role": "user", "content": "mine"}]')
    line = (
        'prefill_messages_file: "own.json"'
        if where == "quoted"
        else "prefill_messages_file: own.json"
    )
    if where != "variable":
        (home / "config.yaml").write_text(f"model:\n  default: x\n{line}\n")
    host = make_host(tmp_path, environ={VARIABLE: "own.json"} if where == "variable" else {})
    launch = HermesLauncher().put(read("chat", host), make_prepared(), "hermes-prefill", host)
    messages = json.loads(launch.seeds[0].data)
    assert messages[0]["content"] == "mine"
    assert len(messages) > 1


@pytest.mark.parametrize("text", ["no json", '{"a": 1}', None])
def test_a_broken_file_of_the_user_costs_nothing(text: str | None, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    if text is not None:
        own.write_text(text)
    host = make_host(tmp_path, environ={VARIABLE: str(own)})
    launch = HermesLauncher().put(read("chat", host), make_prepared(), "hermes-prefill", host)
    assert json.loads(launch.seeds[0].data)[0]["role"] == "user"


def test_a_cold_session_is_started_as_it_was_typed(host: Host) -> None:
    given = read("chat -q x", host)
    assert HermesLauncher().stay_cold(given, host).arguments == ("chat", "-q", "x")
    assert HermesLauncher().defer(given, host) is None
