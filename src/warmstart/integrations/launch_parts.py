"""What a launcher is asked and what it answers; each agent's own ways are in ``launch_<agent>``."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from warmstart.app.start import WarmStart
from warmstart.integrations.launch_words import Words
from warmstart.model.warmup import WarmUp


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where and when a session starts: everything a launcher knows of the machine."""

    cwd: str
    environ: Mapping[str, str]
    user_home: Path
    home: Path
    """warmstart's own."""
    session_id: str
    """An id nobody has; agents that take one from outside get this one."""
    now: float
    command: tuple[str, ...] = ("warmstart",)
    """How warmstart itself is started."""

    def folder(self, variable: str, default: str) -> Path:
        """A folder an agent's variable names, else the one in the user's home."""
        named = self.environ.get(variable)
        return Path(named).expanduser() if named else self.user_home / default


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A command line that starts a session, as its agent reads it."""

    agent: str
    """The agent's name as its sessions have it."""
    arguments: tuple[str, ...]
    words: Words = field(default_factory=Words)
    message: str = ""
    """What the session is about."""
    opening: str = ""
    """What it will begin with; the same, unless the user said otherwise."""
    model: str | None = None
    cwd: str = ""
    tools: Collection[str] | None = None
    native_id: str | None = None
    """The id the session will have, where that can be known."""
    reads_stdin: bool = False
    """The message comes on stdin."""
    continues: bool = False
    """It goes on with a session that is there already."""
    obstacle: str = ""
    """Why no warm-up can be put in front of it."""


class Seed(NamedTuple):
    """A file for the agent, there while it runs."""

    path: Path
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to start: the user's command with as little added as there can be."""

    arguments: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    """Variables the agent gets besides its own."""
    seeds: tuple[Seed, ...] = ()


def without_files(launch: Launch) -> Launch:
    """The launch with the empty device in place of its files, for when none can be written."""

    def empty(text: str) -> str:
        for seed in launch.seeds:
            text = text.replace(str(seed.path), os.devnull)
        return text

    return Launch(
        arguments=tuple(map(empty, launch.arguments)),
        environ={name: empty(value) for name, value in launch.environ.items()},
    )


class Launcher(Protocol):
    """How one agent is started."""

    def read(self, arguments: Sequence[str], place: Place) -> Ask | None:
        """What the command line asks for; None if it starts no session."""

    def name_form(self, ask: Ask, warmup: WarmUp) -> str:
        """The form the warm-up will have; empty if the agent can be given none."""

    def put(self, ask: Ask, prepared: WarmStart, form: str, place: Place) -> Launch:
        """The launch with a warm-up in that form."""

    def stay_cold(self, ask: Ask, place: Place) -> Launch:
        """The launch without one, its session as easy to find again as can be."""

    def defer(self, ask: Ask, place: Place) -> Launch | None:
        """The launch that chooses when the first message is there; None if there is no such."""


def has_examples(warmup: WarmUp) -> bool:
    """Whether there is a call to show; without one a warm-up is advice, and text says it best."""
    return any(message.requests for message in warmup.messages)


__all__ = ["Ask", "Launch", "Launcher", "Place", "Seed", "has_examples", "without_files"]
