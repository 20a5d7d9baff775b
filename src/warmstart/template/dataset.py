"""Templates and markers of proficiency as rows of an open dataset, one JSON object per line.

Every row has ``schema_version`` and ``kind``. ``session`` rows hold the figures of the session's
profile: no text, no path, no id that could be found again without having the session (a cut
sha256). The caller redacts the fields of ``SESSION_TEXTS``. ``template`` rows hold the whole
content, redacted once more by the caller; ``tool`` rows hold what a template knows of one tool.
Times are left out on purpose: with them sessions could be identified.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from warmstart.model import Template
from warmstart.profile import SessionProfile
from warmstart.template.canonical import template_id, template_to_dict

if TYPE_CHECKING:
    from warmstart.profile import SessionProfile

__all__ = ["SESSION_TEXTS", "list_tools", "session_row", "template_rows"]

SCHEMA_VERSION = 2
SESSION_TEXTS = ("agent", "model", "tools")
"""Fields of a session's row that hold words of its transcript; all others are our own."""


def template_rows(template: Template, state: str = "") -> Iterator[dict[str, Any]]:
    """The template, then one row for each of its tools."""
    identity = template_id(template)
    yield {
        "schema_version": SCHEMA_VERSION,
        "kind": "template",
        "id": identity,
        "state": state,
        "template": template_to_dict(template),
    }
    for tool in list_tools(template):
        yield {
            "schema_version": SCHEMA_VERSION,
            "kind": "tool",
            "template_id": identity,
            "tool": tool,
            **_tool_markers(template, tool),
        }


def session_row(profile: SessionProfile, reward: float | None = None) -> dict[str, Any]:
    """The figures of a session's profile, without its texts."""
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "session",
        "session": sha256(profile.session_id.encode("utf-8", "replace")).hexdigest()[:16],
        "agent": profile.agent,
        "model": profile.model,
        "reward": reward,
        "task_type": profile.task_type,
        "messages": profile.messages,
        "turns": profile.turns,
        "calls": profile.calls,
        "trivial_calls": profile.trivial_calls,
        "judged": profile.rate.calls,
        "errors": profile.rate.errors,
        "error_rate": profile.rate.rate,
        "early_rate": profile.early_rate,
        "late_rate": profile.late_rate,
        "gain": profile.gain,
        "repaired": len(profile.recoveries),
        "repair_rate": profile.repair_rate,
        "repeated_calls": profile.repeated_calls,
        "proficiency": profile.proficiency,
        "compactions": profile.compactions,
        "statuses": dict(profile.statuses),
        "tools": {
            one.tool: {"calls": one.calls, "ok": one.ok, "errors": one.errors}
            for one in sorted(profile.tools, key=lambda one: one.tool)
        },
        "error_classes": dict(sorted(profile.error_classes.items())),
    }


def list_tools(template: Template) -> list[str]:
    """Every tool a template has something on."""
    named = [
        *(line.tool for line in template.guidance),
        *(tool.tool for tool in template.arguments),
        *(example.tool for example in template.examples),
        *(recovery.tool for recovery in template.recoveries),
    ]
    return sorted(set(named))


def _tool_markers(template: Template, tool: str) -> dict[str, Any]:
    guidance = [line for line in template.guidance if line.tool == tool]
    recoveries = [item for item in template.recoveries if item.tool == tool]
    return {
        "calls": sum(line.calls for line in guidance),
        "errors": sum(line.errors for line in guidance),
        "advice": [line.text for line in guidance],
        "examples": sum(example.tool == tool for example in template.examples),
        "recoveries": [
            {
                "error_class": str(item.error_class),
                "signature": item.signature,
                "repaired_by": item.repaired_by,
                "change": item.change,
                "count": item.count,
                "tries": item.tries,
            }
            for item in recoveries
        ],
    }
