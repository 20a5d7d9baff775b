"""Was this call a success? The judgement every number of warmstart rests on."""

from warmstart.outcome.judge import judge

__all__ = ["judge"]
