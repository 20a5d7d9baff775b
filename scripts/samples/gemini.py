"""Gemini CLI: a header line, then messages; a rewritten message is appended under the same id."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from samples.minting import Mint, iso
from samples.steps import Call, Ending, Say, Scenario, Tool, Turn, User

NAMES = {
    Tool.SHELL: "run_shell_command",
    Tool.READ: "read_file",
    Tool.EDIT: "replace",
    Tool.WRITE: "write_file",
    Tool.SEARCH: "search_file_content",
    Tool.CODE: "run_shell_command",
    Tool.WEB: "google_web_search",
    Tool.TODO: "write_todos",
}
RENAMED = {"path": "file_path", "old": "old_string", "new": "new_string"}


def write(scenarios: list[Scenario], folder: Path) -> None:
    """Write every session as a chat file."""
    for scenario in scenarios:
        mint = Mint(scenario.key, scenario.started)
        session = mint.uuid()
        started = datetime.fromtimestamp(scenario.started, UTC)
        name = f"session-{started:%Y-%m-%dT%H-%M}-{session[:8]}.jsonl"
        path = folder / "tmp" / scenario.project / "chats" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [_header(scenario, session), *_messages(scenario, mint)]
        lines.append({"$set": {"lastUpdated": iso(mint.now)}})
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        path.write_text(text, encoding="utf-8")


def _header(scenario: Scenario, session: str) -> dict[str, Any]:
    return {
        "sessionId": session,
        "projectHash": hashlib.sha256(scenario.cwd.encode()).hexdigest(),
        "startTime": iso(scenario.started),
        "lastUpdated": iso(scenario.started),
        "kind": "main",
    }


def _messages(scenario: Scenario, mint: Mint) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for step in scenario.steps:
        mint.wait(3, 20)
        base: dict[str, Any] = {"id": mint.uuid(), "timestamp": iso(mint.now)}
        match step:
            case User(text):
                lines.append({**base, "type": "user", "content": [{"text": text}]})
            case Say(text):
                lines.append({**base, "type": "gemini", "content": text, **_spent(scenario, mint)})
            case Turn(calls, text):
                message = {**base, "type": "gemini", "content": text, **_spent(scenario, mint)}
                # The answer is written when it arrives, and again once its calls have run.
                lines.append(message)
                lines.append({**message, "toolCalls": [_call(call, mint) for call in calls]})
            case _:
                raise ValueError(f"not a thing Gemini writes down: {step!r}")
    return lines


def _spent(scenario: Scenario, mint: Mint) -> dict[str, Any]:
    given, made = mint.count(8_000, 20_000), mint.count(20, 300)
    tokens = {"input": given, "output": made, "cached": mint.count(0, 7_000), "thoughts": 40}
    return {"model": scenario.model, "tokens": {**tokens, "tool": 0, "total": given + made + 40}}


def _call(call: Call, mint: Mint) -> dict[str, Any]:
    name = NAMES[call.tool]
    ident = f"{name}-{int(mint.wait(0.2, 3) * 1000)}-{mint.hex(13)}"
    status, response = _response(call)
    answer = {"id": ident, "name": name, "response": response}
    return {
        "id": ident,
        "name": name,
        "args": _arguments(call),
        "result": [{"functionResponse": answer}],
        "status": status,
        "timestamp": iso(mint.now),
    }


def _arguments(call: Call) -> dict[str, Any]:
    if call.tool is Tool.CODE:
        return {"command": f"python3 -c '{call.arguments['code']}'"}
    if call.tool is Tool.TODO:
        items = call.arguments["items"].splitlines()
        return {"todos": [{"description": item, "status": "pending"} for item in items]}
    if call.tool is Tool.SEARCH:
        return dict(call.arguments)
    return {RENAMED.get(name, name): value for name, value in call.arguments.items()}


def _response(call: Call) -> tuple[str, dict[str, str]]:
    """Status and answer; a command that ran is a success whatever its exit code."""
    if call.tool in (Tool.SHELL, Tool.CODE):
        code = call.exit_code
        text = (
            f"<untrusted_context>\nOutput: {call.text or '(empty)'}\nError: (none)\n"
            f"Exit Code: {code}\nSignal: 0\n</untrusted_context>"
        )
        return "success", {"output": text}
    if call.ending is Ending.MISSING:
        return "error", {"error": f"File not found: {call.arguments['path']}"}
    if call.ending is not Ending.OK:
        path = call.arguments.get("path", "")
        return "error", {
            "error": "Failed to edit, 0 occurrences found for old_string in"
            f" {path}. No edits made. Use read_file to verify."
        }
    done = call.text or {
        Tool.EDIT: f"Successfully modified file: {call.arguments.get('path')} (1 replacements).",
        Tool.WRITE: f"Successfully created and wrote to new file: {call.arguments.get('path')}.",
        Tool.SEARCH: f'No matches found for pattern "{call.arguments.get("pattern")}".',
    }.get(call.tool, "Done.")
    return "success", {"output": done}
