"""The words a template and a start can be in: closed sets that listings need without contents."""

from __future__ import annotations

from enum import StrEnum


class TemplateState(StrEnum):
    """Whether a template may be used."""

    DRAFT = "draft"
    """Made here and not reviewed yet; used only when it is named."""
    APPROVED = "approved"
    QUARANTINED = "quarantined"
    """Came from elsewhere, or failed a check; never used before someone approves it."""
    RETIRED = "retired"
    """Turned out harmful, or was taken out by hand."""


class Arm(StrEnum):
    """How a session was started; what a later verdict compares."""

    WARM = "warm"
    COLD = "cold"
    """No template matched, or none was asked for."""
    HOLDOUT = "holdout"
    """A template matched and was left out on purpose: the control group."""
    TOKEN_MATCHED = "token_matched"  # noqa: S105 - an arm of an experiment, no secret
    """As many tokens of neutral text."""
    PLACEBO = "placebo"
    """A template mined from unrelated tasks."""
