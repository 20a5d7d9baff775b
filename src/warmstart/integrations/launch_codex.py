"""Codex, started warm.

The warm-up is a rollout that ``codex exec resume`` or ``codex resume`` goes on with; it becomes the
session's own file, so the session's id is known beforehand and nothing is left over. Advice without
examples is text (``developer_instructions``). A session of the user's that is resumed keeps the
instructions it began with, so it cannot be given any.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from warmstart.app import Target, WarmStart
from warmstart.integrations.launch_parts import (
    END,
    AgentCommand,
    Grammar,
    Host,
    Launch,
    ParsedArgs,
    SeedFile,
    has_examples,
    parse_args,
)
from warmstart.integrations.tools import AGENT_TOOLS, CODEX
from warmstart.model import WarmUp

FORMAT_VERSION = "0.166.0"
"""The version whose rollouts a seed is written like."""
EXEC = ("exec", "e")
SUBCOMMANDS = frozenset({
    "a", "agents", "app", "app-server", "apply", "archive", "cloud", "completion", "debug",
    "delete", "doctor", "exec-server", "features", "help", "login", "logout", "mcp", "mcp-server",
    "migrate-nfs-db", "migrate-rollouts", "plugin", "proto", "queue", "remote-control", "review",
    "sandbox", "unarchive", "update",
})  # fmt: skip
IMAGES = ("-i", "--image")
GRAMMAR = Grammar(
    one=frozenset({
        "-a", "--add-dir", "--ask-for-approval", "-C", "--cd", "--color", "-c", "--config",
        "--cyber-access-program", "--disable", "--enable", "--local-provider", "-m", "--model",
        "-o", "--output-last-message", "--output-schema", "-p", "--profile", "--remote",
        "--remote-auth-token-env", "-s", "--sandbox", "--thread-source",
    }),
    many=frozenset(IMAGES),
)  # fmt: skip
ELSEWHERE = ("--worktree", "--ephemeral", "--remote")
"""Runs in another folder or on another machine, or keeps no session."""
RESUMED = "Codex goes on with the instructions a session began with"
INSTRUCTIONS = "developer_instructions"


class CodexLauncher:
    """Launches of ``codex``."""

    def read(self, arguments: Sequence[str], host: Host) -> AgentCommand | None:
        """``codex [MESSAGE]``, ``codex exec [MESSAGE]``, and the sessions they resume."""
        words = parse_args(arguments, GRAMMAR)
        command, rest = _find_command(words)
        if command in SUBCOMMANDS or words.has("-h", "--help", "-V", "--version"):
            return None
        continues = rest[:1] in (["resume"], ["fork"])
        native, message = _split(rest, words) if continues else (None, "".join(rest[:1]))
        return AgentCommand(
            agent=CODEX,
            arguments=tuple(arguments),
            words=words,
            message="" if message == "-" else message,
            model=words.find("-m", "--model"),
            cwd=str(Path(host.cwd) / (words.find("-C", "--cd") or "")),
            tools=AGENT_TOOLS[CODEX],
            native_id=native,
            reads_stdin=command in EXEC and message in ("", "-"),
            continues=continues,
            obstacle=RESUMED if continues else "",
        )

    def name_form(self, given: AgentCommand, warmup: WarmUp) -> str:
        """A rollout for a new session."""
        if has_examples(warmup) and not given.words.has(*ELSEWHERE):
            return "codex-rollout"
        return "" if _find_obstacle(given.words) else "text"

    def put(self, given: AgentCommand, prepared: WarmStart, form: str, host: Host) -> Launch:
        """The same command, going on with the rollout."""
        home = host.folder("CODEX_HOME", ".codex")
        if form == "text":
            own = _read_instructions(home)
            text = "\n\n".join(filter(None, (own, prepared.render("text").text)))
            return Launch(arguments=("-c", f"{INSTRUCTIONS}={_quote(text)}", *given.arguments))
        target = Target(
            cwd=given.cwd, session_id=host.session_id, version=FORMAT_VERSION, now=host.now
        )
        rendered = prepared.render(form, target)
        return Launch(
            arguments=tuple(_resume(given.words, host.session_id)),
            seeds=(SeedFile(home / rendered.path, rendered.to_bytes()),),
        )

    def stay_cold(self, given: AgentCommand, host: Host) -> Launch:
        """Codex takes no id from outside."""
        del host
        return Launch(arguments=given.arguments)

    def defer(self, given: AgentCommand, host: Host) -> Launch | None:
        """Nothing of Codex' waits for the first message."""
        del given, host
        return None


def _find_command(words: ParsedArgs) -> tuple[str, list[str]]:
    """The subcommand (empty for the interactive one), and the words that are its own."""
    plain = list(words.plain)
    if _is_exec(plain):
        other = plain[1:2] and plain[1] in ("review", "help")
        return (plain[1] if other else plain[0]), plain[1:]
    return (plain[0] if plain[:1] and plain[0] in SUBCOMMANDS else ""), plain


def _split(rest: list[str], words: ParsedArgs) -> tuple[str | None, str]:
    """The id of a session that is resumed, and the message; a fork has an id of its own."""
    kind, *own = rest
    if words.has("--last"):
        return None, "".join(own[:1])
    return (own[0] if own and kind == "resume" else None), "".join(own[1:2])


def _resume(words: ParsedArgs, session_id: str) -> list[str]:
    """All options first, since ``resume`` knows fewer of them than what stands before it.

    Images take every word after them, up to the mark before the message.
    """
    plain = list(words.plain)
    head = [plain.pop(0)] if _is_exec(plain) else []
    images = [(IMAGES[0], image) for o in words.options if o.name in IMAGES for image in o.values]
    parts = [part for part in words.parts if not isinstance(part, str)]
    kept = ParsedArgs(tuple(parts)).without(*IMAGES)
    mark = [END] if plain and (images or END in words.parts) else []
    return [*head, *kept, "resume", session_id, *chain(*images), *mark, *plain[:1]]


def _is_exec(plain: Sequence[str]) -> bool:
    return bool(plain) and plain[0] in EXEC


def _find_obstacle(words: ParsedArgs) -> str:
    """Text goes through a setting; another hand on it, or settings we cannot read, forbid that."""
    given = [value for option in words.options for value in option.values]
    if any(value.startswith(INSTRUCTIONS) for value in given):
        return f"{INSTRUCTIONS} is set on the command line"
    if words.has("-p", "--profile"):
        return "a profile may set instructions of its own"
    return ""


def _read_instructions(home: Path) -> str:
    """The user's own, which a setting on the command line would replace."""
    try:
        document = tomllib.loads((home / "config.toml").read_text("utf-8"))
    except FileNotFoundError:
        return ""
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return ""  # Codex itself will refuse it
    own = document.get(INSTRUCTIONS)
    return own if isinstance(own, str) else ""


def _quote(text: str) -> str:
    """A TOML string: JSON's, but for the one character TOML wants escaped and JSON does not."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


__all__ = ["CodexLauncher"]
