"""Short ways to build a call for the judge."""

from __future__ import annotations

from typing import Any

from warmstart.model import Outcome, Request, Result
from warmstart.outcome import judge


def judged(tool: str, text: str, origin: str = "", **fields: Any) -> Outcome:
    """The judgement of a result; ``command`` goes into the arguments, the rest into the result."""
    command = fields.pop("command", None)
    arguments = fields.pop("arguments", {"command": command} if command is not None else {})
    return judge(Request(tool=tool, arguments=arguments), Result(text=text, **fields), origin)


def shell(command: str, text: str, origin: str = "", **fields: Any) -> Outcome:
    """The judgement of a shell call."""
    return judged("bash", text, origin, command=command, **fields)
