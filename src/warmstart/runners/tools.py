"""The tools a trial offers, and the sandbox they work in.

Tools are a handful built in and those a task brings along. Each takes the arguments a model wrote,
so nothing about them is certain, and answers text. A failure is reported as ``{"error": …}`` and
known to the judge as an error; a command's exit code is kept beside its output.

A sandbox is a fresh private folder with the task's files, deleted afterwards. The built-in file
tools refuse every path that leads out of it, also through symbolic links. A command that the agent
runs is an ordinary process of this user, with its network and its rights: run untrusted models in a
container.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from warmstart.experiment import Task, ToolDefinition
from warmstart.model import Request, Result
from warmstart.runners.process import (
    Finished,
    ProcessLimits,
    run_process,
    search_guarded,
)
from warmstart.runners.searching import EXIT_BAD_PATTERN, EXIT_FOUND, EXIT_NOT_FOUND
from warmstart.wire import ToolSpec

TERMINAL_SECONDS = 30.0
MAX_RESULT_CHARS = 20_000
MAX_ENTRIES = 500
PATTERN_SECONDS = 10.0
MAX_FILE_BYTES = 2_000_000


class SandboxError(ValueError):
    """A path or file the sandbox refuses; reported to the model, never fatal."""


class Sandbox:
    """One trial's folder; a context manager that removes it."""

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        parent: Path | None = None,
        *,
        pattern_seconds: float = PATTERN_SECONDS,
    ) -> None:
        self.pattern_seconds = pattern_seconds
        """How long a regular expression of a task or of a model may take."""
        self.root = Path(tempfile.mkdtemp(prefix="warmstart-trial-", dir=parent)).resolve()
        for name, text in (files or {}).items():
            self.write(name, text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Delete the folder and all in it, also what a command made read-only."""
        for folder, below, _ in os.walk(self.root):
            for name in below:
                # Before the walk goes down there; a link's target is not ours to change.
                path = Path(folder, name)
                if not path.is_symlink():
                    with suppress(OSError):
                        path.chmod(stat.S_IRWXU)
        shutil.rmtree(self.root, ignore_errors=True)

    def resolve(self, name: str) -> Path:
        """The path of a name inside the sandbox.

        Raises:
            SandboxError: it leads out, or is not a path.
        """
        if not name.strip() or "\0" in name:
            raise SandboxError(f"not a path: {name!r:.80}")
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError) as error:
            raise SandboxError(f"not a path: {name!r:.80}") from error
        if path != self.root and self.root not in path.parents:
            raise SandboxError(f"{name!r:.200} is outside the working folder; use a relative path")
        return path

    def relative(self, path: Path) -> str:
        """A path as the model must write it."""
        return path.relative_to(self.root).as_posix()

    def read(self, name: str) -> str:
        """The text of a file.

        Raises:
            SandboxError: it leads out, is not a file, or is too large.
        """
        path = self.resolve(name)
        try:
            if not path.is_file():
                what = "is a folder" if path.is_dir() else "no such file"
                raise SandboxError(f"{what}: {name}")
            if path.stat().st_size > MAX_FILE_BYTES:
                raise SandboxError(f"file too large: {name}")
            return path.read_text("utf-8", "replace")
        except OSError as error:
            raise SandboxError(f"cannot read {name}: {error.strerror}") from error

    def find(self, name: str) -> str | None:
        """The text of a file, None where it cannot be read."""
        try:
            return self.read(name)
        except SandboxError:
            return None

    def write(self, name: str, text: str) -> Path:
        """Write a file whole, making its folders.

        Raises:
            SandboxError: it leads out, or cannot be written.
        """
        path = self.resolve(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", "replace", newline="")
        except OSError as error:
            raise SandboxError(f"cannot write {name}: {error.strerror}") from error
        return path


class ToolAnswer(NamedTuple):
    """What a tool answers."""

    text: str
    is_error: bool = False
    exit_code: int | None = None


Use = Callable[[Sandbox, Mapping[str, Any]], ToolAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialTool:
    """A tool, and how it is described to the model."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    use: Use

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is offered it."""
        return ToolSpec(self.name, self.description, dict(self.parameters))


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The tools of one trial in its sandbox."""

    sandbox: Sandbox
    tools: Mapping[str, TrialTool] = field(default_factory=dict)

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

    def _reply(self, request: Request) -> ToolAnswer:
        tool = self.tools.get(request.tool)
        if tool is None:
            names = ", ".join(self.tools) or "none"
            return fail(f"unknown tool {request.tool!r:.80}; there are: {names}")
        if request.raw is not None:
            return fail(f"the arguments are not a JSON object: {request.raw[:200]}")
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
        ValueError: the task allows a tool that does not exist.
    """
    offered = {tool.name: tool for tool in builtin_tools(stop)}
    names = list(offered) if task.tools is None else list(task.tools)
    own = {one.name: _define(one, stop) for one in task.tool_definitions}
    unknown = [name for name in names if name not in offered and name not in own]
    if unknown:
        raise ValueError(f"no such tool: {unknown[0]!r}; built in are {', '.join(offered)}")
    chosen = {name: offered[name] for name in names if name in offered}
    return Toolbox(sandbox=sandbox, tools=chosen | own)


def fail(message: str) -> ToolAnswer:
    """An error, in the one shape all tools here use."""
    return ToolAnswer(json.dumps({"error": message}, ensure_ascii=False), is_error=True)


def builtin_tools(stop: threading.Event | None = None) -> list[TrialTool]:
    """Every tool that is built in."""

    def terminal(sandbox: Sandbox, arguments: Mapping[str, Any]) -> ToolAnswer:
        limits = ProcessLimits(seconds=TERMINAL_SECONDS, stop=stop)
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
    ]  # fmt: skip


def _tool(
    name: str,
    description: str,
    arguments: Mapping[str, tuple[str, str]],
    use: Use,
    optional: tuple[str, ...] = (),
) -> TrialTool:
    properties = {
        key: {"type": kind, "description": text} for key, (kind, text) in arguments.items()
    }
    required = [key for key in arguments if key not in optional]
    schema = {"type": "object", "properties": properties, "required": required}
    return TrialTool(name=name, description=description, parameters=schema, use=use)


def _define(definition: ToolDefinition, stop: threading.Event | None) -> TrialTool:
    """A task's own tool: its command reads the arguments as JSON and prints the result."""

    def use(sandbox: Sandbox, arguments: Mapping[str, Any]) -> ToolAnswer:
        limits = ProcessLimits(seconds=definition.timeout_seconds, stop=stop)
        ended = run_process(definition.command, sandbox.root, limits, json.dumps(dict(arguments)))
        text = ended.output.strip()
        if ended.exit_code == 0:
            return ToolAnswer(text)
        return ToolAnswer(fail(text or f"exit code {ended.exit_code}").text, is_error=True)

    schema = dict(definition.parameters) or {"type": "object", "properties": {}}
    return TrialTool(
        name=definition.name, description=definition.description, parameters=schema, use=use
    )


def _ended(ended: Finished) -> ToolAnswer:
    shown = {"output": ended.output, "exit_code": ended.exit_code}
    if ended.timed_out:
        shown["error"] = "timed out"
    text = json.dumps(shown, ensure_ascii=False)
    return ToolAnswer(text, is_error=ended.exit_code != 0, exit_code=ended.exit_code)


def _read_file(sandbox: Sandbox, arguments: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(sandbox.read(_text(arguments, "path")))


def _write_file(sandbox: Sandbox, arguments: Mapping[str, Any]) -> ToolAnswer:
    content = _text(arguments, "content", empty=True)
    path = sandbox.write(_text(arguments, "path"), content)
    return ToolAnswer(f"wrote {len(content)} characters to {sandbox.relative(path)}")


def _patch(sandbox: Sandbox, arguments: Mapping[str, Any]) -> ToolAnswer:
    name, old = _text(arguments, "path"), _text(arguments, "old")
    text = sandbox.read(name)
    found = text.count(old)
    if found != 1:
        return fail(f"the passage occurs {found} times in {name}, not once")
    sandbox.write(name, text.replace(old, _text(arguments, "new", empty=True)))
    return ToolAnswer(f"patched {name}")


def _search_files(sandbox: Sandbox, arguments: Mapping[str, Any]) -> ToolAnswer:
    glob = _text(arguments, "glob") if arguments.get("glob") else "*"
    wanted = {"pattern": _text(arguments, "pattern"), "glob": glob}
    limits = ProcessLimits(seconds=sandbox.pattern_seconds, output_bytes=4 * MAX_RESULT_CHARS)
    ended = search_guarded(wanted, sandbox.root, limits)
    if ended.exit_code == EXIT_BAD_PATTERN:
        return fail(ended.output.strip())
    if ended.exit_code not in (EXIT_FOUND, EXIT_NOT_FOUND):  # cut off by time, CPU or memory
        return fail("the search took too long; use a simpler pattern")
    return ToolAnswer(ended.output.rstrip("\n") or "no matches")


def _list_dir(sandbox: Sandbox, arguments: Mapping[str, Any]) -> ToolAnswer:
    name = _text(arguments, "path") if arguments.get("path") else "."
    folder = sandbox.resolve(name)
    if not folder.is_dir():
        return fail(f"no such folder: {name}")
    try:
        entries = sorted(folder.iterdir())[:MAX_ENTRIES]
    except OSError as error:
        return fail(f"cannot list {name}: {error.strerror}")
    shown = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries]
    return ToolAnswer("\n".join(shown) or "(empty)")


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
