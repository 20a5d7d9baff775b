"""Hermes, started warm: its own few-shot door, a file of messages to put before every request.

``HERMES_PREFILL_MESSAGES_FILE`` names a file in warmstart's home that is there while Hermes runs.
Nothing of it reaches Hermes' database. Messages the user prefills already come first. Hermes gives
a new session its id itself, so the session is found by its folder, its hour and its first message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from warmstart.app.start import WarmStart
from warmstart.export.jsonl import encode_json
from warmstart.integrations.launch_parts import Ask, Launch, Place, Seed
from warmstart.integrations.launch_words import Grammar, read_words
from warmstart.integrations.tools import AGENT_TOOLS, HERMES
from warmstart.model.warmup import WarmUp

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
_SETTING = re.compile(r"""^\s*prefill_messages_file:\s*["']?([^"'#\n]+)""", re.MULTILINE)


class Hermes:
    """Launches of ``hermes``."""

    def read(self, arguments: Sequence[str], place: Place) -> Ask | None:
        """``hermes`` and ``hermes chat`` talk; every other subcommand does something else."""
        words = read_words(arguments, GRAMMAR)
        if words.has("-h", "--help", "--version") or words.plain[:1] not in ((), ("chat",)):
            return None
        return Ask(
            agent=HERMES,
            arguments=tuple(arguments),
            words=words,
            message=words.find("-q", "--query", *ONESHOT) or "",
            model=words.find("-m", "--model"),
            cwd=place.cwd,
            tools=AGENT_TOOLS[HERMES],
            native_id=words.find("-r", "--resume"),
            continues=words.has("-r", "--resume", "-c", "--continue"),
            obstacle=_find_obstacle(words.has(*ONESHOT), words.has("--tui")),
        )

    def name_form(self, ask: Ask, warmup: WarmUp) -> str:
        """Always the same."""
        del ask, warmup
        return "hermes-prefill"

    def put(self, ask: Ask, prepared: WarmStart, form: str, place: Place) -> Launch:
        """The file, and the variable that names it."""
        messages = [*_read_own(place), *prepared.render(form).body]
        path = place.home / FOLDER / f"{place.session_id}.json"
        return Launch(
            arguments=ask.arguments,
            environ={VARIABLE: str(path)},
            seeds=(Seed(path, encode_json(messages)),),
        )

    def stay_cold(self, ask: Ask, place: Place) -> Launch:
        """Hermes takes no id from outside."""
        del place
        return Launch(arguments=ask.arguments)

    def defer(self, ask: Ask, place: Place) -> Launch | None:
        """The plugin chooses at the first message; a command line cannot."""
        del ask, place
        return None


def _find_obstacle(is_oneshot: bool, is_tui: bool) -> str:  # noqa: FBT001 - both are flags
    if is_oneshot:
        return "hermes -z reads no prefilled messages; hermes chat -q does"
    return "hermes --tui reads no prefilled messages; without it hermes does" if is_tui else ""


def _read_own(place: Place) -> list[Any]:
    """Messages the user prefills already."""
    home = place.folder("HERMES_HOME", ".hermes")
    named = place.environ.get(VARIABLE, "").strip() or _find_setting(home)
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


__all__ = ["Hermes"]
