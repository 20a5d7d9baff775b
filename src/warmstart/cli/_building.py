"""What ``template extract``, ``build`` and ``auto`` do: mine through the workspace, save, print.

JSON is one object: ``schema_version``, ``templates`` (each with the rules its sessions were chosen
by, the sessions left out by reason, what is in it, what was redacted or flagged, and where the
draft is), and ``skipped``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.mining import Mined, mine_proposals, mine_session, mine_template
from warmstart.app.redaction import open_redactor
from warmstart.app.templates import open_library
from warmstart.cli._output import (
    list_skips,
    note,
    open_console,
    print_json,
    report_skips,
)
from warmstart.mine import BuildRequest, Rules
from warmstart.model.selection import Selection
from warmstart.model.template import TemplateState
from warmstart.present import clean, count, show_progress
from warmstart.sources import ReadLog
from warmstart.template import canonical_json, check_name

SCHEMA_VERSION = 1
_RULE_FIELDS = ("min_calls", "max_error_rate", "min_reward")
_REQUEST_FIELDS = (
    "description", "tags", "textual", "keep_outside", "max_sessions", "max_examples",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to run, whatever is built."""

    polish_url: str | None
    polish_model: str
    dry_run: bool
    as_json: bool
    quiet: bool


def split_given(
    given: dict[str, Any], *, name: str, task_type: str
) -> tuple[BuildRequest, Selection]:
    """Options as click gave them, as a request (with its rules) and a selection.

    ``--min-messages`` is a rule here, so that sessions too short are counted by that reason.
    """
    rules = {field: given.pop(field) for field in _RULE_FIELDS}
    min_messages = given.pop("min_messages")
    if min_messages is not None:
        rules["min_messages"] = min_messages
    request = BuildRequest(
        name=name,
        task_type=task_type,
        rules=Rules(allow_subagents=given.pop("subagents"), **rules),
        **{field: given.pop(field) for field in _REQUEST_FIELDS},
    )
    return request, Selection(**given)


def run_extract(wanted: str, request: BuildRequest, selection: Selection, options: Options) -> None:
    """One session."""
    check_name(request.name)
    workspace, log = Workspace.open(), ReadLog()
    mined = mine_session(workspace, wanted, request, selection, log)
    _finish(workspace, [mined], log, options)


def run_build(request: BuildRequest, selection: Selection, options: Options) -> None:
    """Many sessions."""
    check_name(request.name)
    workspace, log = Workspace.open(), ReadLog()
    with show_progress(quiet=options.quiet) as tell:
        mined = mine_template(workspace, request, selection, log, on_progress=tell)
    _finish(workspace, [mined], log, options)


def run_auto(request: BuildRequest, selection: Selection, options: Options) -> None:
    """One template per kind of work."""
    check_name(f"{request.name}-research")
    workspace, log = Workspace.open(), ReadLog()
    with show_progress(quiet=options.quiet) as tell:
        found = mine_proposals(workspace, request, selection, log, on_progress=tell)
        _finish(workspace, found, log, options)


def _finish(workspace: Workspace, found: Iterable[Mined], log: ReadLog, options: Options) -> None:
    """Save each as it comes, so that stopping half way loses none that was made."""
    reports = []
    for mined in found:
        report = _save(workspace, _polish(workspace, mined, options), options)
        reports.append(report)
        if not options.as_json:
            _print_report(report)
    report_skips(log, quiet=options.quiet)
    if options.as_json:
        print_json(
            {"schema_version": SCHEMA_VERSION, "templates": reports, "skipped": list_skips(log)}
        )


def _polish(workspace: Workspace, mined: Mined, options: Options) -> Mined:
    if not options.polish_url:
        return mined
    from warmstart.app.polish import Endpoint, polish_template  # noqa: PLC0415 - rarely used

    endpoint = Endpoint.from_environment(options.polish_url, options.polish_model)
    polished = polish_template(mined.template, endpoint, open_redactor(workspace, pii=True))
    for line in polished.notes:
        note(line, quiet=options.quiet)
    return replace(mined, template=polished.template)


def _save(workspace: Workspace, mined: Mined, options: Options) -> dict[str, Any]:
    report = _report(mined)
    if options.dry_run:
        return {**report, "saved": None, "next": []}
    with open_library(workspace) as library:
        saved = library.save(mined.template, state=TemplateState.DRAFT, note="mined")
    return {
        **report,
        "saved": {
            "version": saved.version,
            "id": saved.id,
            "path": str(saved.path),
            "state": str(saved.state),
            "is_new": saved.is_new,
        },
        "next": saved.next_steps,
    }


def _report(mined: Mined) -> dict[str, Any]:
    template, plan = mined.template, mined.plan
    provenance = template.provenance
    return {
        "name": template.name,
        "task_type": template.task_type,
        "rules": list(provenance.rules),
        "looked_at": plan.looked_at if plan else 1,
        "qualified": len(plan.qualified) if plan else 1,
        "left_out": dict(plan.left_out) if plan else {},
        "read": provenance.sessions,
        "missing": mined.missing,
        "unverified": plan.unverified if plan and not mined.request.textual else 0,
        "examples": len(template.examples),
        "recoveries": len(template.recoveries),
        "guidance": len(template.guidance),
        "tools": sorted({example.tool for example in template.examples}),
        "bytes": len(canonical_json(template)),
        "redactions": dict(provenance.redactions),
        "flags": list(provenance.flags),
    }


def _print_report(report: dict[str, Any]) -> None:
    console = open_console()
    title = (
        f"{report['name']} ({report['task_type']}): {count(report['examples'], 'example')}, "
        f"{_recoveries(report['recoveries'])}, {count(report['guidance'], 'line')} of guidance, "
        f"{report['bytes']:,} bytes"
    )
    lines = [
        title,
        *_sessions(report),
        f"  redacted: {_counts(report['redactions']) or 'nothing found'}",
    ]
    if report["flags"]:
        lines.append(f"  reads like instructions, look at it: {', '.join(report['flags'])}")
    lines += _saved(report)
    for number, line in enumerate(lines):
        console.print(Text(clean(line), style="" if number else "bold"), soft_wrap=True)


def _sessions(report: dict[str, Any]) -> list[str]:
    gone = f", {report['missing']:,} gone" if report["missing"] else ""
    looked_at = f"{report['looked_at']:,} looked at, {report['qualified']:,} qualify"
    lines = [f"  sessions: {looked_at}, {report['read']:,} read{gone}"]
    if report["left_out"]:
        lines.append(f"  left out: {_counts(report['left_out'])}")
    if report["unverified"]:
        unsure = count(report["unverified"], "call")
        lines.append(
            f"  not taken: {unsure} whose success rests on words alone or on a hidden exit code "
            "(--textual takes them)"
        )
    lines.append("  a session qualifies by:")
    return lines + [f"    - {rule}" for rule in report["rules"]]


def _saved(report: dict[str, Any]) -> list[str]:
    saved = report["saved"]
    if saved is None:
        return ["  not saved (--dry-run)"]
    state = "saved as" if saved["is_new"] else "is there already as"
    return [
        f"  {state} version {saved['version']} ({saved['state']}): {saved['path']}",
        *(f"  next: {command}" for command in report["next"]),
    ]


def _recoveries(number: int) -> str:
    return f"{number} recovery" if number == 1 else f"{number} recoveries"


def _counts(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())
