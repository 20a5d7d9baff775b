"""Tasks of an experiment: what is asked, what lies ready, and how success is checked.

A task file is JSONL, one task per line. It is checked as a whole before anything runs, and every
complaint names its line. Paths are relative to the sandbox and cannot leave it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from warmstart.errors import UsageError
from warmstart.experiment.check import Check, CheckKind, is_inside, parse_check

MAX_ID_LENGTH = 100
DEFAULT_SPLIT = "test"
_FIELDS = frozenset({
    "id", "prompt", "files", "tools", "tool_definitions", "check", "difficulty", "tags", "split",
})  # fmt: skip
_TOOL_FIELDS = frozenset({"name", "description", "parameters", "command", "timeout"})


class TaskError(UsageError):
    """A task file says something that cannot be run; ``line`` is where."""

    def __init__(self, problem: str, *, line: int) -> None:
        super().__init__(f"line {line} of the task file: {problem}", hint="docs/experiments.md")
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool that a task brings along: a command, and its description for the model."""

    name: str
    command: tuple[str, ...]
    """Run in the sandbox with the arguments as JSON on its standard input."""
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON schema of the arguments."""
    timeout_seconds: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One thing to do."""

    id: str
    prompt: str
    files: Mapping[str, str] = field(default_factory=dict)
    """Path in the sandbox to content."""
    tools: tuple[str, ...] | None = None
    """Names of the built-in tools it may use; None for all of them."""
    tool_definitions: tuple[ToolDefinition, ...] = ()
    checks: tuple[Check, ...] = ()
    """All must hold; without any, success is unknown."""
    difficulty: str = ""
    tags: tuple[str, ...] = ()
    split: str = DEFAULT_SPLIT


def parse_tasks(lines: Iterable[str | bytes]) -> list[Task]:
    """The tasks of a file, in its order.

    Raises:
        TaskError: a line is not a task, or an id comes twice.
    """
    tasks: list[Task] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        task = _parse_line(line, number)
        if task.id in seen:
            raise TaskError(f"{task.id!r} is the id of line {seen[task.id]} already", line=number)
        seen[task.id] = number
        tasks.append(task)
    return tasks


def hash_tasks(tasks: Iterable[Task]) -> str:
    """sha256 over what the tasks say, whatever their order and spelling in the file."""
    digest = sha256()
    for task in sorted(tasks, key=lambda task: task.id):
        digest.update(repr(_frozen(task)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def choose_tasks(
    tasks: Iterable[Task], *, split: str | None, excluded: Iterable[str] = ()
) -> list[Task]:
    """The tasks of a split (None or "all" for every one) without those left out."""
    out = frozenset(excluded)
    every = split in (None, "all")
    return [task for task in tasks if (every or task.split == split) and task.id not in out]


def _frozen(task: Task) -> tuple[object, ...]:
    tools = [
        (tool.name, tool.command, tool.description, _dump(tool.parameters), tool.timeout_seconds)
        for tool in task.tool_definitions
    ]
    checks = [
        (check.kind, check.target, _dump(check.expected), check.pattern) for check in task.checks
    ]
    return (
        task.id, task.prompt, sorted(task.files.items()), task.tools, tools,
        [tuple(map(str, check)) for check in checks], task.difficulty, task.tags, task.split,
    )  # fmt: skip


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _parse_line(line: str | bytes, number: int) -> Task:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"no JSON: {error}", line=number) from error
    if not isinstance(data, dict):
        raise TaskError("no JSON object", line=number)
    try:
        return parse_task(data)
    except ValueError as error:
        raise TaskError(str(error), line=number) from error


def parse_task(data: Mapping[str, Any]) -> Task:
    """A task from its JSON object.

    Raises:
        ValueError: a field is missing, unknown, or of the wrong kind.
    """
    _refuse_unknown(data, _FIELDS, "a task")
    task_id = _text(data, "id")
    if not 0 < len(task_id) <= MAX_ID_LENGTH or not task_id.isprintable():
        raise ValueError(f"'id' must be 1 to {MAX_ID_LENGTH} printable characters")
    prompt = _text(data, "prompt")
    if not prompt.strip():
        raise ValueError("'prompt' is missing")
    return Task(
        id=task_id,
        prompt=prompt,
        files=_parse_files(data.get("files", {})),
        tools=None if data.get("tools") is None else _texts(data, "tools"),
        tool_definitions=_parse_definitions(data.get("tool_definitions", [])),
        checks=_parse_checks(data.get("check")),
        difficulty=str(data.get("difficulty", "")),
        tags=_texts(data, "tags"),
        split=_text(data, "split") or DEFAULT_SPLIT,
    )


def _parse_files(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise ValueError("'files' must map paths to text")
    for path in value:
        if not is_inside(path):
            raise ValueError(f"the path {path!r} leaves the sandbox")
    return dict(value)


def _parse_definitions(value: Any) -> tuple[ToolDefinition, ...]:
    if not isinstance(value, list):
        raise ValueError("'tool_definitions' must be a list")  # noqa: TRY004 - one kind of complaint
    return tuple(_parse_definition(one) for one in value)


def _parse_definition(value: Any) -> ToolDefinition:
    if not isinstance(value, dict):
        raise ValueError("a tool definition must be an object")  # noqa: TRY004 - one kind of complaint
    _refuse_unknown(value, _TOOL_FIELDS, "a tool definition")
    name = _text(value, "name")
    if not name.replace("_", "").replace("-", "").isalnum() or len(name) > 64:
        raise ValueError(f"{name!r} is not a valid tool name (letters, digits, _ and -)")
    command = value.get("command")
    words = (command,) if isinstance(command, str) else _texts(value, "command")
    if not words or not words[0]:
        raise ValueError(f"the tool {name!r} has no 'command'")
    parameters = value.get("parameters", {})
    if not isinstance(parameters, dict):
        raise ValueError(f"'parameters' of the tool {name!r} must be a JSON schema")  # noqa: TRY004 - one kind of complaint
    return ToolDefinition(
        name=name,
        command=("sh", "-c", command) if isinstance(command, str) else words,
        description=_text(value, "description"),
        parameters=parameters,
        timeout_seconds=_parse_timeout(name, value.get("timeout", 20)),
    )


def _parse_timeout(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ValueError(f"'timeout' of the tool {name!r} must be a positive number of seconds")
    return float(value)


def _parse_checks(value: Any) -> tuple[Check, ...]:
    if value is None:
        return ()
    checks = tuple(parse_check(one) for one in (value if isinstance(value, list) else [value]))
    for check in checks:
        if check.kind is CheckKind.FILE and not is_inside(check.target):
            raise ValueError(f"the path {check.target!r} leaves the sandbox")
    return checks


def _refuse_unknown(data: Mapping[str, Any], known: frozenset[str], what: str) -> None:
    unknown = sorted(set(map(str, data)) - known)
    if unknown:
        raise ValueError(f"{what} has no field {unknown[0]!r}; it has {', '.join(sorted(known))}")


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name!r} must be text")  # noqa: TRY004 - one kind of complaint per line
    return value


def _texts(data: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = data.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name!r} must be a list of texts")
    return tuple(value)
