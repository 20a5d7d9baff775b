"""Claude Code: one JSON line per content block, chained by uuid, one file per session.

A message of several blocks is several lines that repeat ``message.id`` and the whole ``usage``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samples.minting import Mint, iso
from samples.steps import (
    ApiError,
    Call,
    Compact,
    Delegate,
    Ending,
    Interrupt,
    Say,
    Scenario,
    Step,
    Tool,
    Turn,
    User,
)

VERSION = "2.1.197"
NAMES = {
    Tool.SHELL: "Bash",
    Tool.READ: "Read",
    Tool.EDIT: "Edit",
    Tool.WRITE: "Write",
    Tool.SEARCH: "Grep",
    Tool.CODE: "Bash",
    Tool.WEB: "WebSearch",
    Tool.TODO: "TodoWrite",
}
REJECTION = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). STOP what you are doing and wait"
    " for the user to tell you how to proceed."
)


def write(scenarios: list[Scenario], folder: Path) -> None:
    """Write every session as Claude Code keeps it."""
    for scenario in scenarios:
        home = folder / "projects" / scenario.cwd.replace("/", "-")
        _Transcript(scenario, home).write()


class _Transcript:
    """One session file, and the files of its subagents."""

    def __init__(self, scenario: Scenario, home: Path) -> None:
        self._scenario = scenario
        self._home = home
        self._mint = Mint(scenario.key, scenario.started)
        self._session = self._mint.uuid()
        self._lines: list[dict[str, Any]] = []
        self._last: str | None = None
        self._agent: str | None = None
        self._context = 14_000

    def write(self) -> None:
        self._snapshot()
        for step in self._scenario.steps:
            self._step(step)
        title = {"type": "custom-title", "customTitle": self._scenario.title}
        self._lines.append({**title, "sessionId": self._session})
        _save(self._home / f"{self._session}.jsonl", self._lines)

    def _snapshot(self) -> None:
        message = self._mint.uuid()
        snapshot = {
            "messageId": message,
            "trackedFileBackups": {},
            "timestamp": iso(self._mint.now),
        }
        self._lines.append(
            {"type": "file-history-snapshot", "messageId": message, "snapshot": snapshot}
        )

    def _step(self, step: Step) -> None:
        match step:
            case User(text):
                self._mint.wait(20, 240)
                self._line("user", message={"role": "user", "content": text})
            case Say(text):
                self._assistant([{"type": "text", "text": text}], "end_turn")
            case Turn():
                self._turn(step)
            case Interrupt():
                block = {"type": "text", "text": "[Request interrupted by user for tool use]"}
                self._line("user", message={"role": "user", "content": [block]})
            case ApiError(text):
                self._api_error(text)
            case Compact():
                self._compact(step)
            case Delegate():
                self._delegate(step)

    def _line(self, kind: str, **more: Any) -> dict[str, Any]:
        self._mint.wait(0.1, 2.0)
        line: dict[str, Any] = {
            "parentUuid": self._last,
            "isSidechain": self._agent is not None,
            "userType": "external",
            "cwd": self._scenario.cwd,
            "sessionId": self._session,
            "version": VERSION,
            "gitBranch": self._scenario.branch,
            "type": kind,
            "uuid": self._mint.uuid(),
            "timestamp": iso(self._mint.now),
        }
        if self._agent is not None:
            line["agentId"] = self._agent
        line.update(more)
        self._lines.append(line)
        self._last = line["uuid"]
        return line

    def _assistant(self, blocks: list[dict[str, Any]], stop: str) -> None:
        self._mint.wait(2, 12)
        self._context += self._mint.count(300, 900)
        message = {
            "id": self._mint.token("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": self._scenario.model,
            "stop_reason": stop,
            "usage": {
                "input_tokens": self._mint.count(3, 40),
                "cache_creation_input_tokens": self._mint.count(200, 900),
                "cache_read_input_tokens": self._context,
                "output_tokens": self._mint.count(60, 400),
            },
        }
        for block in blocks:
            self._line("assistant", message={**message, "content": [block]})

    def _turn(self, turn: Turn) -> None:
        blocks: list[dict[str, Any]] = []
        if turn.text:
            blocks.append({"type": "text", "text": turn.text})
        ids = [self._mint.token("toolu_01") for _ in turn.calls]
        blocks += [
            {"type": "tool_use", "id": ident, "name": NAMES[call.tool], "input": _arguments(call)}
            for ident, call in zip(ids, turn.calls, strict=True)
        ]
        self._assistant(blocks, "tool_use")
        asked = self._last
        for ident, call in zip(ids, turn.calls, strict=True):
            self._result(ident, call, asked)

    def _result(self, ident: str, call: Call, asked: str | None) -> None:
        if call.ending is Ending.UNANSWERED:
            return
        self._mint.wait(0.2, 6)
        text, failed = _result_text(call)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": ident, "content": text}
        if failed or call.tool in (Tool.SHELL, Tool.CODE):
            block["is_error"] = failed
        self._line(
            "user",
            message={"role": "user", "content": [block]},
            toolUseResult=_tool_use_result(call, text, failed=failed),
            sourceToolAssistantUUID=asked,
        )

    def _api_error(self, text: str) -> None:
        message = {
            "id": self._mint.uuid(),
            "model": "<synthetic>",
            "role": "assistant",
            "type": "message",
            "stop_reason": "stop_sequence",
            "usage": {"input_tokens": 0, "output_tokens": 0},
            "content": [{"type": "text", "text": text}],
        }
        self._line("assistant", isApiErrorMessage=True, message=message)

    def _compact(self, step: Compact) -> None:
        self._last, logical = None, self._last
        self._line(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=logical,
            level="info",
            compactMetadata={"trigger": "auto", "preTokens": 155_000 + self._context % 9_000},
        )
        self._context = 9_000
        text = (
            "This session is being continued from a previous conversation that ran out of context."
            f" The conversation is summarized below:\n{step.summary}"
        )
        message = {"role": "user", "content": text}
        self._line("user", isVisibleInTranscriptOnly=True, isCompactSummary=True, message=message)

    def _delegate(self, step: Delegate) -> None:
        ident = self._mint.token("toolu_01")
        call = {
            "description": "Search the routes",
            "prompt": step.prompt,
            "subagent_type": "Explore",
        }
        self._assistant(
            [{"type": "tool_use", "id": ident, "name": "Task", "input": call}], "tool_use"
        )
        asked, agent = self._last, self._mint.hex(7)
        self._subagent(step, agent, ident)
        content = [{"type": "text", "text": step.answer}]
        block = {"type": "tool_result", "tool_use_id": ident, "content": content}
        self._line(
            "user",
            message={"role": "user", "content": [block]},
            toolUseResult={
                "status": "completed",
                "prompt": step.prompt,
                "agentId": agent,
                "content": content,
                "totalTokens": 18_412,
                "totalToolUseCount": sum(len(s.calls) for s in step.steps if isinstance(s, Turn)),
            },
            sourceToolAssistantUUID=asked,
        )

    def _subagent(self, step: Delegate, agent: str, tool_use: str) -> None:
        mine, last = self._lines, self._last
        self._lines, self._last, self._agent = [], None, agent
        self._line("user", message={"role": "user", "content": step.prompt})
        for inner in step.steps:
            self._step(inner)
        folder = self._home / self._session / "subagents"
        _save(folder / f"agent-{agent}.jsonl", self._lines)
        meta = {"agentType": "Explore", "toolUseId": tool_use}
        (folder / f"agent-{agent}.meta.json").write_text(json.dumps(meta) + "\n")
        self._lines, self._last, self._agent = mine, last, None


def _arguments(call: Call) -> dict[str, Any]:
    given = call.arguments
    match call.tool:
        case Tool.SHELL:
            return {"command": given["command"]}
        case Tool.CODE:
            return {"command": f"python3 - <<'PY'\n{given['code']}\nPY"}
        case Tool.READ:
            return {"file_path": given["path"]}
        case Tool.EDIT:
            return {
                "file_path": given["path"],
                "old_string": given["old"],
                "new_string": given["new"],
            }
        case Tool.WRITE:
            return {"file_path": given["path"], "content": given["content"]}
        case Tool.SEARCH:
            return {"pattern": given["pattern"], "path": given["path"], "output_mode": "content"}
        case Tool.WEB:
            return {"query": given["query"]}
        case Tool.TODO:
            items = given["items"].splitlines()
            return {"todos": [{"content": item, "status": "pending"} for item in items]}


def _result_text(call: Call) -> tuple[str, bool]:
    """What the model saw, and whether Claude Code flagged it."""
    match call.ending:
        case Ending.OK:
            return _success_text(call), False
        case Ending.EXIT:
            return f"Exit code {call.exit_code}\n{call.text}".rstrip("\n"), True
        case Ending.TIMEOUT:
            return f"Exit code 143\nCommand timed out after 2m 0.0s {call.text}".rstrip(), True
        case Ending.MISSING:
            return "<tool_use_error>File does not exist.</tool_use_error>", True
        case Ending.MISMATCH:
            text = f"String to replace not found in file.\nString: {call.arguments['old']}"
            return f"<tool_use_error>{text}</tool_use_error>", True
        case Ending.UNREAD:
            text = "File has not been read yet. Read it first before writing to it."
            return f"<tool_use_error>{text}</tool_use_error>", True
        case Ending.REJECTED:
            return REJECTION, True
        case Ending.CANCELLED:
            return "<tool_use_error>Sibling tool call errored</tool_use_error>", True
        case Ending.INTERRUPTED:
            return f"{call.text}\n<error>Command was aborted before completion</error>", True
        case _:
            return call.text, True


def _success_text(call: Call) -> str:
    path = call.arguments.get("path", "")
    match call.tool:
        case Tool.READ:
            lines = enumerate(call.text.splitlines(), 1)
            return "\n".join(f"{number:>6}\t{line}" for number, line in lines)
        case Tool.EDIT:
            return f"The file {path} has been updated successfully."
        case Tool.WRITE:
            return f"File created successfully at: {path}"
        case Tool.SEARCH:
            return call.text or "No matches found"
        case Tool.TODO:
            return "Todos have been modified successfully."
        case _:
            return call.text or "(Bash completed with no output)"


def _tool_use_result(call: Call, text: str, *, failed: bool) -> Any:
    """The harness's own copy, kept short: an object for what worked, a string for what did not."""
    if call.ending is Ending.REJECTED:
        return "User rejected tool use"
    if call.ending is Ending.INTERRUPTED:
        return {"stdout": call.text, "stderr": "", "interrupted": True, "isImage": False}
    if failed:
        plain = text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
        return f"Error: {plain}"
    if call.tool in (Tool.SHELL, Tool.CODE):
        return {"stdout": call.text, "stderr": "", "interrupted": False, "isImage": False}
    if call.tool is Tool.READ:
        count = len(call.text.splitlines())
        return {
            "type": "text",
            "file": {"filePath": call.arguments["path"], "numLines": count, "startLine": 1},
        }
    return {"filePath": call.arguments.get("path", ""), "type": call.tool.value}


def _save(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    )
    path.write_text(text, encoding="utf-8")
