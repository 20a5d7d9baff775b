"""The part of an outcome that is kept, as one small number per call.

The number's low byte says how a call ended, its high byte which class of error it was, so that
columns of either are made, counted and compared without looking at single calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple, cast

from warmstart.model import Certainty, ErrorClass, Outcome, Status

MAX_KNOWN = 4096


class Verdict(NamedTuple):
    """How a call ended and what that rests on."""

    status: Status
    certainty: Certainty
    error_class: ErrorClass | None
    masked: bool


CLASSES: tuple[ErrorClass | None, ...] = (None, *ErrorClass)
"""Classes of error by their number: the high byte."""
_ENDINGS = tuple(product(Status, Certainty, (False, True)))
"""Status, certainty and whether the exit code is hidden, by their number: the low byte."""
VERDICTS: Mapping[int, Verdict] = {
    number << 8 | ending: Verdict(status, certainty, error_class, masked)
    for number, error_class in enumerate(CLASSES)
    for ending, (status, certainty, masked) in enumerate(_ENDINGS)
}
"""Every verdict there can be. Their numbers are stored: a new member of an enumeration moves them,
so ``index.SCHEMA`` must be raised with it."""
_CODES = {verdict: code for code, verdict in VERDICTS.items()}
_KNOWN: dict[int, tuple[Outcome, int]] = {}
OK, ERROR = (list(Status).index(status) for status in (Status.OK, Status.ERROR))
"""Places in ``Status``."""


def _make_table(values: Iterable[int]) -> bytes:
    return bytes(values).ljust(256, b"\0")


STATUS_TABLE = _make_table(list(Status).index(status) for status, _, _ in _ENDINGS)
"""For ``bytes.translate``: from how a call ended to the place of its status in ``Status``."""
IS_OK, IS_ERROR = (bytes(place == one for place in range(256)) for one in (OK, ERROR))
"""From such places to a mask of the calls that worked, and of those that failed."""
MASKED_TABLE = _make_table(masked for _, _, masked in _ENDINGS)
"""From how a call ended to a mask: 1 where the exit code is hidden."""


def encode_verdict(outcome: Outcome) -> int:
    """The number of an outcome's verdict. Outcomes are shared, so most are known by identity."""
    known = _KNOWN.get(id(outcome))
    if known is not None and known[0] is outcome:
        return known[1]
    code = _CODES[Verdict(outcome.status, outcome.certainty, outcome.error_class, outcome.masked)]
    if len(_KNOWN) >= MAX_KNOWN:
        _KNOWN.clear()
    _KNOWN[id(outcome)] = (outcome, code)
    return code


def encode_parts(parts: tuple[object, ...]) -> int:
    """The number of the verdict with these parts: status, certainty, error class, masked."""
    return _CODES[cast("Verdict", parts)]


def count_statuses(codes: Iterable[int]) -> list[int]:
    """How many calls ended in each status, in the order of ``Status``."""
    statuses = bytes([code & 255 for code in codes]).translate(STATUS_TABLE)
    return [statuses.count(place) for place in range(len(Status))]
