"""How reliable an agent is, where it fails, and whether it learns: pure, from facts alone.

``profile_messages`` for one conversation, ``summarise`` / ``merge`` / ``corpus_profile`` for many.
"""

from __future__ import annotations

from warmstart.profile.compaction import MARGIN, WINDOW, CompactionReport, check_compactions
from warmstart.profile.comparison import Comparison, ComparisonVerdict, Side, collect_side, compare
from warmstart.profile.corpus import LENGTH_EDGES, Profile, corpus_profile, parse_buckets
from warmstart.profile.learning import Learning, LearningVerdict
from warmstart.profile.messages import session_from_messages
from warmstart.profile.proficiency import PROFICIENCY_FORMULA, PROFICIENCY_TERMS
from warmstart.profile.rules import DEFAULT_RULES, ToolRules, parse_tool_types
from warmstart.profile.scan import scan_calls
from warmstart.profile.scores import Trend
from warmstart.profile.session import (
    SessionProfile,
    profile_facts,
    profile_messages,
    profile_whole_session,
)
from warmstart.profile.styles import find_domains, find_feedback, find_style
from warmstart.profile.summarise import summarise
from warmstart.profile.summary import Summary, decode_summary, encode_summary, merge, merge_all
from warmstart.profile.sums import Contrast, Group, Rate
from warmstart.profile.tool_profiles import ToolProfile
from warmstart.profile.tool_types import (
    TRIVIAL_TOOLS,
    TaskType,
    ToolType,
    classify_session,
    classify_tool,
)

__all__ = [
    "DEFAULT_RULES",
    "LENGTH_EDGES",
    "MARGIN",
    "PROFICIENCY_FORMULA",
    "PROFICIENCY_TERMS",
    "TRIVIAL_TOOLS",
    "WINDOW",
    "CompactionReport",
    "Comparison",
    "ComparisonVerdict",
    "Contrast",
    "Group",
    "Learning",
    "LearningVerdict",
    "Profile",
    "Rate",
    "SessionProfile",
    "Side",
    "Summary",
    "TaskType",
    "ToolProfile",
    "ToolRules",
    "ToolType",
    "Trend",
    "check_compactions",
    "classify_session",
    "classify_tool",
    "collect_side",
    "compare",
    "corpus_profile",
    "decode_summary",
    "encode_summary",
    "find_domains",
    "find_feedback",
    "find_style",
    "merge",
    "merge_all",
    "parse_buckets",
    "parse_tool_types",
    "profile_facts",
    "profile_messages",
    "profile_whole_session",
    "scan_calls",
    "session_from_messages",
    "summarise",
]
