"""Claude Code, started warm.

The warm-up is a session of its own that Claude Code resumes and forks at once
(``--resume SEED --fork-session --session-id NEW``), so that its transcript, under an id that is
known beforehand, begins with the examples as real turns, and the seed can go when it ends. Where
there is no folder to put a seed into, or a session of the user's is resumed, or there is only
advice to give, it is text (``--append-system-prompt``). Where nothing is known of the task yet, the
hook chooses at the first message, for this one session (``--settings``).
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import replace

from warmstart.app import Target, WarmStart
from warmstart.integrations.agents import hook_entry
from warmstart.integrations.launch_parts import (
    AgentCommand,
    Grammar,
    Host,
    Launch,
    ParsedArgs,
    SeedFile,
    has_examples,
    parse_args,
)
from warmstart.integrations.tools import AGENT_TOOLS, CLAUDE_CODE
from warmstart.model import WarmUp

FORMAT_VERSION = "2.1.197"
"""The version whose transcripts a seed is written like."""
MAX_FOLDER_LENGTH = 200
"""Claude Code names the folder of a longer path in a way of its own."""
SUBCOMMANDS = frozenset({
    "agents", "auth", "auto-mode", "config", "doctor", "gateway", "install", "mcp",
    "migrate-installer", "plugin", "plugins", "project", "setup-token", "ultrareview", "update",
    "upgrade",
})  # fmt: skip
GRAMMAR = Grammar(
    one=frozenset({
        "--agent", "--agents", "--append-system-prompt", "--append-system-prompt-file",
        "--debug-file", "--effort", "--fallback-model", "--input-format", "--json-schema",
        "--max-budget-usd", "--max-turns", "--model", "--name", "-n", "--output-format",
        "--permission-mode", "--permission-prompt-tool", "--plugin-dir", "--plugin-url",
        "--remote-control-session-name-prefix", "--session-id", "--setting-sources", "--settings",
        "--system-prompt", "--system-prompt-file",
    }),
    many=frozenset({
        "--add-dir", "--allowedTools", "--allowed-tools", "--betas", "--disallowedTools",
        "--disallowed-tools", "--file", "--mcp-config", "--tools",
    }),
    maybe=frozenset({
        "-d", "--debug", "--from-pr", "--prompt-suggestions", "--remote-control", "-r", "--resume",
        "-w", "--worktree",
    }),
)  # fmt: skip
CONTINUES = ("-r", "--resume", "-c", "--continue", "--from-pr")
RESUME = ("-r", "--resume")
ELSEWHERE = ("-w", "--worktree", "--tmux", "--bg", "--background", "--no-session-persistence")
"""Runs in another folder, outlives the command, or keeps no session: no place for a seed."""
NO_HOOKS = ("--settings", "--bare", "--safe-mode")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NAMESPACE = uuid.UUID("0b7c3a56-3f3b-5d0c-8f0e-5b2f8f6a9d41")


class ClaudeCodeLauncher:
    """Launches of ``claude``."""

    def read(self, arguments: Sequence[str], host: Host) -> AgentCommand | None:
        """The message is the first word that belongs to no option."""
        words = parse_args(arguments, GRAMMAR)
        is_other = bool(words.plain) and words.plain[0] in SUBCOMMANDS
        if is_other or words.has("-h", "--help", "-v", "--version"):
            return None
        message = words.plain[0] if words.plain else ""
        streams = words.find("--input-format") == "stream-json"
        return AgentCommand(
            agent=CLAUDE_CODE,
            arguments=tuple(arguments),
            words=words,
            message=message,
            model=words.find("--model"),
            cwd=host.cwd,
            tools=_list_tools(words),
            native_id=_find_id(words, host),
            reads_stdin=words.has("-p", "--print") and not message and not streams,
            continues=words.has(*CONTINUES),
        )

    def name_form(self, given: AgentCommand, warmup: WarmUp) -> str:
        """A session wherever one can be resumed."""
        fits = len(given.cwd) <= MAX_FOLDER_LENGTH and not given.continues
        if fits and has_examples(warmup) and not given.words.has(*ELSEWHERE):
            return "claude-session"
        return "" if given.words.has("--append-system-prompt-file") else "text"

    def put(self, given: AgentCommand, prepared: WarmStart, form: str, host: Host) -> Launch:
        """Our options stand first, where none of the user's can swallow them."""
        if form == "text":
            return self._append(given, prepared.render("text").text, host)
        seed_id = str(uuid.uuid5(_NAMESPACE, given.native_id or host.session_id))
        target = Target(
            cwd=given.cwd,
            session_id=seed_id,
            version=FORMAT_VERSION,
            now=host.now,
            model=given.model or "",
        )
        rendered = prepared.render(form, target)
        path = host.folder("CLAUDE_CONFIG_DIR", ".claude") / rendered.path
        cold = self.stay_cold(given, host)
        return replace(
            cold,
            arguments=("--resume", seed_id, "--fork-session", *cold.arguments),
            seeds=(SeedFile(path, rendered.to_bytes()),),
        )

    def stay_cold(self, given: AgentCommand, host: Host) -> Launch:
        """A new session gets an id that is known."""
        if given.continues or given.words.has("--session-id"):
            return Launch(arguments=given.arguments)
        return Launch(arguments=("--session-id", host.session_id, *given.arguments))

    def defer(self, given: AgentCommand, host: Host) -> Launch | None:
        """The hook, for this session alone; the user's own settings stay as they are."""
        if given.words.has(*NO_HOOKS):
            return None
        settings = {"hooks": {"UserPromptSubmit": [hook_entry(host.command)]}}
        cold = self.stay_cold(given, host)
        return replace(cold, arguments=("--settings", json.dumps(settings), *cold.arguments))

    def _append(self, given: AgentCommand, text: str, host: Host) -> Launch:
        option = "--append-system-prompt"
        own = given.words.find(option)
        whole = f"{own}\n\n{text}" if own else text
        bare = replace(given, arguments=tuple(given.words.without(option)))
        cold = self.stay_cold(bare, host)
        return replace(cold, arguments=(option, whole, *cold.arguments))


def _find_id(words: ParsedArgs, host: Host) -> str | None:
    if not words.has(*CONTINUES):
        return words.find("--session-id") or host.session_id
    if words.has("--fork-session"):
        return words.find("--session-id")
    return _find_latest(host) if words.has("-c", "--continue") else words.find(*RESUME)


def _find_latest(host: Host) -> str | None:
    """The id of the session used last in this folder, which is what ``--continue`` means."""
    projects = host.folder("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    folder = projects / re.sub(r"[^a-zA-Z0-9]", "-", host.cwd)
    try:
        paths = [path for path in folder.glob("*.jsonl") if _UUID.fullmatch(path.stem)]
        return max(paths, key=lambda path: path.stat().st_mtime).stem if paths else None
    except OSError:
        return None


def _list_tools(words: ParsedArgs) -> tuple[str, ...]:
    """All it may have, or those the user allows besides MCP's."""
    named = [option.values for option in words.options if option.name == "--tools"]
    names = [name for values in named for value in values for name in value.split(",")]
    names = [name.strip() for name in names if name.strip()]
    if not named or "default" in names:
        return AGENT_TOOLS[CLAUDE_CODE]
    return (*names, "mcp__*")


__all__ = ["ClaudeCodeLauncher"]
