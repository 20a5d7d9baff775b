"""Statistics for agent sessions: small, pure, standard library only.

Every function names its source. Degenerate input (no clusters, no calls, differences that are all
zero) gives the widest honest answer and never raises; what that is stands in each docstring. The
unit is the task or the session, never the tool call: no test on pooled calls is offered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.stats.eprocess import SequencePoint, sym_cs
    from warmstart.stats.independent import MISMATCH_P, sample_ratio, welch
    from warmstart.stats.multiple import holm
    from warmstart.stats.noninferiority import (
        MIN_GROUPS,
        NonInferiority,
        Preservation,
        p_not_inferior,
        three_way,
    )
    from warmstart.stats.paired import (
        PairedT,
        bonett_price,
        hodges_lehmann,
        mcnemar_exact,
        paired_t,
        sign_flip,
        wilcoxon,
    )
    from warmstart.stats.passk import PassComparison, Solved, compare_pass
    from warmstart.stats.pilot import cost_pilot, error_pilot, success_pilot
    from warmstart.stats.planning import (
        Scenario,
        cost_scenario,
        error_rate_scenario,
        minimum_detectable_effect,
        power,
        required_tasks,
        success_scenario,
    )
    from warmstart.stats.proportion import (
        ASSUMED_ICC,
        Difference,
        Interval,
        RateEstimate,
        clustered_difference,
        clustered_rate,
        fade_assumed,
        paired_difference,
        upper_bound_when_zero,
        wilson,
    )
    from warmstart.stats.sequential import Monitoring, StoppingRule, monitor
    from warmstart.stats.special import normal_cdf, normal_quantile, t_cdf, t_quantile
    from warmstart.stats.trend import TrendResult, score_trend
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "eprocess": ("SequencePoint", "sym_cs"),
            "independent": ("MISMATCH_P", "sample_ratio", "welch"),
            "multiple": ("holm",),
            "noninferiority": (
                "MIN_GROUPS", "NonInferiority", "Preservation", "p_not_inferior", "three_way",
            ),
            "paired": (
                "PairedT", "bonett_price", "hodges_lehmann", "mcnemar_exact", "paired_t",
                "sign_flip", "wilcoxon",
            ),
            "passk": ("PassComparison", "Solved", "compare_pass"),
            "pilot": ("cost_pilot", "error_pilot", "success_pilot"),
            "planning": (
                "Scenario", "cost_scenario", "error_rate_scenario", "minimum_detectable_effect",
                "power", "required_tasks", "success_scenario",
            ),
            "proportion": (
                "ASSUMED_ICC", "Difference", "Interval", "RateEstimate", "clustered_difference",
                "clustered_rate", "fade_assumed", "paired_difference", "upper_bound_when_zero",
                "wilson",
            ),
            "sequential": ("Monitoring", "StoppingRule", "monitor"),
            "special": ("normal_cdf", "normal_quantile", "t_cdf", "t_quantile"),
            "trend": ("TrendResult", "score_trend"),
        },
    )  # fmt: skip

__all__ = [
    "ASSUMED_ICC", "MIN_GROUPS", "MISMATCH_P", "Difference", "Interval", "Monitoring",
    "NonInferiority", "PairedT", "PassComparison", "Preservation", "RateEstimate", "Scenario",
    "SequencePoint", "Solved", "StoppingRule", "TrendResult", "bonett_price",
    "clustered_difference", "clustered_rate", "compare_pass", "cost_pilot", "cost_scenario",
    "error_pilot", "error_rate_scenario", "fade_assumed", "hodges_lehmann", "holm", "mcnemar_exact",
    "minimum_detectable_effect", "monitor", "normal_cdf", "normal_quantile", "p_not_inferior",
    "paired_difference", "paired_t", "power", "required_tasks", "sample_ratio", "score_trend",
    "sign_flip", "success_pilot", "success_scenario", "sym_cs", "t_cdf", "t_quantile", "three_way",
    "upper_bound_when_zero", "welch", "wilcoxon", "wilson",
]  # fmt: skip
