"""Templates and markers of proficiency as rows of an open dataset, one JSON object per line.

Every row has ``schema_version`` and ``kind``. ``session`` rows hold counts alone: no text, no path,
no id that could be found again without having the session (a cut sha256). ``template`` rows hold
the whole content, redacted once more by whoever writes them; ``tool`` rows hold what a template
knows of one tool. Times are left out on purpose: with them sessions could be told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from warmstart.model.facts import CallFact, SessionFacts
from warmstart.model.outcome import Status
from warmstart.model.template import Template
from warmstart.template.canonical import template_id, template_to_dict

SCHEMA_VERSION = 1
SHARE_OF_ENDS = 5
"""The first and the last fifth of a session's calls are compared."""


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


def session_row(facts: SessionFacts) -> dict[str, Any]:
    """What a session says about proficiency, in counts."""
    judged = [call for call in facts.calls if call.status in (Status.OK, Status.ERROR)]
    fifth = max(len(judged) // SHARE_OF_ENDS, 1)
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "session",
        "session": sha256(facts.id.encode("utf-8", "replace")).hexdigest()[:16],
        "agent": facts.agent,
        "model": facts.model,
        "reward": facts.reward,
        "messages": facts.messages,
        "turns": facts.turns,
        "calls": len(facts.calls),
        "judged": len(judged),
        "errors": _errors(judged),
        "early_errors": _errors(judged[:fifth]) if judged else 0,
        "late_errors": _errors(judged[-fifth:]) if judged else 0,
        "calls_at_each_end": min(fifth, len(judged)),
        "repaired": _count_repaired(judged),
        "compactions": len(facts.compactions),
        "tools": _tool_counts(judged),
        "error_classes": dict(
            sorted(Counter(str(call.error_class) for call in judged if call.error_class).items())
        ),
    }


def _tool_counts(calls: list[CallFact]) -> dict[str, dict[str, int]]:
    made = Counter(call.tool for call in calls)
    failed = Counter(call.tool for call in calls if call.status is Status.ERROR)
    return {tool: {"calls": made[tool], "errors": failed[tool]} for tool in sorted(made)}


def _count_repaired(calls: list[CallFact]) -> int:
    """Failed calls whose tool succeeded with its next call."""
    waiting: set[str] = set()
    repaired = 0
    for call in calls:
        if call.status is Status.ERROR:
            waiting.add(call.tool)
        elif call.tool in waiting:
            waiting.discard(call.tool)
            repaired += 1
    return repaired


def _errors(calls: list[CallFact]) -> int:
    return sum(call.status is Status.ERROR for call in calls)


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
