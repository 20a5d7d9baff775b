"""Hermes as its plugins see it: what they register, and a session played through it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from warmstart.integrations.hermes import register

TASK = "Fix the failing checkout test"
TOOLS = ("terminal", "read_file", "patch")
SYSTEM = {"role": "system", "content": "You are Hermes."}


class RecordingContext:
    """Keeps what a plugin registers and calls it back the way Hermes does."""

    def __init__(self) -> None:
        self.tools: dict[str, dict[str, Any]] = {}
        self.commands: dict[str, dict[str, Any]] = {}
        self.hooks: dict[str, Callable[..., Any]] = {}
        self.middleware: dict[str, Callable[..., Any]] = {}
        register(self)

    def register_tool(self, **fields: Any) -> None:
        self.tools[fields["name"]] = fields

    def register_cli_command(self, **fields: Any) -> None:
        self.commands[fields["name"]] = fields

    def register_hook(self, hook_name: str, callback: Callable[..., Any]) -> None:
        self.hooks[hook_name] = callback

    def register_middleware(self, kind: str, callback: Callable[..., Any]) -> None:
        self.middleware[kind] = callback

    def fire(self, hook: str, **fields: Any) -> None:
        assert self.hooks[hook](telemetry_schema_version="v", **fields) is None

    def send(self, request: dict[str, Any], session_id: str = "s-1", **fields: Any) -> Any:
        """What reaches the model."""
        before = copy.deepcopy(request)
        context = {"platform": "cli", "model": "m", "api_mode": "chat_completions", **fields}
        answer = self.middleware["llm_request"](
            request=request, original_request=request, session_id=session_id, **context
        )
        assert request == before
        return request if answer is None else answer["request"]

    def begin(self, message: str = TASK, session_id: str = "s-1", **fields: Any) -> Any:
        """A first turn, as Hermes plays it; what reaches the model."""
        first = fields.pop("is_first_turn", True)
        self.fire("pre_llm_call", session_id=session_id, user_message=message, is_first_turn=first)
        return self.send(ask({"role": "user", "content": message}), session_id, **fields)

    def call(self, number: int, result: Any, session_id: str = "s-1", **fields: Any) -> None:
        """One call of the terminal came back."""
        given = {"tool_name": "terminal", "args": {"command": "pytest -q"}, **fields}
        self.fire(
            "post_tool_call",
            session_id=session_id,
            result=result,
            tool_call_id=f"call_{number}",
            **given,
        )


def ask(*messages: dict[str, Any]) -> dict[str, Any]:
    """A chat request with a system prompt and tools."""
    tools = [{"type": "function", "function": {"name": name}} for name in TOOLS]
    return {"model": "m", "messages": [dict(SYSTEM), *messages], "tools": tools}
