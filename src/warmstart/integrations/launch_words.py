"""An agent's command line, read as the agent itself would read it.

Only what decides is read: the message, the options that matter, the words that are neither. What
is not understood stays where it is, since the user's command is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

END = "--"
"""What follows it is no option, whatever it looks like."""


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
class Words:
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


def read_words(arguments: Sequence[str], grammar: Grammar) -> Words:
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
    return Words(tuple(parts))


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


__all__ = ["END", "Grammar", "Option", "Words", "read_words"]
