"""OpenAI chat messages, one conversation per line: no field says how a call ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samples.minting import Mint
from samples.steps import Call, Ending, Say, Scenario, Tool, Turn, User

NAMES = {
    Tool.SHELL: "run_command",
    Tool.READ: "read_file",
    Tool.EDIT: "edit_file",
    Tool.WRITE: "write_file",
    Tool.SEARCH: "search",
    Tool.CODE: "run_python",
    Tool.WEB: "web_search",
    Tool.TODO: "plan",
}
PARAMETERS = {
    "run_command": ("command",),
    "read_file": ("path",),
    "edit_file": ("path", "old", "new"),
    "search": ("pattern", "path"),
}


def write(scenarios: list[Scenario], folder: Path) -> None:
    """Write all conversations into one file."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(_conversation(scenario), ensure_ascii=False) for scenario in scenarios]
    (folder / "conversations.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _conversation(scenario: Scenario) -> dict[str, Any]:
    mint = Mint(scenario.key, scenario.started)
    prompt = f"You are a coding agent working in {scenario.cwd}."
    messages: list[dict[str, Any]] = [{"role": "system", "content": prompt}]
    for step in scenario.steps:
        match step:
            case User(text):
                messages.append({"role": "user", "content": text})
            case Say(text):
                messages.append({"role": "assistant", "content": text})
            case Turn():
                messages += _turn(step, mint)
            case _:
                raise ValueError(f"not a thing this format can say: {step!r}")
    tools = [_schema(name, keys) for name, keys in PARAMETERS.items()]
    return {"messages": messages, "tools": tools, "parallel_tool_calls": True}


def _schema(name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    properties = {key: {"type": "string"} for key in keys}
    parameters = {"type": "object", "properties": properties, "required": list(keys)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _turn(turn: Turn, mint: Mint) -> list[dict[str, Any]]:
    ids = [mint.token("call_", 24) for _ in turn.calls]
    calls = [
        {
            "id": ident,
            "type": "function",
            "function": {"name": NAMES[call.tool], "arguments": json.dumps(dict(call.arguments))},
        }
        for ident, call in zip(ids, turn.calls, strict=True)
    ]
    asked = {"role": "assistant", "content": turn.text or None, "tool_calls": calls}
    answers = [
        {"role": "tool", "tool_call_id": ident, "content": _text(call)}
        for ident, call in zip(ids, turn.calls, strict=True)
    ]
    return [asked, *answers]


def _text(call: Call) -> str:
    match call.ending:
        case Ending.EXIT | Ending.TIMEOUT:
            reason = "timed out" if call.ending is Ending.TIMEOUT else call.text
            return f"{reason}\n[exit code: {call.exit_code}]".lstrip()
        case Ending.MISSING:
            return f"Error: file not found: {call.arguments['path']}"
        case Ending.MISMATCH:
            return f"Error: old text not found in {call.arguments['path']}; no changes made"
        case _:
            done = {Tool.EDIT: "edited", Tool.WRITE: "written", Tool.SEARCH: "no matches"}
            return call.text or done.get(call.tool, "ok")
