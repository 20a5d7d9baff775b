"""One number for how well calls go, with its formula beside it wherever it is shown."""

from __future__ import annotations

__all__ = ["PROFICIENCY_FORMULA", "PROFICIENCY_TERMS", "score_proficiency"]

PROFICIENCY_FORMULA = "0.60 x S + 0.25 x R + 0.15 x (1 - D)"
PROFICIENCY_TERMS = (
    "S: lower 95 % bound of the share of judged calls that worked; "
    "R: share of failures repaired within the next 10 calls, 1 without failures; "
    "D: share of calls identical to an earlier one"
)


def score_proficiency(surely_ok: float, repair: float, repeats: float) -> float:
    """S, R and D of the formula as one number from 0 to 1; length earns nothing."""
    return 0.60 * surely_ok + 0.25 * repair + 0.15 * (1.0 - repeats)
