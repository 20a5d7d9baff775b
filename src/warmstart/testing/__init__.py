"""Fakes that are shipped: a scripted model endpoint, for demonstrations and for your own tests.

    with ScriptedEndpoint(Script(Reply("Hello."))) as endpoint:
        print(endpoint.url)

They stand in for a model, never for a part of warmstart, and everything made with them is to be
called a demonstration. Only the standard library is used.
"""

from warmstart.testing.endpoint import Recorded, ScriptedEndpoint
from warmstart.testing.learning import LearningModel
from warmstart.testing.script import Fault, Policy, Prompt, Reply, Script, ToolCall, Turn, by_turn

__all__ = [
    "Fault",
    "LearningModel",
    "Policy",
    "Prompt",
    "Recorded",
    "Reply",
    "Script",
    "ScriptedEndpoint",
    "ToolCall",
    "Turn",
    "by_turn",
]
