"""Codex: rollouts of events and response items; every action appears as both.

A paginated rollout also says how each command ended (``item_completed``); a legacy one leaves
that to the text of the output.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from samples.minting import Mint, iso
from samples.steps import Call, Compact, Ending, Interrupt, Say, Scenario, Step, Tool, Turn, User

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

VERSION = "0.166.0"


def write(scenarios: list[Scenario], folder: Path) -> None:
    """Write every session as a rollout file."""
    for scenario in scenarios:
        rollout = _Rollout(scenario)
        rollout.play()
        started = datetime.fromtimestamp(scenario.started, UTC)
        name = f"rollout-{started:%Y-%m-%dT%H-%M-%S}-{rollout.id}.jsonl"
        path = folder / "sessions" / f"{started:%Y/%m/%d}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if scenario.traits.get("packed"):
            path.with_name(f"{name}.zst").write_bytes(zstd.compress(rollout.text().encode()))
        else:
            path.write_text(rollout.text(), encoding="utf-8")


class _Rollout:
    """The lines of one thread."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._mint = Mint(scenario.key, scenario.started)
        self._paginated = scenario.traits.get("mode") != "legacy"
        self.id = self._mint.time_uuid()
        self._turn_id: str | None = None
        self._lines: list[str] = []

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def play(self) -> None:
        self._meta()
        for step in self._scenario.steps:
            self._step(step)
        self._end_turn()

    def _line(self, kind: str, payload: dict[str, Any]) -> None:
        line: dict[str, Any] = {"timestamp": iso(self._mint.wait(0.05, 1.5))}
        if self._paginated:
            line["ordinal"] = len(self._lines)
        line |= {"type": kind, "payload": payload}
        self._lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    def _item(self, kind: str, **payload: Any) -> None:
        self._line("response_item", {"type": kind, **payload})

    def _event(self, kind: str, **payload: Any) -> None:
        self._line("event_msg", {"type": kind, **payload})

    def _meta(self) -> None:
        payload: dict[str, Any] = {
            "id": self.id,
            "timestamp": iso(self._scenario.started),
            "cwd": self._scenario.cwd,
            "originator": "codex-tui",
            "cli_version": VERSION if self._paginated else "0.98.0",
            "source": "cli",
            "model_provider": "openai",
            "base_instructions": {"text": "You are Codex, a coding agent."},
            "git": {"commit_hash": self._mint.hex(40), "branch": self._scenario.branch},
        }
        if self._paginated:
            payload["history_mode"] = "paginated"
        self._line("session_meta", payload)
        context = (
            f"<environment_context>\n  <cwd>{self._scenario.cwd}</cwd>\n</environment_context>"
        )
        self._message("user", context)

    def _message(self, role: str, text: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        self._item("message", role=role, content=[{"type": kind, "text": text}])

    def _step(self, step: Step) -> None:
        match step:
            case User(text):
                self._end_turn()
                self._start_turn()
                self._message("user", text)
                self._event("user_message", message=text, images=[])
            case Say(text):
                self._say(text)
            case Turn():
                self._calls(step)
            case Interrupt():
                self._event("turn_aborted", turn_id=self._turn_id, reason="interrupted")
                self._turn_id = None
            case Compact(summary, _):
                block = {"type": "input_text", "text": summary}
                history = [{"type": "message", "role": "user", "content": [block]}]
                self._line("compacted", {"message": summary, "replacement_history": history})
                self._event("context_compacted")
            case _:
                raise ValueError(f"not a thing Codex writes down: {step!r}")

    def _start_turn(self) -> None:
        self._mint.wait(20, 240)
        self._turn_id = self._mint.time_uuid()
        self._event("task_started", turn_id=self._turn_id, model_context_window=272_000)
        self._line(
            "turn_context",
            {
                "turn_id": self._turn_id,
                "cwd": self._scenario.cwd,
                "approval_policy": "never",
                "sandbox_policy": {"type": "workspace-write"},
                "model": self._scenario.model,
                "effort": "medium",
            },
        )

    def _end_turn(self) -> None:
        if self._turn_id is not None:
            self._event("task_complete", turn_id=self._turn_id)
        self._turn_id = None

    def _say(self, text: str) -> None:
        self._event("agent_message", message=text)
        self._message("assistant", text)

    def _calls(self, turn: Turn) -> None:
        if turn.text:
            self._say(turn.text)
        ids = [self._mint.token("call_", 24) for _ in turn.calls]
        for ident, call in zip(ids, turn.calls, strict=True):
            self._request(ident, call)
        for ident, call in zip(ids, turn.calls, strict=True):
            self._mint.wait(0.1, 4)
            self._result(ident, call)
        self._usage()

    def _request(self, ident: str, call: Call) -> None:
        if call.tool in (Tool.EDIT, Tool.WRITE):
            about = {"status": "completed", "call_id": ident, "name": "apply_patch"}
            self._item("custom_tool_call", **about, input=_patch(call))
        elif call.tool is Tool.TODO:
            plan = [{"step": item, "status": "pending"} for item in _items(call)]
            given = json.dumps({"plan": plan}, separators=(",", ":"))
            self._item("function_call", name="update_plan", arguments=given, call_id=ident)
        else:
            command = {"cmd": _command(call), "workdir": self._scenario.cwd}
            given = json.dumps(command, separators=(",", ":"))
            self._item("function_call", name="exec_command", arguments=given, call_id=ident)

    def _result(self, ident: str, call: Call) -> None:
        if call.tool is Tool.TODO:
            self._item("function_call_output", call_id=ident, output="Plan updated")
        elif call.tool in (Tool.EDIT, Tool.WRITE):
            self._patch_result(ident, call)
        elif call.ending is Ending.INTERRUPTED:
            self._item("function_call_output", call_id=ident, output="aborted by user after 41.2s")
        else:
            self._command_result(ident, call)

    def _command_result(self, ident: str, call: Call) -> None:
        output, code = _output(call)
        if self._paginated:
            item = {
                "type": "CommandExecution",
                "id": ident,
                "command": ["/bin/bash", "-lc", _command(call)],
                "status": "failed" if code else "completed",
                "exit_code": code,
                "aggregated_output": output,
            }
            self._event("item_completed", turn_id=self._turn_id, item=item)
        text = (
            f"Chunk ID: {self._mint.hex(6)}\nWall time: 0.{self._mint.count(1000, 9999)} seconds\n"
            f"Process exited with code {code}\nOriginal token count: {len(output) // 4}\n"
            f"Output:\n{output}"
        )
        self._item("function_call_output", call_id=ident, output=text)

    def _patch_result(self, ident: str, call: Call) -> None:
        path = call.arguments["path"]
        if call.ending is Ending.OK:
            sign = "A" if call.tool is Tool.WRITE else "M"
            done = f"Success. Updated the following files:\n{sign} {path}\n"
            self._event("patch_apply_end", call_id=ident, stdout=done, stderr="", success=True)
            output = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{done}"
        else:
            output = (
                f"apply_patch verification failed: Failed to find expected lines in {path}:\n"
                f"{call.arguments['old']}"
            )
        self._item("custom_tool_call_output", call_id=ident, output=output)

    def _usage(self) -> None:
        usage = {
            "input_tokens": self._mint.count(9_000, 30_000),
            "cached_input_tokens": self._mint.count(2_000, 8_000),
            "output_tokens": self._mint.count(60, 400),
            "reasoning_output_tokens": self._mint.count(0, 50),
        }
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
        if self._paginated:
            self._line("token_usage_record", {"usage": usage})
        else:
            self._event("token_count", info={"last_token_usage": usage})


def _items(call: Call) -> list[str]:
    return call.arguments["items"].splitlines()


def _command(call: Call) -> str:
    given = call.arguments
    match call.tool:
        case Tool.READ:
            return f"sed -n '1,200p' {given['path']}"
        case Tool.SEARCH:
            return f"rg -n '{given['pattern']}' {given['path']}"
        case Tool.CODE:
            return f"python3 - <<'PY'\n{given['code']}\nPY"
        case _:
            return given["command"]


def _output(call: Call) -> tuple[str, int]:
    """What the command printed and how it exited."""
    if call.ending is Ending.MISSING:
        return f"sed: can't read {call.arguments['path']}: No such file or directory\n", 2
    if call.tool is Tool.SEARCH and not call.text:
        return "", 1
    if call.ending is Ending.TIMEOUT:
        return "command timed out after 120000 milliseconds\n", 124
    return f"{call.text}\n" if call.text else "", call.exit_code


def _patch(call: Call) -> str:
    path = call.arguments["path"]
    if call.tool is Tool.WRITE:
        body = "\n".join(f"+{line}" for line in call.arguments["content"].splitlines())
        return f"*** Begin Patch\n*** Add File: {path}\n{body}\n*** End Patch\n"
    removed = "\n".join(f"-{line}" for line in call.arguments["old"].splitlines())
    added = "\n".join(f"+{line}" for line in call.arguments["new"].splitlines())
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{removed}\n{added}\n*** End Patch\n"
