"""What each action does: a request in, an answer out, through the workspace."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from warmstart.app import (
    READERS,
    BuildRequest,
    CompactionRequest,
    Comparison,
    MiningRules,
    ReadLog,
    Saved,
    StartRequest,
    TemplateVersion,
    Workspace,
    build_template,
    check_compaction,
    compare_sides,
    delete_template,
    load_rules,
    parse_spec,
    prepare_start,
    profile_session,
    try_template,
)
from warmstart.app import list_templates as list_library
from warmstart.model import Selection, TemplateState
from warmstart.present import to_json
from warmstart.tool.request import ToolRequest

Answer = dict[str, Any]
Action = Callable[[Workspace, ToolRequest], Answer]
WARMUP_TOKENS = 1500
MAX_COMPARISON_CHARS = 1500
"""What a model is given of a comparison unless it asks for details."""
MAX_LABEL_CHARS = 120
MAX_SENTENCE_CHARS = 600


def build(workspace: Workspace, request: ToolRequest) -> Answer:
    """Mine sessions into a draft."""
    name, log = request.require("name"), ReadLog()
    wanted = BuildRequest(
        name=name,
        description=request.description,
        tags=request.tags,
        max_sessions=request.max_sessions,
        rules=MiningRules(min_messages=request.min_messages),
    )
    built = build_template(workspace, wanted, _select(request), log)
    template, saved = built.template, built.saved
    return {
        "template": _name_version(saved) if saved else None,
        "is_new": bool(saved and saved.is_new),
        "sessions": template.provenance.sessions,
        "examples": len(template.examples),
        "recoveries": len(template.recoveries),
        "guidance": len(template.guidance),
        "left_out": built.left_out,
        "skipped": sum(log.counts.values()),
        "next": "a person reviews it: " + "; ".join(built.next_steps),
    }


def list_templates(workspace: Workspace, request: ToolRequest) -> Answer:
    """Every template with its record."""
    del request
    return {"templates": [_describe(row) for row in list_library(workspace)]}


def load(workspace: Workspace, request: ToolRequest) -> Answer:
    """What a template would put in front of a session; nothing counts as a use."""
    spec = request.require("name")
    trial = try_template(workspace, spec, request.message, budget=WARMUP_TOKENS)
    messages = trial.content["messages"]
    return {
        "template": _name_version(trial.info),
        "tokens": trial.warmup.tokens,
        "messages": messages if request.message else messages[:-1],
    }


def delete(workspace: Workspace, request: ToolRequest) -> Answer:
    """Remove drafts; what a person approved, imported or retired is theirs to remove."""
    spec = request.require("name")
    versions = delete_template(workspace, spec, drafts_only=True)
    return {"deleted": parse_spec(spec).name, "versions": versions}


def profile(workspace: Workspace, request: ToolRequest) -> Answer:
    """How reliable one session was."""
    wanted = request.require("session_id")
    found = profile_session(workspace, wanted, Selection(), rules=load_rules(workspace))
    return {"profile": to_json(found.profile)}


def check_compression(workspace: Workspace, request: ToolRequest) -> Answer:
    """Errors before and after a session's compactions."""
    wanted = CompactionRequest(wanted=request.require("session_id"))
    found = check_compaction(workspace, wanted, Selection(), rules=load_rules(workspace))
    return {"report": to_json(found.report)}


def compare(workspace: Workspace, request: ToolRequest) -> Answer:
    """Two sessions side by side."""
    sides = [(wanted, wanted) for wanted in (request.require("session_id"),
                                            request.require("compare_with"))]  # fmt: skip
    found = compare_sides(workspace, sides, Selection(), rules=load_rules(workspace)).comparison
    if request.details:
        return {"comparison": to_json(found)}
    return {"comparison": _shorten(found)}


def _shorten(found: Comparison) -> Answer:
    """The few figures of a comparison that matter to a model, within ``MAX_COMPARISON_CHARS``."""
    sides = ((found.first, found.first_rate), (found.second, found.second_rate))
    first, second = (
        {
            "session": side.label[:MAX_LABEL_CHARS],
            "errors": rate.errors,
            "calls": rate.calls,
            "error_rate": _round(rate.rate),
            "low": _round(rate.low),
            "high": _round(rate.high),
        }
        for side, rate in sides
    )
    return {
        "verdict": str(found.verdict),
        "sentence": found.sentence[:MAX_SENTENCE_CHARS],
        "first": first,
        "second": second,
        "difference": _round(found.difference.estimate),
        "low": _round(found.difference.low),
        "high": _round(found.difference.high),
        "more": "details=true gives every figure",
    }


def _round(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 4)


def select(workspace: Workspace, request: ToolRequest) -> Answer:
    """Which template fits a task; nothing is started."""
    wanted = StartRequest(message=request.require("message"), agent="tool")
    choice = prepare_start(workspace, wanted, record=False).choice
    return {
        "template": choice.template,
        "arm": str(choice.arm),
        "reason": choice.reason,
        "task_type": choice.task_type,
        "ranking": to_json(choice.ranking),
    }


def _select(request: ToolRequest) -> Selection:
    """A source is a format warmstart reads, else the name of an agent."""
    wanted = request.source_filter
    if not wanted:
        return Selection()
    return Selection(source=wanted) if wanted in READERS else Selection(agent=wanted)


def _name_version(version: Saved | TemplateVersion) -> Answer:
    return {"name": version.name, "version": version.version, "state": str(version.state)}


def _describe(row: TemplateVersion) -> Answer:
    # A person reads a template before any model does.
    shown = row.summary if row.state is TemplateState.APPROVED else {}
    return {
        "name": row.name,
        "version": row.version,
        "state": str(row.state),
        "description": shown.get("description", ""),
        "task_type": shown.get("task_type", ""),
        "tags": list(shown.get("tags", ())),
        "examples": row.summary.get("examples", 0),
        "tokens": row.summary.get("tokens", 0),
        "uses": row.record.uses,
        "successes": row.record.successes,
        "failures": row.record.failures,
    }


ACTION_TABLE: dict[str, Action] = {
    "build": build,
    "list": list_templates,
    "load": load,
    "delete": delete,
    "profile": profile,
    "compress-check": check_compression,
    "compare": compare,
    "select": select,
}
