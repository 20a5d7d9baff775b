"""Sessions that go on: they keep what they began with and are never written down as a start."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from support.hermes_db import add_session, answers, asks, make_database, user
from support.launching import MESSAGE, SESSION_ID, make_advice, make_host, make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.integrations.hermes.middleware import Middleware
from warmstart.integrations.hermes.sessions import Sessions, Turn
from warmstart.integrations.launch import LaunchOptions, LaunchPlan, plan_launch
from warmstart.integrations.launch_hermes import HermesLauncher
from warmstart.integrations.launch_parts import Host
from warmstart.model.template import TemplateState
from warmstart.store.starts import RecordedStart

CHAT = ("hermes", "chat", "-q", MESSAGE)
OTHER_ID = "99999999-2222-4333-8444-555555555555"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "ws"))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "user" / ".hermes"))
    found = Workspace(tmp_path / "ws")
    with open_library(found) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
        library.save(make_advice(), state=TemplateState.APPROVED)
    return found


@pytest.fixture
def host(tmp_path: Path) -> Host:
    programs = tmp_path / "bin"
    (tmp_path / "project").mkdir()
    for name in ("claude", "codex", "hermes"):
        programs.mkdir(exist_ok=True)
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    return make_host(tmp_path, environ={"PATH": str(programs)}, now=time.time())


def plan(workspace: Workspace, host: Host, *command: str, **options: Any) -> LaunchPlan:
    return plan_launch(workspace, command, LaunchOptions(**options), host)


def list_starts(workspace: Workspace) -> list[RecordedStart]:
    with open_library(workspace) as library:
        return library.require_db().list_starts()


def keep_session(host: Host, name: str = "20260301_1", text: str = MESSAGE, **fields: Any) -> Path:
    """The session as Hermes keeps it, a moment after its start."""
    path = host.user_home / ".hermes" / "state.db"
    row = {"started_at": time.time() + 1, "cwd": host.cwd, **fields}
    call = asks(("c1", "terminal", {"command": "ls"}))
    messages = [user(text), call, answers("c1", '{"output": "a", "exit_code": 0, "error": null}')]
    if not path.exists():
        make_database(path, {})
    add_session(path, name, messages, **row)
    return path


@pytest.mark.parametrize(
    "words",
    [("--resume", "20260301_1"), ("-c",), ("--resume", "cart work"), ("--continue", "cart work")],
)
def test_hermes_resumed_gets_the_bytes_it_began_with(
    words: tuple[str, ...], workspace: Workspace, host: Host
) -> None:
    first = plan(workspace, host, *CHAT)
    keep_session(host, title="cart work")
    with open_library(workspace) as library:
        library.delete("fix-cart")
    again = plan(workspace, host, "hermes", "chat", *words, "-q", "write a poem about autumn")
    assert [seed.data for seed in again.launch.seeds] == [seed.data for seed in first.launch.seeds]
    assert again.sentence.startswith("warm: fix-cart@1")
    assert (again.arm, again.start) == (None, None)
    assert again.environ["WARMSTART_STARTED"] == "hermes"
    assert len(list_starts(workspace)) == 1


def test_hermes_goes_on_without_a_message_too(workspace: Workspace, host: Host) -> None:
    first = plan(workspace, host, *CHAT)
    keep_session(host)
    again = plan(workspace, host, "hermes", "--resume", "20260301_1")
    assert again.launch.seeds[0].data == first.launch.seeds[0].data


@pytest.mark.parametrize("fields", [{"text": "another task"}, {"started_at": time.time() - 90_000}])
def test_a_session_that_began_elsewhere_goes_on_as_it_is(
    fields: dict[str, Any], workspace: Workspace, host: Host
) -> None:
    plan(workspace, host, *CHAT)
    keep_session(host, **fields)
    again = plan(workspace, host, "hermes", "--resume", "20260301_1", "-q", MESSAGE)
    assert again.launch.seeds == ()
    assert "WARMSTART_STARTED" not in again.environ
    assert len(list_starts(workspace)) == 1


def test_the_plugin_gives_a_launched_session_the_same_bytes(
    workspace: Workspace, host: Host
) -> None:
    first = plan(workspace, host, *CHAT)
    keep_session(host)
    sessions = Sessions()
    sessions.announce("20260301_1", Turn("thank you", is_first=False))
    request = {"messages": [user(MESSAGE), {"role": "assistant", "content": "done"}, user("go on")]}
    changed = Middleware(sessions).rewrite(request=request, session_id="20260301_1")
    assert changed is not None
    sent = changed["request"]["messages"]
    assert sent[: -len(request["messages"])] == orjson.loads(first.launch.seeds[0].data)
    assert Middleware(Sessions()).rewrite(request=request, session_id="20260301_1") == changed
    assert Middleware(Sessions()).rewrite(request=request, session_id="another") is None
    assert len(list_starts(workspace)) == 1


def test_which_session_is_meant_is_looked_up_as_hermes_does(host: Host) -> None:
    keep_session(host, "s_old", title="cart", started_at=1.0)
    keep_session(host, "s_next", title="cart #2", started_at=2.0)
    keep_session(host, "s_chat", title="100%", started_at=9.0, source="telegram")
    lines = {"-r s_old": "s_old", "-r cart": "s_next", "-c": "s_next", "-c 100%": "s_chat",
             "-r nobody": "nobody", "-r s%": "s%"}  # fmt: skip
    for line, wanted in lines.items():
        given = HermesLauncher().read(line.split(), host)
        assert given is not None
        assert (given.native_id, given.continues) == (wanted, True)


@pytest.mark.parametrize("words", [("--resume", SESSION_ID), ("--continue",)])
def test_claude_code_resumed_gets_the_text_it_began_with(
    words: tuple[str, ...], workspace: Workspace, host: Host
) -> None:
    first = plan(workspace, host, "claude", "-p", MESSAGE, template="advice")
    text = first.command[first.command.index("--append-system-prompt") + 1]
    folder = host.user_home / ".claude" / "projects" / host.cwd.replace("/", "-").replace("_", "-")
    folder.mkdir(parents=True)
    for name, age in ((SESSION_ID, 0), (OTHER_ID, 60)):
        (folder / f"{name}.jsonl").write_text("")
        os.utime(folder / f"{name}.jsonl", (time.time() - age, time.time() - age))
    again = plan(workspace, host, "claude", *words, "-p", "and now?")
    assert again.command[1:] == ("--append-system-prompt", text, *words, "-p", "and now?")
    assert len(list_starts(workspace)) == 1


def test_a_seeded_session_of_claude_code_has_its_examples_in_its_transcript(
    workspace: Workspace, host: Host
) -> None:
    plan(workspace, host, "claude", "-p", MESSAGE)
    again = plan(workspace, host, "claude", "--resume", SESSION_ID, MESSAGE)
    assert again.command[1:] == ("--resume", SESSION_ID, MESSAGE)
    assert again.sentence == "this session has its start already"
    assert len(list_starts(workspace)) == 1


@pytest.mark.parametrize(
    "command",
    [
        ("claude", "--resume", OTHER_ID, MESSAGE),
        ("claude", "--resume", OTHER_ID, "--fork-session", MESSAGE),
        ("claude", "-c", "-p", MESSAGE),
        ("codex", "resume", OTHER_ID, MESSAGE),
        ("codex", "exec", "resume", "--last", MESSAGE),
        ("codex", "fork", OTHER_ID, MESSAGE),
        ("hermes", "--resume", "20260301_9", "-q", MESSAGE),
        ("hermes", "chat", "-c", "-q", MESSAGE),
    ],
)
@pytest.mark.parametrize("options", [{}, {"cold": True}, {"template": "fix-cart"}])
def test_going_on_is_never_written_down_as_a_start(
    command: tuple[str, ...], options: dict[str, Any], workspace: Workspace, host: Host
) -> None:
    made = plan(workspace, host, *command, **options)
    assert (made.arm, made.start) == (None, None)
    assert list_starts(workspace) == []
    if "template" not in options:
        assert made.command[1:] == command[1:]


def test_a_template_that_is_named_is_given_to_a_session_that_goes_on(
    workspace: Workspace, host: Host
) -> None:
    made = plan(workspace, host, "claude", "-c", "-p", "go on", template="fix-cart")
    assert "pytest -q" in made.command[made.command.index("--append-system-prompt") + 1]
    assert made.sentence.startswith("warm: fix-cart@1")
