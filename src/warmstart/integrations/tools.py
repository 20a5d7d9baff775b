"""The tools each agent has, by the names it gives them.

A template may hold examples of several agents' tools; those of another agent are of no use to a
session and would only teach it to call what is not there. Names are those a plain installation
offers its model, those that a setting turns on, and those of recent versions. Tools of MCP servers
are the user's own and always allowed.
"""

from __future__ import annotations

CLAUDE_CODE = "claude_code"
CODEX = "codex"
HERMES = "hermes"

AGENT_TOOLS: dict[str, tuple[str, ...]] = {
    CLAUDE_CODE: (
        "Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList",
        "Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep",
        "KillShell", "LS", "ListMcpResourcesTool", "MultiEdit", "NotebookEdit", "NotebookRead",
        "Read", "ReadMcpResourceTool", "ReportFindings", "ScheduleWakeup", "SendMessage", "Skill",
        "SlashCommand", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop",
        "TaskUpdate", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch", "Workflow", "Write",
        "mcp__*",
    ),
    CODEX: (
        "apply_patch", "create_goal", "exec_command", "get_goal", "list_mcp_resources",
        "multi_agent_v1", "read_mcp_resource", "request_user_input", "shell", "shell_command",
        "update_goal", "update_plan", "view_image", "web_search", "write_stdin", "mcp__*",
    ),
    HERMES: (
        "browser_back", "browser_cdp", "browser_click", "browser_console", "browser_dialog",
        "browser_get_images", "browser_navigate", "browser_press", "browser_scroll",
        "browser_snapshot", "browser_type", "browser_vision", "clarify", "close_terminal",
        "computer_use", "cronjob", "delegate_task", "execute_code", "ha_*", "image_generate",
        "kanban_*", "memory", "patch", "process", "project_create", "project_list",
        "project_switch", "read_file", "read_terminal", "search_files", "send_message",
        "session_search", "skill_manage", "skill_view", "skills_list", "spotify_*", "terminal",
        "text_to_speech", "todo", "video_analyze", "video_generate", "vision_analyze",
        "warm_session", "web_extract", "web_search", "write_file", "x_search", "mcp_*",
    ),
}  # fmt: skip


def list_tools(agent: str) -> tuple[str, ...] | None:
    """What an agent can call; None for an agent that is not known."""
    return AGENT_TOOLS.get(agent)


__all__ = ["AGENT_TOOLS", "CLAUDE_CODE", "CODEX", "HERMES", "list_tools"]
