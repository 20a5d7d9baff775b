"""The part of an outcome that is kept, as one small number per call."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from warmstart.model import Certainty, ErrorClass, Outcome, Status

MAX_KNOWN = 4096


class Verdict(NamedTuple):
    """How a call ended and what that rests on."""

    status: Status
    certainty: Certainty
    error_class: ErrorClass | None
    masked: bool


VERDICTS: tuple[Verdict, ...] = tuple(
    Verdict(status, certainty, error_class, bool(masked))
    for status, certainty, error_class, masked in product(
        Status, Certainty, (None, *ErrorClass), (False, True)
    )
)
"""Every verdict there can be. Their places are stored: a new member of an enumeration moves them,
so ``index.SCHEMA`` must be raised with it."""
_PER_STATUS = len(VERDICTS) // len(Status)
_CODES = {verdict: code for code, verdict in enumerate(VERDICTS)}
_KNOWN: dict[int, tuple[Outcome, int]] = {}


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


def count_statuses(codes: list[int]) -> list[int]:
    """How many calls ended in each status, in the order of ``Status``."""
    counts = [0] * len(Status)
    for code in codes:
        counts[code // _PER_STATUS] += 1
    return counts
