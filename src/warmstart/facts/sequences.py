"""Sequences whose items are made when somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["TupleLike"]

_Item = TypeVar("_Item")


class TupleLike(Sequence[_Item]):
    """Equal to the tuple of its items, hashed and shown as it is."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether the items are the same, packed or not."""
        if not isinstance(other, tuple | TupleLike):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """As the tuple."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """As the tuple."""
        return repr(tuple(self))
