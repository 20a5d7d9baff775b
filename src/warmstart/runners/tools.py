"""The tools a trial offers: a handful built in, and those a task brings along.

Each takes the arguments a model wrote, so nothing about them is certain, and answers text. What
went wrong is said as ``{"error": …}`` and known to the judge as an error; a command's exit code
is kept beside its output.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.experiment import Task, ToolDefinition
from warmstart.model import Request, Result
from warmstart.runners import searching
from warmstart.runners.calculator import calculate
from warmstart.runners.process import Finished, Limits, run_helper, run_process
from warmstart.runners.sandbox import Sandbox, SandboxError

TERMINAL_SECONDS = 30.0
MAX_RESULT_CHARS = 20_000
MAX_ENTRIES = 500
SEARCH_SECONDS = 10.0
SEARCH_PROGRAM = Path(searching.__file__)


class Reply(NamedTuple):
    """What a tool answers."""

    text: str
    is_error: bool = False
    exit_code: int | None = None


Use = Callable[[Sandbox, Mapping[str, Any]], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool, and what the model is told about it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    use: Use


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The tools of one trial in its sandbox."""

    sandbox: Sandbox
    tools: Mapping[str, Tool] = field(default_factory=dict)

    def answer(self, request: Request) -> Result:
        """Carry out a call; whatever is wrong with it is an error result, never an exception."""
        reply = self._reply(request)
        return Result(
            text=_cut(reply.text),
            call_id=request.id,
            tool=request.tool,
            is_error=reply.is_error,
            exit_code=reply.exit_code,
        )

    def _reply(self, request: Request) -> Reply:
        tool = self.tools.get(request.tool)
        if tool is None:
            names = ", ".join(self.tools) or "none"
            return fail(f"unknown tool {request.tool!r:.80}; there are: {names}")
        if request.raw is not None:
            return fail(f"the arguments are no JSON object: {request.raw[:200]}")
        missing = [name for name in tool.parameters.get("required", ()) if name not in
                   request.arguments]  # fmt: skip
        if missing:
            return fail(f"missing required argument {missing[0]!r} of {tool.name}")
        try:
            return tool.use(self.sandbox, request.arguments)
        except (SandboxError, ValueError) as error:
            return fail(str(error))
        except OSError as error:  # a name too long for any file, say
            return fail(error.strerror or "not possible here")


def open_toolbox(task: Task, sandbox: Sandbox, stop: threading.Event | None = None) -> Toolbox:
    """The tools a task allows, in a fixed order.

    Raises:
        ValueError: the task allows a tool there is not.
    """
    offered = {tool.name: tool for tool in builtin_tools(stop)}
    names = list(offered) if task.tools is None else list(task.tools)
    own = {one.name: _define(one, stop) for one in task.tool_definitions}
    unknown = [name for name in names if name not in offered and name not in own]
    if unknown:
        raise ValueError(f"no such tool: {unknown[0]!r}; built in are {', '.join(offered)}")
    chosen = {name: offered[name] for name in names if name in offered}
    return Toolbox(sandbox=sandbox, tools=chosen | own)


def fail(message: str) -> Reply:
    """An error, in the one shape all tools here use."""
    return Reply(json.dumps({"error": message}, ensure_ascii=False), is_error=True)


