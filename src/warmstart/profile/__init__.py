"""How reliable an agent is, where it fails, and whether it learns: pure, from facts alone.

``profile_session`` for one conversation, ``summarise`` / ``merge`` / ``corpus_profile`` for many.
"""

from warmstart.profile.corpus import CorpusProfile, corpus_profile
from warmstart.profile.rules import DEFAULT_RULES, Rules
from warmstart.profile.session import (
    SessionProfile,
    profile_facts,
    profile_session,
    profile_whole_session,
)
from warmstart.profile.summarise import summarise
from warmstart.profile.summary import (
    Summary,
    decode_summary,
    encode_summary,
    merge,
    merge_all,
)

__all__ = [
    "DEFAULT_RULES",
    "CorpusProfile",
    "Rules",
    "SessionProfile",
    "Summary",
    "corpus_profile",
    "decode_summary",
    "encode_summary",
    "merge",
    "merge_all",
    "profile_facts",
    "profile_session",
    "profile_whole_session",
    "summarise",
]
