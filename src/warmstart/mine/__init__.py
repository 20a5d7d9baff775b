"""What worked, mined from sessions: examples, recoveries, guidance and what they have in common.

Pure: facts in, a plan of what to fetch out; sessions in, a sealed template out.
"""

from warmstart.mine.build import (
    BuildRequest,
    Proposal,
    build_template,
    extract_template,
    plan_template,
    propose_templates,
)
from warmstart.mine.candidates import MiningPlan, ToolStat, plan_mining
from warmstart.mine.rules import MiningRules
from warmstart.mine.seal import SealError

__all__ = [
    "BuildRequest",
    "MiningPlan",
    "MiningRules",
    "Proposal",
    "SealError",
    "ToolStat",
    "build_template",
    "extract_template",
    "plan_mining",
    "plan_template",
    "propose_templates",
]