def builtin_tools(stop: threading.Event | None = None) -> list[Tool]:
    """Every tool that is built in."""

    def terminal(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
        limits = Limits(seconds=TERMINAL_SECONDS, stop=stop)
        line = _text(arguments, "command")
        return _ended(run_process(["sh", "-c", line], sandbox.root, limits))

    path = {"path": ("string", "Path relative to the working folder")}
    return [
        _tool("read_file", "Read a text file.", path, _read_file),
        _tool("write_file", "Write a text file, replacing it if it exists.",
              path | {"content": ("string", "The whole new content")}, _write_file),
        _tool("patch", "Replace one passage of a text file.",
              path | {"old": ("string", "The passage, which must occur exactly once"),
                      "new": ("string", "What to put in its place")}, _patch),
        _tool("search_files", "Search the text of all files for a regular expression.",
              {"pattern": ("string", "Regular expression"),
               "glob": ("string", "Only files whose path matches, e.g. *.py")},
              _search_files, optional=("glob",)),
        _tool("list_dir", "List the files and folders in a folder.",
              {"path": ("string", "Folder, . for the working folder")}, _list_dir,
              optional=("path",)),
        _tool("terminal", "Run a shell command in the working folder.",
              {"command": ("string", "The command line")}, terminal),
        _tool("calculator", "Calculate an arithmetic expression.",
              {"expression": ("string", "For example (2 + 3) * 4")}, _calculator),
    ]  # fmt: skip


def _tool(
    name: str,
    description: str,
    arguments: Mapping[str, tuple[str, str]],
    use: Use,
    optional: tuple[str, ...] = (),
) -> Tool:
    properties = {
        key: {"type": kind, "description": text} for key, (kind, text) in arguments.items()
    }
    required = [key for key in arguments if key not in optional]
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(name=name, description=description, parameters=schema, use=use)


def _define(definition: ToolDefinition, stop: threading.Event | None) -> Tool:
    """A task's own tool: its command reads the arguments as JSON and prints the result."""

    def use(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
        limits = Limits(seconds=definition.timeout_seconds, stop=stop)
        ended = run_process(definition.command, sandbox.root, limits, json.dumps(dict(arguments)))
        text = ended.output.strip()
        if ended.exit_code == 0:
            return Reply(text)
        return Reply(fail(text or f"exit code {ended.exit_code}").text, is_error=True)

    schema = dict(definition.parameters) or {"type": "object", "properties": {}}
    return Tool(
        name=definition.name, description=definition.description, parameters=schema, use=use
    )


def _ended(ended: Finished) -> Reply:
    shown = {"output": ended.output, "exit_code": ended.exit_code}
    if ended.timed_out:
        shown["error"] = "timed out"
    text = json.dumps(shown, ensure_ascii=False)
    return Reply(text, is_error=ended.exit_code != 0, exit_code=ended.exit_code)


def _read_file(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
    return Reply(sandbox.read(_text(arguments, "path")))


def _write_file(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
    content = _text(arguments, "content", empty=True)
    path = sandbox.write(_text(arguments, "path"), content)
    return Reply(f"wrote {len(content)} characters to {sandbox.relative(path)}")


def _patch(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
    name, old = _text(arguments, "path"), _text(arguments, "old")
    text = sandbox.read(name)
    found = text.count(old)
    if found != 1:
        return fail(f"the passage occurs {found} times in {name}, not once")
    sandbox.write(name, text.replace(old, _text(arguments, "new", empty=True)))
    return Reply(f"patched {name}")


def _search_files(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
    glob = _text(arguments, "glob") if arguments.get("glob") else "*"
    wanted = json.dumps({"pattern": _text(arguments, "pattern"), "glob": glob})
    limits = Limits(seconds=SEARCH_SECONDS, output_bytes=4 * MAX_RESULT_CHARS)
    ended = run_helper(SEARCH_PROGRAM, sandbox.root, limits, wanted)
    if ended.exit_code == searching.EXIT_BAD_PATTERN:
        return fail(ended.output.strip())
    if ended.exit_code != 0:  # cut off by time, CPU or memory
        return fail("the search took too long; use a simpler pattern")
    return Reply(ended.output.rstrip("\n") or "no matches")


def _list_dir(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
    name = _text(arguments, "path") if arguments.get("path") else "."
    folder = sandbox.resolve(name)
    if not folder.is_dir():
        return fail(f"no such folder: {name}")
    try:
        entries = sorted(folder.iterdir())[:MAX_ENTRIES]
    except OSError as error:
        return fail(f"cannot list {name}: {error.strerror}")
    shown = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries]
    return Reply("\n".join(shown) or "(empty)")


def _calculator(sandbox: Sandbox, arguments: Mapping[str, Any]) -> Reply:
    del sandbox
    return Reply(calculate(_text(arguments, "expression")))


def _text(arguments: Mapping[str, Any], name: str, *, empty: bool = False) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not (value or empty):
        raise ValueError(f"{name!r} must be text, not {value!r:.80}")
    return value


def _cut(text: str) -> str:
    if len(text) <= MAX_RESULT_CHARS:
        return text
    half = MAX_RESULT_CHARS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
