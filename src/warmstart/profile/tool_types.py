"""What kind of work a tool does, by its name: the words a session's task type is made of.

The table knows the tools of every agent whose sessions are read. Names are compared without case;
an MCP tool (``mcp__server__tool``) is judged by its own name, then by its server's, then by the
words in both. A mapping given by the user always wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

__all__ = ["TRIVIAL_TOOLS", "TaskType", "ToolType", "classify_session", "classify_tool"]


class ToolType(StrEnum):
    """The kind of work a tool does."""

    CODE = "code"
    FILE = "file"
    RESEARCH = "research"
    TERMINAL = "terminal"
    BROWSER = "browser"
    META = "meta"
    """The agent's own housekeeping: plans, memory, questions to the user."""
    OTHER = "other"


class TaskType(StrEnum):
    """The kind of work a session was: that of most of its calls, or mixed."""

    CODE = "code"
    FILE = "file"
    RESEARCH = "research"
    TERMINAL = "terminal"
    BROWSER = "browser"
    MIXED = "mixed"


DOMINANCE = 0.6
"""A session is of a type when more than this share of its calls is."""

TRIVIAL_TOOLS = frozenset({
    "clarify", "memory", "todo", "fact_store", "fact_feedback", "session_search", "skill_view",
    "skills_list", "warm_session", "todowrite", "todoread", "todo_write", "todo_read",
    "write_todos", "update_todo", "update_plan", "taskcreate", "taskupdate", "tasklist", "taskget",
    "exitplanmode", "enterplanmode", "exit_plan_mode", "enter_plan_mode", "askuserquestion",
    "ask_user", "ask_user_question", "report_intent", "save_memory", "store_memory", "think",
    "toolsearch", "tool_search", "task_tracker", "finish", "submit", "transfer_to_human_agents",
})  # fmt: skip
"""Left out of every rate by default: they hardly ever fail and say nothing about the work."""

_NAMES: dict[ToolType, str] = {
    ToolType.CODE: """
        execute_code python ipython run_python python_exec run_ipython execute_ipython_cell repl
        code_interpreter notebook_execute notebookexecute jupyter sql skill_manage lsp
        getdiagnostics executecode""",
    ToolType.FILE: """
        read write edit multiedit glob grep ls list notebookedit notebookread read_file write_file
        read_many_files patch apply_patch search_files replace search_file_content grep_search
        list_directory list_files view view_file create str_replace_editor
        str_replace_based_edit_tool file_editor text_editor open open_file goto scroll_up
        scroll_down search_dir search_file find_file file_search codebase_search edit_file
        insert_edit_into_file create_file delete_file cat view_image""",
    ToolType.RESEARCH: """
        websearch webfetch web_search web_fetch web_extract google_web_search fetch search
        codesearch get_webpage fetch_url arxiv codebase_investigator vision_analyze
        session_insights""",
    ToolType.TERMINAL: """
        bash shell terminal exec exec_command run run_command run_cmd run_shell_command
        run_terminal_cmd run_in_terminal local_shell local_shell_call execute_command execute_bash
        shell_command container.exec powershell pwsh cmd sh zsh process write_stdin read_bash
        write_bash stop_bash list_bash bashoutput killshell killbash bash_session taskoutput
        taskstop monitor""",
    ToolType.BROWSER: """
        browser browse browser_interactive browse_interactive web_browser computer screenshot""",
    ToolType.META: " ".join(sorted(TRIVIAL_TOOLS)),
}
_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_PREFIXES = (
    ("browser_", ToolType.BROWSER), ("web_browser_", ToolType.BROWSER),
    ("puppeteer_", ToolType.BROWSER), ("playwright_", ToolType.BROWSER),
    ("web_", ToolType.RESEARCH), ("read_", ToolType.FILE), ("view_", ToolType.FILE),
)  # fmt: skip
_WORDS: tuple[tuple[ToolType, frozenset[str]], ...] = (
    (ToolType.BROWSER, frozenset({
        "browser", "playwright", "puppeteer", "chrome", "selenium", "navigate", "click",
        "screenshot"})),
    (ToolType.TERMINAL, frozenset({"shell", "bash", "terminal", "exec", "command", "ssh"})),
    (ToolType.CODE, frozenset({"python", "code", "notebook", "repl", "sandbox", "ide", "sql"})),
    (ToolType.RESEARCH, frozenset({
        "search", "fetch", "web", "brave", "tavily", "exa", "perplexity", "context7", "docs",
        "crawl", "scrape", "arxiv", "wiki"})),
    (ToolType.FILE, frozenset({
        "file", "files", "filesystem", "directory", "edit", "patch", "read", "write", "grep"})),
)  # fmt: skip
_TASK_TYPES = {str(kind): kind for kind in TaskType if kind is not TaskType.MIXED}
_SPLIT = re.compile(r"[^a-z0-9]+")
MCP_PREFIX = "mcp__"


def classify_tool(tool: str, overrides: Mapping[str, str] | None = None) -> str:
    """The type of a tool; ``overrides`` (names in lower case) are asked first."""
    name = tool.lower()
    short = name.rpartition("__")[2] if name.startswith(MCP_PREFIX) else name
    for wanted in (name, short):
        if overrides and wanted in overrides:
            return overrides[wanted]
    if short in _BY_NAME:
        return _BY_NAME[short]
    for prefix, kind in _PREFIXES:
        if short.startswith(prefix):
            return kind
    return _classify_words(name) if short != name else ToolType.OTHER


def _classify_words(name: str) -> ToolType:
    """An MCP tool nobody listed: the words of its own name, then those of its server's."""
    server, _, own = name.removeprefix(MCP_PREFIX).rpartition("__")
    for part in (own, server):
        words = set(_SPLIT.split(part))
        for kind, telling in _WORDS:
            if not telling.isdisjoint(words):
                return kind
    return ToolType.OTHER


def classify_session(counts: Mapping[str, int], dominance: float = DOMINANCE) -> TaskType:
    """The type of a session from its calls by tool type; mixed unless one has the majority."""
    least = dominance * sum(counts.values())
    for kind, number in counts.items():
        if number > least and kind in _TASK_TYPES:
            return _TASK_TYPES[kind]
    return TaskType.MIXED
