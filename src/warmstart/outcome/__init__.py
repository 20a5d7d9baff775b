"""Was this call a success? The judgement every number of warmstart rests on."""

from warmstart.outcome.judge import judge
from warmstart.outcome.tools import ToolKind, command_of, kind_of

__all__ = ["ToolKind", "command_of", "judge", "kind_of"]
