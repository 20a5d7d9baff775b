"""Was this call a success? The judgement every number of warmstart rests on."""

from warmstart.outcome.judge import judge
from warmstart.outcome.phrases import contains_any
from warmstart.outcome.shell import name_command
from warmstart.outcome.tools import ToolKind, command_of, kind_of

__all__ = ["ToolKind", "command_of", "contains_any", "judge", "kind_of", "name_command"]
