"""The tools a session has, as the names that examples are compared with."""

from __future__ import annotations

from collections.abc import Iterable


class Toolset:
    """Names in any case; one that ends in ``*`` stands for every name that begins so."""

    __slots__ = ("_beginnings", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        folded = [name.casefold() for name in names]
        self._names = frozenset(folded)
        self._beginnings = tuple(name[:-1] for name in folded if name.endswith("*"))

    def __contains__(self, tool: str) -> bool:
        folded = tool.casefold()
        return folded in self._names or folded.startswith(self._beginnings)


__all__ = ["Toolset"]
