"""Fakes that are shipped: a scripted model endpoint, for demonstrations and for your own tests.

    with ScriptedEndpoint(Script(Reply("Hello."))) as endpoint:
        print(endpoint.url)

They stand in for a model, never for a part of warmstart, and everything made with them must be
called a demonstration.
"""

from warmstart.testing.endpoint import Recorded, ScriptedEndpoint
from warmstart.testing.learning import LearningModel
from warmstart.testing.script import Answer, Fault, Policy, Reply, Script, ToolCall, by_turn
from warmstart.wire import Prompt

__all__ = [
    "Answer",
    "Fault",
    "LearningModel",
    "Policy",
    "Prompt",
    "Recorded",
    "Reply",
    "Script",
    "ScriptedEndpoint",
    "ToolCall",
    "by_turn",
]
