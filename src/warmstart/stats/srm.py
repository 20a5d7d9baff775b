"""Sample-ratio mismatch: whether the arms got the share of sessions they were meant to get."""

from __future__ import annotations

from warmstart.stats.special import binomial_two_sided

__all__ = ["MISMATCH_P", "sample_ratio"]

MISMATCH_P = 0.001
"""Below this the assignment is taken to be broken (Fabijan et al. 2019)."""


def sample_ratio(control: int, treatment: int, share: float = 0.5) -> float:
    """Exact binomial p of the split, ``share`` being the treatment's planned share."""
    return binomial_two_sided(treatment, control + treatment, share)
