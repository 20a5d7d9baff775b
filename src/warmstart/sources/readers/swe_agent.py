"""SWE-agent trajectories: one ``*.traj`` document is one session, or one per attempt.

Each step of ``trajectory`` is an action and its observation side by side, so the step joins them;
the format has no failure field and no exit code. ``history`` repeats the steps as the model saw
them and is used for the prompts at its head only, or every call would count twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from warmstart.errors import SourceError
from warmstart.model import Kind, Message, Request, Result, Role, Session
from warmstart.sources.assemble import build_session
from warmstart.sources.fields import as_float, as_list, as_text, parse_tokens
from warmstart.sources.files import read_json
from warmstart.sources.log import ReadLog
from warmstart.sources.naming import name_run, strip_suffixes
from warmstart.sources.reader import FileReader, Probe, Unit, file_unit
from warmstart.wire import as_dict, as_dicts, as_id, content_text, parse_arguments

COMMANDS = frozenset(
    {
        "open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "append", "undo",
        "str_replace_editor", "edit_anthropic", "find_file", "search_dir", "search_file", "filemap",
        "find_str", "view", "view_image", "submit", "exit_forfeit", "think", "open_site",
        "close_site", "click_mouse", "double_click_mouse", "move_mouse", "drag_mouse",
        "type_text", "scroll_on_page", "execute_script_on_page", "navigate_back",
        "navigate_forward", "reload_page", "wait_time", "press_keys_on_page", "screenshot_site",
        "get_console_output", "set_browser_window_size", "debug_start", "debug_stop",
        "debug_add_breakpoint", "debug_continue", "debug_step", "debug_exec", "connect_start",
        "connect_sendline", "connect_exec", "connect_stop", "decompile", "disassemble",
    }
)  # fmt: skip
"""The first word of an action that is one of SWE-agent's own commands; the rest is shell."""
_HARNESS_EXIT = re.compile(r"exit_(?!forfeit)\w+\Z")
"""What the harness writes in place of an action when it ends the run itself."""
_TOKEN_NAMES = {"input": "tokens_sent", "output": "tokens_received"}


class SweAgent(FileReader):
    """Reads SWE-agent's trajectory documents, 0.x and 1.x."""

    name = "swe_agent"
    title = "SWE-agent"

    def recognises(self, probe: Probe) -> bool:
        """Whether it is one document whose trajectory is a list of actions with observations."""
        if probe.is_array or len(probe.records) != 1:
            return False
        document = probe.records[0]
        tries = [document, *as_dicts(document.get("attempts"))]
        return any(_has_steps(one) for one in tries)

    def units(self, path: Path, log: ReadLog) -> Iterator[Unit]:
        """The file itself: it is rewritten as a whole after every step."""
        del log
        return file_unit(path)

    def read(self, unit: Unit, log: ReadLog) -> Iterator[Session]:
        """The run; a run with retries yields each attempt, of which the document repeats one."""
        document = read_json(unit.path)
        if not isinstance(document, dict):
            raise SourceError(f"cannot read {str(unit.path)!r}: no trajectory", path=unit.path)
        attempts = as_dicts(document.get("attempts"))
        for number, attempt in enumerate(attempts, 1):
            yield _build(document | attempt, unit.path, log, f".{number}")
        if not attempts:
            if not isinstance(document.get("trajectory"), list):
                raise SourceError(f"cannot read {str(unit.path)!r}: no trajectory", path=unit.path)
            yield _build(document, unit.path, log, "")


def _has_steps(document: dict[str, Any]) -> bool:
    steps = document.get("trajectory")
    if not isinstance(steps, list) or not ("history" in document or "info" in document):
        return False
    return not steps or any("action" in s and "observation" in s for s in as_dicts(steps[:5]))


def _build(document: dict[str, Any], path: Path, log: ReadLog, suffix: str) -> Session:
    info = as_dict(document.get("info"))
    stats = as_dict(info.get("model_stats"))
    config, _ = parse_arguments(document.get("replay_config"))
    listed = as_list(document.get("trajectory"))
    steps = as_dicts(listed)
    if len(steps) < len(listed):
        log.skip("step is not an object", path, count=len(listed) - len(steps))
    task = as_id(as_dict(config.get("problem_statement")).get("id")) or strip_suffixes(path)
    messages = [*_read_prompts(document, steps)]
    for index, step in enumerate(steps):
        messages.extend(_read_step(index, step))
    return build_session(
        SweAgent.name,
        _run_id(task, steps) + suffix,
        messages,
        agent_version=as_text(info.get("swe_agent_version")),
        model=as_text(as_dict(as_dict(config.get("agent")).get("model")).get("name")),
        project=next(filter(None, map(_working_folder, steps)), None),
        end_reason=as_text(info.get("exit_status")),
        tokens=parse_tokens(stats, _TOKEN_NAMES),
        cost_usd=as_float(stats.get("instance_cost")),
        task=task,
        path=str(path),
    )


def _run_id(task: str, steps: list[dict[str, Any]]) -> str:
    """The task and a mark of the first step: a task is run many times, under one file name."""
    if not steps:
        return task
    return name_run(task, [steps[0].get(key) for key in ("response", "action", "execution_time")])


def _working_folder(step: dict[str, Any]) -> str | None:
    """From the state after a step, an object or (in 0.x) its JSON text."""
    state, _ = parse_arguments(step.get("state"))
    return as_text(state.get("working_dir"))


def _read_prompts(document: dict[str, Any], steps: list[dict[str, Any]]) -> Iterator[Message]:
    """System prompt, demonstrations and task: what stands before the first answer."""
    history = as_list(document.get("history")) or as_list(next(iter(steps), {}).get("query"))
    for item in takewhile(_is_prompt, as_dicts(history)):
        role = item.get("role")
        if role in ("system", "user"):
            yield Message(
                role=Role(role),
                text=content_text(item.get("content")),
                kind=Kind.INJECTED if _is_demo(item) else Kind.TURN,
            )


def _is_prompt(item: dict[str, Any]) -> bool:
    return _is_demo(item) or item.get("role") in ("system", "user")


def _is_demo(item: dict[str, Any]) -> bool:
    return item.get("is_demo") is True or item.get("message_type") == "demonstration"


def _read_step(index: int, step: dict[str, Any]) -> Iterator[Message]:
    action = content_text(step.get("action")).strip()
    thought = content_text(step.get("thought")) or content_text(step.get("response"))
    observation = step.get("observation")
    seen = content_text(observation)
    if _HARNESS_EXIT.match(action):
        yield Message(role=Role.USER, text=seen or thought, kind=Kind.INJECTED)
        return
    if not action:
        yield Message(role=Role.ASSISTANT, text=thought)
        yield Message(role=Role.USER, text=seen, kind=Kind.INJECTED)
        return
    word = action.split(maxsplit=1)[0]
    tool = word if word in COMMANDS else "bash"
    request = Request(tool=tool, id=str(index), arguments={"command": action})
    yield Message(role=Role.ASSISTANT, text=thought, requests=(request,))
    if observation is not None:
        result = Result(text=seen, call_id=str(index), tool=tool)
        yield Message(role=Role.TOOL, results=(result,))
