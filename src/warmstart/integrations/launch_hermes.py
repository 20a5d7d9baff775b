"""Hermes, started warm: its own few-shot door, a file of messages to put before every request.

``HERMES_PREFILL_MESSAGES_FILE`` names a file in warmstart's home that is there while Hermes runs.
Nothing of it reaches Hermes' database, so it is kept for when the session is resumed. Messages the
user prefills already come first. Hermes gives a new session its id itself, so the session is found
by its folder, its hour and its first message; which one ``--resume`` and ``--continue`` mean is
looked up as Hermes does it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from warmstart.app import WarmStart, encode_json, open_database
from warmstart.errors import SourceError
from warmstart.integrations.launch_parts import (
    AgentCommand,
    Grammar,
    Host,
    Launch,
    ParsedArgs,
    SeedFile,
    parse_args,
)
from warmstart.integrations.tools import AGENT_TOOLS, HERMES
from warmstart.model import WarmUp

VARIABLE = "HERMES_PREFILL_MESSAGES_FILE"
FOLDER = "launch"
GRAMMAR = Grammar(
    one=frozenset({
        "--image", "--max-turns", "-m", "--model", "--provider", "-q", "--query", "-r", "--resume",
        "-s", "--skills", "--source", "-t", "--toolsets", "--usage-file", "-z", "--oneshot",
    }),
    maybe=frozenset({"-c", "--continue"}),
)  # fmt: skip
ONESHOT = ("-z", "--oneshot")
RESUME = ("-r", "--resume")
CONTINUE = ("-c", "--continue")
DATABASE = "state.db"
BY_TITLE = """SELECT id FROM sessions WHERE title = ? OR title LIKE ? ESCAPE '\\'
    ORDER BY title = ?, started_at DESC LIMIT 1"""
LATEST = """SELECT id FROM sessions WHERE source = 'cli' ORDER BY COALESCE((SELECT MAX(timestamp)
    FROM messages WHERE session_id = sessions.id), started_at) DESC, started_at DESC LIMIT 1"""
_SETTING = re.compile(r"""^\s*prefill_messages_file:\s*["']?([^"'#\n]+)""", re.MULTILINE)


class HermesLauncher:
    """Launches of ``hermes``."""

    def read(self, arguments: Sequence[str], host: Host) -> AgentCommand | None:
        """``hermes`` and ``hermes chat`` talk; every other subcommand does something else."""
        words = parse_args(arguments, GRAMMAR)
        if words.has("-h", "--help", "--version") or words.plain[:1] not in ((), ("chat",)):
            return None
        continues = words.has(*RESUME, *CONTINUE)
        return AgentCommand(
            agent=HERMES,
            arguments=tuple(arguments),
            words=words,
            message=words.find("-q", "--query", *ONESHOT) or "",
            model=words.find("-m", "--model"),
            cwd=host.cwd,
            tools=AGENT_TOOLS[HERMES],
            native_id=_find_session(words, host) if continues else None,
            continues=continues,
            obstacle=_find_obstacle(words.has(*ONESHOT), words.has("--tui")),
        )

    def name_form(self, given: AgentCommand, warmup: WarmUp) -> str:
        """Always the same."""
        del given, warmup
        return "hermes-prefill"

    def put(self, given: AgentCommand, prepared: WarmStart, form: str, host: Host) -> Launch:
        """The file, and the variable that names it."""
        messages = [*_read_own(host), *prepared.render(form).body]
        path = host.home / FOLDER / f"{host.session_id}.json"
        return Launch(
            arguments=given.arguments,
            environ={VARIABLE: str(path)},
            seeds=(SeedFile(path, encode_json(messages)),),
        )

    def stay_cold(self, given: AgentCommand, host: Host) -> Launch:
        """Hermes takes no id from outside."""
        del host
        return Launch(arguments=given.arguments)

    def defer(self, given: AgentCommand, host: Host) -> Launch | None:
        """The plugin chooses at the first message; a command line cannot."""
        del given, host
        return None


def _find_obstacle(is_oneshot: bool, is_tui: bool) -> str:  # noqa: FBT001 - both are flags
    if is_oneshot:
        return "hermes -z reads no prefilled messages; hermes chat -q does"
    return "hermes --tui reads no prefilled messages; without it hermes does" if is_tui else ""


def _find_session(words: ParsedArgs, host: Host) -> str | None:
    """The id of the session that is meant: by id, by title, or the one used last."""
    wanted = words.find(*RESUME) or words.find(*CONTINUE)
    database = host.folder("HERMES_HOME", ".hermes") / DATABASE
    if not database.is_file():
        return wanted
    try:
        with open_database(database) as connection:
            if wanted is None:
                row = connection.execute(LATEST).fetchone()
            else:
                escaped = re.sub(r"([\\%_])", r"\\\1", wanted)
                row = (
                    connection.execute("SELECT id FROM sessions WHERE id = ?", (wanted,)).fetchone()
                    or connection.execute(BY_TITLE, (wanted, f"{escaped} #%", wanted)).fetchone()
                )
            return str(row[0]) if row else wanted
    except SourceError:
        return wanted  # Hermes will say what is wrong with it


def _read_own(host: Host) -> list[Any]:
    """Messages the user prefills already."""
    home = host.folder("HERMES_HOME", ".hermes")
    named = host.environ.get(VARIABLE, "").strip() or _find_setting(home)
    if not named:
        return []
    try:
        own = orjson.loads((home / Path(named).expanduser()).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return []  # Hermes goes on without them too
    return own if isinstance(own, list) else []


def _find_setting(home: Path) -> str:
    try:
        text = (home / "config.yaml").read_text("utf-8", "replace")
    except OSError:
        return ""
    found = _SETTING.search(text)
    return found[1].strip() if found else ""


__all__ = ["HermesLauncher"]
