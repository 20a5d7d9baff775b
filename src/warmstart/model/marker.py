"""Context markers: what of the user's world a session, and a template made of it, points to."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class MarkerKind(StrEnum):
    """What a context marker points to."""

    FILE = "file"
    URL = "url"
    COMMAND = "command"


class Marker(NamedTuple):
    """Something of the user's world that calls keep coming back to."""

    kind: MarkerKind
    value: str
    uses: int
