"""What is known of a tool after its first call, so that the next ones cost a look-up.

Calls of one tool mostly come with the same argument names: the hash of their shape, and which of
them name a file or an address, are found once per shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from warmstart.facts.hashes import hash_shape, start_hash
from warmstart.facts.markers import find_keys
from warmstart.facts.quick import FINDERS
from warmstart.outcome.tools import ToolKind, kind_of

MAX_SHAPES = 4096
_SHELL = ToolKind.SHELL


class Shape(NamedTuple):
    """The names and kinds of a call's arguments."""

    hash: int
    files: tuple[str, ...]
    urls: tuple[str, ...]


class Tool:
    """A tool by its name."""

    __slots__ = ("find", "is_shell", "name", "shapes", "start")

    def __init__(self, name: str) -> None:
        kind = kind_of(name)
        self.name = name
        self.is_shell = kind is _SHELL
        self.start = start_hash(name)
        self.find: Callable[[str, Mapping[str, Any], str], int | None] = FINDERS[kind]
        """Its quick verdict (``quick.find_verdict`` for its kind)."""
        self.shapes: dict[tuple[Any, ...], Shape] = {}

    def add_shape(self, key: tuple[Any, ...], arguments: Mapping[str, Any]) -> Shape:
        """The shape of some arguments, remembered under a key that tells their names and types."""
        files, urls = ((), ()) if self.is_shell else find_keys(arguments)
        shape = Shape(hash_shape(self.name, arguments), files, urls)
        if len(self.shapes) >= MAX_SHAPES:
            self.shapes.clear()
        self.shapes[key] = shape
        return shape
