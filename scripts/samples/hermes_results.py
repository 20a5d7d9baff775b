"""Hermes' tool names, arguments and results: JSON text, with the three wrappers around it."""

from __future__ import annotations

import json
from typing import Any

from samples.steps import Call, Ending, Tool

NAMES = {
    Tool.SHELL: "terminal",
    Tool.READ: "read_file",
    Tool.EDIT: "patch",
    Tool.WRITE: "write_file",
    Tool.SEARCH: "search_files",
    Tool.CODE: "execute_code",
    Tool.WEB: "web_search",
    Tool.TODO: "todo",
}
HUGE_COMMAND = "cat /var/log/worker/worker.log.1"
DENIED = (
    "BLOCKED: User denied this command. The user has NOT consented to this action. Do NOT retry"
    " this command, do NOT rephrase it."
)


def arguments(call: Call) -> str:
    """The arguments as the JSON text Hermes stores."""
    given = call.arguments
    match call.tool:
        case Tool.EDIT:
            value: dict[str, Any] = {
                "mode": "replace",
                "path": given["path"],
                "old_string": given["old"],
                "new_string": given["new"],
            }
        case Tool.TODO:
            items = enumerate(given["items"].splitlines(), 1)
            value = {"todos": [_todo(number, item) for number, item in items]}
        case _:
            value = dict(given)
    return json.dumps(value)


def _todo(number: int, item: str) -> dict[str, str]:
    return {"id": str(number), "content": item, "status": "pending"}


def result(call: Call) -> str:
    """The content of the tool row, wrapped as Hermes wraps it."""
    text = json.dumps(_value(call), ensure_ascii=False)
    if call.tool is Tool.WEB:
        return f'<untrusted_tool_result source="web_search">\n{text}\n</untrusted_tool_result>'
    if call.count > 1:
        warning = (
            f"repeated_exact_failure_warning; count={call.count}; {NAMES[call.tool]} has failed"
            f" {call.count} times with identical arguments. This looks like a loop; inspect the"
            " error and change strategy instead of retrying it unchanged."
        )
        return f"{text}\n\n[Tool loop warning: {warning}]"
    if call.arguments.get("command") == HUGE_COMMAND:
        return (
            "<persisted-output>\nThis tool result was too large (412,806 characters, 403.1 KB).\n"
            "Full output saved to: /home/dev/.hermes/cache/tool_results/call_log.txt\n"
            "Use the read_file tool with offset and limit to access specific sections of this"
            f" output.\n\nPreview (first 1000 chars):\n{text[:1000]}\n...\n</persisted-output>"
        )
    return text


def _value(call: Call) -> dict[str, Any]:
    match call.tool:
        case Tool.SHELL:
            return _terminal(call)
        case Tool.READ:
            return _read(call)
        case Tool.EDIT:
            return _patch(call)
        case Tool.WRITE:
            path = call.arguments["path"]
            written = len(call.arguments["content"].encode())
            return {
                "bytes_written": written,
                "dirs_created": True,
                "lint": {"status": "ok", "output": ""},
                "resolved_path": path,
                "files_modified": [path],
            }
        case Tool.SEARCH:
            return _search(call)
        case Tool.CODE:
            return _execute(call)
        case Tool.WEB:
            if call.ending is Ending.REFUSED:
                return {"success": False, "error": f"Tavily search failed: {call.text}"}
            hit = {"title": "Release notes", "url": "https://pdf.example/notes"}
            return {"success": True, "data": {"web": [{**hit, "description": call.text}]}}
        case Tool.TODO:
            items = enumerate(call.arguments["items"].splitlines(), 1)
            return {"todos": [_todo(number, item) for number, item in items]}


def _terminal(call: Call) -> dict[str, Any]:
    if call.ending is Ending.REJECTED:
        return {"output": "", "exit_code": -1, "error": DENIED, "status": "blocked"}
    if call.ending is Ending.TIMEOUT:
        return {"output": "[Command timed out after 120s]", "exit_code": 124, "error": None}
    value: dict[str, Any] = {"output": call.text, "exit_code": call.exit_code, "error": None}
    if call.exit_code == 1 and call.arguments["command"].startswith("grep "):
        value["exit_code_meaning"] = "No matches found (not an error)"
    return value


def _read(call: Call) -> dict[str, Any]:
    lines = call.text.splitlines()
    text = "\n".join(f"{number}|{line}" for number, line in enumerate(lines, 1))
    value: dict[str, Any] = {
        "content": text,
        "total_lines": len(lines),
        "file_size": len(call.text),
        "truncated": False,
        "is_binary": False,
        "is_image": False,
    }
    if call.ending is Ending.MISSING:
        value["error"] = f"File not found: {call.arguments['path']}"
    return value


def _patch(call: Call) -> dict[str, Any]:
    path = call.arguments["path"]
    if call.ending is not Ending.OK:
        return {
            "success": False,
            "error": "Could not find a match for old_string in the file",
            "_hint": "old_string not found. Use read_file to verify the current content, or"
            " search_files to locate the text.",
        }
    removed = "".join(f"-{line}\n" for line in call.arguments["old"].splitlines())
    added = "".join(f"+{line}\n" for line in call.arguments["new"].splitlines())
    return {
        "success": True,
        "diff": f"--- a/{path}\n+++ b/{path}\n@@ -18 +18 @@\n{removed}{added}",
        "files_modified": [path],
        "lint": {"status": "ok", "output": ""},
        "resolved_path": path,
    }


def _search(call: Call) -> dict[str, Any]:
    hits = [line.split(":", 2) for line in call.text.splitlines()]
    if not hits:
        return {"total_count": 0}
    matches = [
        {"path": path, "line": int(number), "content": text.strip()} for path, number, text in hits
    ]
    return {"total_count": len(matches), "matches": matches}


def _execute(call: Call) -> dict[str, Any]:
    failed = call.ending is Ending.EXIT
    value: dict[str, Any] = {
        "status": "error" if failed else "success",
        "output": f"\n--- stderr ---\n{call.text}\n" if failed else f"{call.text}\n",
        "exit_code": call.exit_code,
        "tool_calls_made": 0,
        "duration_seconds": 0.04,
        "stdout_truncated": False,
    }
    if failed:
        value["error"] = call.text
    return value
