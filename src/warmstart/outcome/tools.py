"""What kind of tool a name stands for, as far as judging its result needs to know.

A shell prints whatever its commands print, so its words mean little and its exit code much; a
reader returns other people's text, which never speaks about the call; everything else answers in
its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any


class ToolKind(StrEnum):
    """How a result of the tool must be read."""

    SHELL = "shell"
    CODE = "code"
    """Runs a program given as text: tracebacks count, shell syntax does not apply."""
    READER = "reader"
    """Returns content that someone else wrote."""
    OTHER = "other"


_SHELL_NAMES = frozenset({
    "bash", "shell", "terminal", "exec", "exec_command", "run", "run_command", "run_cmd",
    "run_shell_command", "run_terminal_cmd", "run_in_terminal", "local_shell", "local_shell_call",
    "execute_command", "execute_bash", "shell_command", "container.exec", "powershell", "pwsh",
    "cmd", "sh", "zsh", "ctf", "process", "write_stdin", "read_bash", "write_bash", "bashoutput",
    "taskoutput",
})  # fmt: skip
_CODE_NAMES = frozenset({
    "python", "ipython", "execute_code", "run_ipython", "run_python", "python_exec",
    "execute_ipython_cell", "code_interpreter", "repl", "notebook_execute", "sql",
})  # fmt: skip
_READER_NAMES = frozenset({
    "read", "read_file", "read_many_files", "view", "view_file", "cat", "open", "open_file", "ls",
    "list_files", "list_directory", "glob", "grep", "grep_search", "search", "search_files",
    "search_dir", "search_file", "file_search", "find_file", "codebase_search", "fetch",
    "webfetch", "web_fetch", "web_extract", "websearch", "web_search", "get_webpage",
})  # fmt: skip
_COMMAND_KEYS = ("command", "cmd", "action", "script", "input", "chars", "code")


MAX_COMMAND_CHARS = 32_768
_KINDS_KEPT = 4096


class _Kinds(dict[str, ToolKind]):
    """Kinds by name, found out when first asked for: a plain lookup is all that most calls cost."""

    def __missing__(self, tool: str) -> ToolKind:
        if len(self) >= _KINDS_KEPT:
            self.clear()
        kind = self[tool] = _find_kind(tool)
        return kind


def _find_kind(tool: str) -> ToolKind:
    name = tool.lower().rpartition("__")[2] if tool.startswith("mcp__") else tool.lower()
    if name in _SHELL_NAMES or name.endswith(("_shell", "_bash", "_terminal", "__shell")):
        return ToolKind.SHELL
    if name in _CODE_NAMES:
        return ToolKind.CODE
    if name in _READER_NAMES or name.startswith(("read_", "view_")):
        return ToolKind.READER
    return ToolKind.OTHER


kind_of: Callable[[str], ToolKind] = _Kinds().__getitem__
"""The kind of a tool, by its name alone; MCP prefixes (``mcp__server__name``) do not count."""


def command_of(arguments: Mapping[str, Any]) -> str:
    """The command line among a shell tool's arguments; empty where there is none.

    Of one longer than ``MAX_COMMAND_CHARS`` the two ends: what runs stands before a long text that
    is given to it, or after it.
    """
    line = _find_command(arguments)
    if len(line) <= MAX_COMMAND_CHARS:
        return line
    return f"{line[: MAX_COMMAND_CHARS // 2]}\n{line[-MAX_COMMAND_CHARS // 2 :]}"


def _find_command(arguments: Mapping[str, Any]) -> str:
    usual = arguments.get("command")
    if type(usual) is str:
        return usual
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if type(value) is str:
            return value
        if value and isinstance(value, list) and isinstance(value[-1], str):
            return _join_words(value)
    return ""


def _join_words(words: list[Any]) -> str:
    """The script of ["bash", "-lc", "make test"], its last word; else the list is an argv."""
    is_script = len(words) == 3 and str(words[1]).startswith("-") and "c" in str(words[1])
    return words[-1] if is_script else " ".join(map(str, words))
