"""What each agent needs to know about warmstart, and where its settings are.

Nothing here touches a file: this is the table that ``warmstart install`` prints, or carries out.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from warmstart.errors import UsageError
from warmstart.integrations.edits import AddItem, AddTable, Edit, SetKey

SERVER_NAME = "warmstart"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One edit of one file."""

    path: Path
    edit: Edit
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything an agent needs."""

    agent: str
    title: str
    changes: tuple[FileChange, ...] = ()
    enable: tuple[str, ...] = ()
    """The agent's own command that turns the integration on, where it has one."""
    disable: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine as an agent sees it: where settings are, and where and when a session starts."""

    environ: Mapping[str, str]
    user_home: Path
    command: tuple[str, ...] = ("warmstart",)
    """How warmstart itself is started."""
    home: Path = Path()
    """warmstart's own folder."""
    cwd: str = ""
    session_id: str = ""
    """An id that no session has; agents that take one from outside get this one."""
    now: float = 0.0

    def folder(self, variable: str, default: str) -> Path:
        """A folder an agent's variable names, else the one in the user's home."""
        named = self.environ.get(variable)
        return Path(named).expanduser() if named else self.user_home / default


def find_command() -> tuple[str, ...]:
    """How to start warmstart from anywhere: its own command, else this Python."""
    found = shutil.which("warmstart")
    return (found,) if found else (sys.executable, "-m", "warmstart")


def this_host(home: Path = Path()) -> Host:
    """The machine here and now; ``home`` is warmstart's own folder."""
    return Host(
        cwd=str(Path.cwd()),
        environ=os.environ,
        user_home=Path.home(),
        home=home,
        session_id=str(uuid.uuid4()),
        now=time.time(),
        command=find_command(),
    )


def describe(agent: str, host: Host) -> Setup:
    """What an agent needs on this machine.

    Raises:
        UsageError: there is no such agent.
    """
    if agent not in SETUPS:
        raise UsageError(f"no agent {agent!r}", hint=f"one of: {', '.join(SETUPS)}")
    return SETUPS[agent](host)


def _server(host: Host) -> dict[str, object]:
    command, *arguments = host.command
    return {"command": command, "args": [*arguments, "mcp"]}


def hook_entry(command: tuple[str, ...]) -> dict[str, object]:
    """What Claude Code's settings hold for a hook; ``command`` starts warmstart."""
    line = " ".join([*map(_quote, command), "hook", "claude-code"])
    return {"hooks": [{"type": "command", "command": line, "timeout": 20}]}


def _claude_code(host: Host) -> Setup:
    settings = host.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"
    named = host.environ.get("CLAUDE_CONFIG_DIR")
    state = (Path(named).expanduser() if named else host.user_home) / ".claude.json"
    hook = hook_entry(host.command)
    return Setup(
        agent="claude-code",
        title="Claude Code",
        changes=(
            FileChange(
                path=settings,
                edit=AddItem(keys=("hooks", "UserPromptSubmit"), value=hook),
                why="the first message of a session chooses its template",
            ),
            FileChange(
                path=state,
                edit=SetKey(keys=("mcpServers", SERVER_NAME), value=_server(host)),
                why="the tools, prompts and resources of warmstart",
            ),
        ),
        notes=("or, without settings: warmstart run -- claude",),
    )


def _codex(host: Host) -> Setup:
    command, *arguments = host.command
    lines = (
        f"[mcp_servers.{SERVER_NAME}]\n"
        f"command = {json.dumps(command)}\nargs = {json.dumps([*arguments, 'mcp'])}"
    )
    table = AddTable(keys=("mcp_servers", SERVER_NAME), lines=lines)
    path = host.folder("CODEX_HOME", ".codex") / "config.toml"
    why = "the tools, prompts and resources of warmstart"
    return Setup(
        agent="codex",
        title="Codex",
        changes=(FileChange(path=path, edit=table, why=why),),
        notes=("a session starts warm with: warmstart run -- codex exec",),
    )


def _hermes(host: Host) -> Setup:
    del host
    return Setup(
        agent="hermes",
        title="Hermes",
        enable=("hermes", "plugins", "enable", SERVER_NAME, "--no-allow-tool-override"),
        disable=("hermes", "plugins", "disable", SERVER_NAME),
        notes=("warmstart must be installed in Hermes' own environment",),
    )


def _gemini(host: Host) -> Setup:
    path = host.folder("GEMINI_CLI_HOME", "") / ".gemini" / "settings.json"
    edit = SetKey(keys=("mcpServers", SERVER_NAME), value=_server(host))
    why = "the tools, prompts and resources of warmstart"
    return Setup(
        agent="gemini", title="Gemini CLI", changes=(FileChange(path=path, edit=edit, why=why),)
    )


def _opencode(host: Host) -> Setup:
    path = host.folder("XDG_CONFIG_HOME", ".config") / "opencode" / "opencode.json"
    value = {"type": "local", "command": [*host.command, "mcp"], "enabled": True}
    edit = SetKey(keys=("mcp", SERVER_NAME), value=value)
    why = "the tools, prompts and resources of warmstart"
    return Setup(
        agent="opencode", title="opencode", changes=(FileChange(path=path, edit=edit, why=why),)
    )


def _quote(word: str) -> str:
    import shlex  # noqa: PLC0415 - only for a line that a shell will read

    return shlex.quote(word)


SETUPS: dict[str, Callable[[Host], Setup]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "hermes": _hermes,
    "gemini": _gemini,
    "opencode": _opencode,
}
