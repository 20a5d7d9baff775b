"""A real Claude Code at a terminal: keys, screen and signals pass through ``warmstart run``."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.agents import Computer, find_agent
from support.launching import MESSAGE, RESULT
from warmstart.testing import Reply, Script, ScriptedEndpoint

pytestmark = pytest.mark.agents
PATIENCE_SECONDS = 90


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[Computer]:
    program = find_agent("claude")
    with ScriptedEndpoint(Script(Reply("All done."))) as endpoint:
        computer = Computer(tmp_path, endpoint, program)
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        state = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "projects": {str(computer.project): trusted},
            "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        }
        (computer.user / ".claude" / ".claude.json").write_text(json.dumps(state))
        yield computer


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, computer: Computer, *words: str) -> None:
        self.screen = b""
        self.pid, self._keys = pty.fork()
        if self.pid == 0:
            os.chdir(computer.project)
            environ = {**computer.environ, "TERM": "xterm-256color"}
            command = [sys.executable, "-m", "warmstart", "run", "--", *words]
            os.execve(command[0], command, environ)  # noqa: S606 - our own command

    def watch(self, until: Callable[[], bool]) -> bool:
        """Read the screen until something is so, or patience ends."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not until() and time.monotonic() < end:
            if select.select([self._keys], [], [], 0.2)[0]:
                try:
                    self.screen += os.read(self._keys, 65536)
                except OSError:
                    break
        return until()

    def type(self, keys: str) -> None:
        os.write(self._keys, keys.encode())

    def end(self) -> int:
        """Ask the command to end; its exit code."""
        os.kill(self.pid, signal.SIGTERM)
        self.watch(lambda: False)
        _, status = os.waitpid(self.pid, 0)
        os.close(self._keys)
        return os.waitstatus_to_exitcode(status)


def test_a_session_at_a_terminal_starts_warm_and_ends_with_its_parent(claude: Computer) -> None:
    terminal = Terminal(claude, "claude", MESSAGE)
    assert terminal.watch(lambda: b"All done." in terminal.screen)
    sent = json.dumps([request.body for request in claude.endpoint.requests])
    assert RESULT in sent
    assert "call_warm_1" in sent
    assert terminal.end() != 0
    (start,) = claude.starts()
    (transcript,) = (claude.user / ".claude" / "projects").rglob("*.jsonl")
    assert transcript.stem == start.native_id


def test_what_is_typed_first_chooses_the_template(claude: Computer) -> None:
    terminal = Terminal(claude, "claude")
    assert terminal.watch(lambda: b"shortcuts" in terminal.screen)
    terminal.type(MESSAGE)
    assert terminal.watch(lambda: b"cart" in terminal.screen)
    terminal.type("\r")
    assert terminal.watch(lambda: b"All done." in terminal.screen)
    terminal.end()
    assert RESULT in json.dumps([request.body for request in claude.endpoint.requests])
    (start,) = claude.starts()
    assert start.form == "claude-hook"
