"""Experiments: whether a warm start helps, on these tasks with this model, and how sure that is.

Pure: plans, tasks and trials in, schedules and verdicts out. Running agents is ``runners``.
"""

from __future__ import annotations

from warmstart.experiment.ablation import Shorter
from warmstart.experiment.analysis import Analysis
from warmstart.experiment.effects import Effect, margin_on_scale
from warmstart.experiment.question import Conclusion
from warmstart.experiment.report import ExperimentReport, PlanChange
from warmstart.experiment.summaries import ArmSummary
from warmstart.experiment.verdict import MetricVerdict
from warmstart.experiment.wording import ANSWERS, NOUNS, describe_smallest, effect_interval, effect_size, show_ps, value_of, visible_effect
from warmstart.stats.sequential import StoppingRule

__all__ = []
