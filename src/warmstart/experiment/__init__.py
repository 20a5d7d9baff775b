"""Experiments: whether a warm start helps, on these tasks with this model, and how sure that is.

Pure: plans, tasks and trials in, schedules and verdicts out. Running agents is ``runners``.
"""

from __future__ import annotations

from warmstart.experiment.ablation import (
    Choice,
    Shorter,
    Skipped,
    choose_variants,
    list_ablations,
)
from warmstart.experiment.analysis import Analysis, ArmComparison
from warmstart.experiment.arms import (
    BASELINE_ARM,
    COLD_START,
    ArmKind,
    ArmSpec,
    ArmStart,
    neutral_template,
    parse_arm,
    parse_arms,
    start_token_matched,
    start_warm,
)
from warmstart.experiment.check import CheckResult, CommandResult, Left, judge_task
from warmstart.experiment.diverse import choose_diverse
from warmstart.experiment.effects import Effect, margin_on_scale
from warmstart.experiment.plan import (
    MARGINS,
    Design,
    Direction,
    Metric,
    Plan,
    PlanError,
    Runner,
    RunnerKind,
    TaskSet,
    check_plan,
    compare_plans,
    format_plan,
    hash_plan,
    parse_plan,
    to_data,
)
from warmstart.experiment.question import Conclusion, Question, question_of
from warmstart.experiment.report import ExperimentReport, PlanChange
from warmstart.experiment.schedule import Slot, build_schedule, draw_seed
from warmstart.experiment.sizing import (
    REPETITIONS,
    Assumptions,
    Reach,
    Size,
    find_reach,
    learn_from_pilot,
    list_sizes,
)
from warmstart.experiment.stopping import find_stop
from warmstart.experiment.summaries import ArmSummary
from warmstart.experiment.tasks import Task, ToolDefinition, choose_tasks, hash_tasks, parse_tasks
from warmstart.experiment.trial import Trial, TrialCall, TrialStatus
from warmstart.experiment.variants import PARTS, STRATEGIES, shape_template
from warmstart.experiment.verdict import ArmVerdict, MetricVerdict, Verdict, verdict_of
from warmstart.experiment.wording import (
    ANSWERS,
    NOUNS,
    describe_smallest,
    effect_interval,
    effect_size,
    show_ps,
    value_of,
    visible_effect,
)
from warmstart.stats import StoppingRule

__all__ = [
    "ANSWERS",
    "BASELINE_ARM",
    "COLD_START",
    "MARGINS",
    "NOUNS",
    "PARTS",
    "REPETITIONS",
    "STRATEGIES",
    "Analysis",
    "ArmComparison",
    "ArmKind",
    "ArmSpec",
    "ArmStart",
    "ArmSummary",
    "ArmVerdict",
    "Assumptions",
    "CheckResult",
    "Choice",
    "CommandResult",
    "Conclusion",
    "Design",
    "Direction",
    "Effect",
    "ExperimentReport",
    "Left",
    "Metric",
    "MetricVerdict",
    "Plan",
    "PlanChange",
    "PlanError",
    "Question",
    "Reach",
    "Runner",
    "RunnerKind",
    "Shorter",
    "Size",
    "Skipped",
    "Slot",
    "StoppingRule",
    "Task",
    "TaskSet",
    "ToolDefinition",
    "Trial",
    "TrialCall",
    "TrialStatus",
    "Verdict",
    "build_schedule",
    "check_plan",
    "choose_diverse",
    "choose_tasks",
    "choose_variants",
    "compare_plans",
    "describe_smallest",
    "draw_seed",
    "effect_interval",
    "effect_size",
    "find_reach",
    "find_stop",
    "format_plan",
    "hash_plan",
    "hash_tasks",
    "judge_task",
    "learn_from_pilot",
    "list_ablations",
    "list_sizes",
    "margin_on_scale",
    "neutral_template",
    "parse_arm",
    "parse_arms",
    "parse_plan",
    "parse_tasks",
    "question_of",
    "shape_template",
    "show_ps",
    "start_token_matched",
    "start_warm",
    "to_data",
    "value_of",
    "verdict_of",
    "visible_effect",
]
