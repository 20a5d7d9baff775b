"""Reading settings: one table of a configuration file, each value checked where it enters.

A missing or null value is the default. A wrong one is an error that says the dotted key and the
value. An unknown key is an error when it looks like a slip of a known one, else it is kept, so that
a file written for another version survives a round trip.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warmstart.gateway.errors import ConfigError

_WORDS = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip


def parse_flag(key: str, value: object) -> bool:
    """A switch, also as the words files and environments use for one."""
    if isinstance(value, bool):
        return value
    known = _WORDS.get(str(value).strip().lower())
    if known is None:
        raise ConfigError(key, value, "true or false")
    return known


def parse_integer(key: str, value: object, low: int, high: int) -> int:
    """A whole number within bounds, also as digits in a text."""
    number: object = value
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        number = int(value[:20])
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise ConfigError(key, value, f"a whole number from {low} to {high}")
    return number


@dataclass(frozen=True, slots=True)
class Section:
    """A table of settings and the dotted name it stands under."""

    data: Mapping[str, Any]
    where: str = ""

    @classmethod
    def of(cls, value: object, where: str = "") -> Section:
        """The table at ``where``, or an error that says what is there instead."""
        if not isinstance(value, Mapping):
            raise ConfigError(where or "the configuration", value, "a table")
        return cls({str(key): inner for key, inner in value.items()}, where)

    def name(self, key: str) -> str:
        """The dotted name of a key in this table."""
        return f"{self.where}.{key}" if self.where else key

    def text(self, key: str) -> str | None:
        """A text or a number written as one (chat ids are often bare numbers); None if absent."""
        value = self.data.get(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise ConfigError(self.name(key), value, "a text")

    def choice(self, key: str, allowed: Collection[str], default: str) -> str:
        """One of a closed set of words."""
        value = self.text(key)
        if value is None:
            return default
        if value not in allowed:
            raise ConfigError(self.name(key), value, "one of " + ", ".join(allowed))
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """A switch."""
        value = self.data.get(key)
        return default if value is None else parse_flag(self.name(key), value)

    def integer(self, key: str, default: int, *, low: int, high: int) -> int:
        """A whole number within bounds."""
        value = self.data.get(key)
        return default if value is None else parse_integer(self.name(key), value, low, high)

    def texts(self, key: str, default: Collection[str]) -> list[str]:
        """A list of texts."""
        value = self.data.get(key)
        if value is None:
            return list(default)
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise ConfigError(self.name(key), value, "a list of texts")
        return list(value)

    def table(self, key: str) -> Section:
        """The table under a key; an empty one if there is none."""
        return Section.of(self.data.get(key) or {}, self.name(key))

    def tables(self) -> Iterator[tuple[str, Section]]:
        """Every table in this one, by name."""
        for key, value in self.data.items():
            yield key, Section.of({} if value is None else value, self.name(key))

    def others(self, known: Collection[str]) -> dict[str, Any]:
        """What this version does not know, kept; a slip of a known key is refused."""
        unknown = {key: value for key, value in self.data.items() if key not in known}
        for key, value in unknown.items():
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.85)
            if close:
                raise ConfigError(self.name(key), value, f"spelled {close[0]!r}")
        return unknown
