"""What a launcher reads and what it answers; each agent's own ways are in ``launch_<agent>``.

A command line is read as the agent itself would read it, and only what decides is read: the
message, the options that matter, the words that are neither. What is not understood stays where it
is, since the user's command is theirs.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from warmstart.app import WarmStart
from warmstart.integrations.agents import Host
from warmstart.model import WarmUp

END = "--"
"""Everything after it is a plain word, even if it looks like an option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """Which options of a program take words after them; any other takes none."""

    one: frozenset[str]
    """Exactly one word."""
    many: frozenset[str] = frozenset()
    """Every word up to the next option."""
    maybe: frozenset[str] = frozenset()
    """The next word, unless that is an option."""


class Option(NamedTuple):
    """An option with the words it took."""

    name: str
    values: tuple[str, ...]
    words: tuple[str, ...]
    """As they stood on the command line."""


@dataclass(frozen=True, slots=True)
class ParsedArgs:
    """A command line in its parts, in the order they stood in."""

    parts: tuple[Option | str, ...] = ()
    """Options, and words that belong to none: subcommands and messages."""

    @property
    def options(self) -> tuple[Option, ...]:
        """The options alone."""
        return tuple(part for part in self.parts if isinstance(part, Option))

    @property
    def plain(self) -> tuple[str, ...]:
        """The words alone."""
        return tuple(part for part in self.parts if isinstance(part, str) and part != END)

    def has(self, *names: str) -> bool:
        """Whether one of the options was given."""
        return any(option.name in names for option in self.options)

    def find(self, *names: str) -> str | None:
        """The last value given to one of the options."""
        values = [o.values[0] for o in self.options if o.name in names and o.values]
        return values[-1] if values else None

    def without(self, *names: str) -> list[str]:
        """The command line as it was, but for these options."""
        kept: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                kept.append(part)
            elif part.name not in names:
                kept += part.words
        return kept


def parse_args(arguments: Sequence[str], grammar: Grammar) -> ParsedArgs:
    """Split a command line into options and plain words."""
    parts: list[Option | str] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == END:
            parts += arguments[at:]
            break
        if not word.startswith("-") or word == "-":
            parts.append(word)
            at += 1
            continue
        end = _find_end(arguments, at, grammar)
        parts.append(_make_option(arguments[at:end]))
        at = end
    return ParsedArgs(tuple(parts))


def _find_end(arguments: Sequence[str], at: int, grammar: Grammar) -> int:
    """Where the words of the option at a place end."""
    name = arguments[at]
    following = at + 1
    if name in grammar.one:
        return min(following + 1, len(arguments))
    if name in grammar.maybe:
        taken = following < len(arguments) and not arguments[following].startswith("-")
        return following + taken
    if name in grammar.many:
        while following < len(arguments) and not arguments[following].startswith("-"):
            following += 1
    return following


def _make_option(words: Sequence[str]) -> Option:
    name, equals, value = words[0].partition("=")
    values = (value,) if equals else tuple(words[1:])
    return Option(name, values, tuple(words))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """A command line that starts a session, as its agent reads it."""

    agent: str
    """The agent's name as its sessions have it."""
    arguments: tuple[str, ...]
    words: ParsedArgs = field(default_factory=ParsedArgs)
    message: str = ""
    """What the session is about."""
    opening: str = ""
    """What it will begin with; the same, unless ``--message`` says what it is about."""
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


class SeedFile(NamedTuple):
    """A file for the agent, there while it runs."""

    path: Path
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to start: the user's command with as little added as there can be."""

    arguments: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    """Variables the agent gets besides its own."""
    seeds: tuple[SeedFile, ...] = ()


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

    def read(self, arguments: Sequence[str], host: Host) -> AgentCommand | None:
        """What the command line asks for; None if it starts no session."""

    def name_form(self, given: AgentCommand, warmup: WarmUp) -> str:
        """The form the warm-up will have; empty if the agent can be given none."""

    def put(self, given: AgentCommand, prepared: WarmStart, form: str, host: Host) -> Launch:
        """The launch with a warm-up in that form."""

    def stay_cold(self, given: AgentCommand, host: Host) -> Launch:
        """The launch without one, its session as easy to find again as can be."""

    def defer(self, given: AgentCommand, host: Host) -> Launch | None:
        """The launch that chooses when the first message is there; None if the agent cannot."""


def has_examples(warmup: WarmUp) -> bool:
    """Whether there is a call to show; without one a warm-up is advice, and text says it best."""
    return any(message.requests for message in warmup.messages)


__all__ = [
    "END",
    "AgentCommand",
    "Grammar",
    "Host",
    "Launch",
    "Launcher",
    "Option",
    "ParsedArgs",
    "SeedFile",
    "has_examples",
    "parse_args",
    "without_files",
]
