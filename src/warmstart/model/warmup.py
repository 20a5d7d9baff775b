"""The exact words a new session starts with, before a renderer gives them an agent's form."""

from __future__ import annotations

from dataclasses import dataclass

from warmstart.model.message import Message
from warmstart.model.state import Arm

__all__ = ["CALL_ID_PREFIX", "Arm", "WarmUp"]

CALL_ID_PREFIX = "call_warm_"
"""How the ids of example calls begin, in every form. Agents keep ids, so a transcript that began
warm is recognised without a word in the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmUp:
    """A template cut to a budget. Frozen at session start; same inputs, same bytes."""

    template: str
    """The template's name."""
    template_id: str
    """sha256 of the template's content, in hex."""
    system: str = ""
    """Frame and guidance, to be merged into the leading system message."""
    messages: tuple[Message, ...] = ()
    """Example turns, all of kind WARMUP: every call has its result, the last is an assistant's."""
    tokens: int = 0
    """Estimated, system and messages together."""
    parts: tuple[str, ...] = ()
    """What went in: ``guidance:patch``, ``example:2``, ``recovery:0``."""
    left_out: tuple[str, ...] = ()
    """What did not, and why."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        return not self.system and not self.messages
