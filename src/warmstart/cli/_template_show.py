"""``template show``, ``test`` and ``diff``: what is in a template, as a person reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.templates import (
    find_spec,
    find_to_test,
    open_library,
    try_template,
)
from warmstart.cli._output import note, open_console, print_json
from warmstart.cli._template_list import row_json, say_success
from warmstart.library.evidence import list_evidence
from warmstart.library.gate import say_unreviewed
from warmstart.library.guard import find_flags
from warmstart.library.model import list_review_steps
from warmstart.model import TemplateState
from warmstart.present import clean, count, iso_time, local_time, one_line
from warmstart.template import template_to_dict
from warmstart.template.diff import Change, ChangeKind, diff_templates
from warmstart.template.page import Section, write_page

if TYPE_CHECKING:
    from rich.console import Console

    from warmstart.library import Library, Listed, Stored

SCHEMA_VERSION = 1
SIGNS = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "~"}
COLOURS = {ChangeKind.ADDED: "green", ChangeKind.REMOVED: "red", ChangeKind.CHANGED: "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A warm-up to look at."""

    spec: str
    message: str
    budget: int
    form: str
    unreviewed: bool = False


def print_page(store: str | None, spec: str, *, full: bool, as_json: bool) -> None:
    """The page of one template."""
    with open_library(Workspace.open(), store, read_only=True) as library:
        stored = find_spec(library, spec)
        if as_json:
            print_json({"schema_version": SCHEMA_VERSION, **stored_json(library, stored)})
            return
        print_stored(open_console(), library, stored, full=full)


def print_stored(console: Console, library: Library, stored: Stored, *, full: bool = False) -> None:
    """Head, page, flags and record of a template."""
    listed = _find_listed(library, stored)
    template = stored.template
    title = f"{stored.name}@{stored.version}"
    console.print(Text(clean(f"{title}  {stored.state}"), style="bold"))
    for line in _say_newer(library, stored):
        console.print(Text(clean(line), style="yellow"), soft_wrap=True)
    if template.description:
        console.print(Text(clean(template.description)), soft_wrap=True)
    tags = f", tags {', '.join(template.tags)}" if template.tags else ""
    tokens = f"about {listed.summary.get('tokens', 0):,} tokens"
    console.print(
        Text(clean(f"{template.task_type}{tags}, {tokens}, id {stored.id[:12]}"), style="dim"),
        soft_wrap=True,
    )
    since = local_time(stored.created_at)
    why = f": {stored.reason}" if stored.reason else ""
    console.print(Text(clean(f"made {since}{why}"), style="dim"), soft_wrap=True)
    for section in write_page(template, full=full):
        _print_section(console, section)
    flags = list_evidence(template)
    if flags:
        title = f"FLAGS ({len(flags)}): orders to an agent, or commands to look at first"
        _print_section(console, Section(title, flags), style="bold red")
    _print_section(console, Section("How sessions with it went", tuple(_record(library, listed))))


def _say_newer(library: Library, stored: Stored) -> list[str]:
    """What else there is of this name: a page of one version must not pass for another's."""
    rows = library.versions(stored.name)
    newest = rows[-1]
    if newest.version <= stored.version:
        return []
    spec = f"{stored.name}@{newest.version}"
    is_used = stored.current and stored.state is TemplateState.APPROVED
    shown = f"this is version {stored.version}{', the one in use' if is_used else ''}"
    newer = f"version {newest.version} ({newest.state}) is newer"
    return [
        f"{shown}; {newer}: {list_review_steps(spec)[0]}",
        f"what differs: warmstart template diff {stored.spec} {spec}",
    ]


def stored_json(library: Library, stored: Stored) -> dict[str, Any]:
    """A template with everything known of it, for machines."""
    listed = _find_listed(library, stored)
    return {
        **row_json(listed),
        "path": str(stored.path),
        "flags": list(find_flags(stored.template)),
        "evidence": list(list_evidence(stored.template)),
        "newer": [
            {"version": row.version, "state": str(row.state)}
            for row in library.versions(stored.name)
            if row.version > stored.version
        ],
        "records": [
            {
                "model": row.model, "arm": str(row.arm), "uses": row.uses,
                "successes": row.successes, "failures": row.failures, "calls": row.calls,
                "errors": row.errors,
            }
            for row in (library.db.list_template_records(stored.id) if library.db else ())
        ],
        "verdicts": [
            {
                "model": verdict.model, "text": verdict.text, "numbers": dict(verdict.numbers),
                "decided_at": iso_time(verdict.decided_at),
            }
            for verdict in (library.db.list_verdicts(stored.id) if library.db else ())
        ],
        "template": template_to_dict(stored.template),
    }  # fmt: skip


def print_trial(store: str | None, trial: Trial, *, as_json: bool) -> None:
    """Exactly what would be sent."""
    with open_library(Workspace.open(), store, read_only=True) as library:
        stored = find_to_test(library, trial.spec, unreviewed=trial.unreviewed)
    if stored.state is not TemplateState.APPROVED:
        note(f"unreviewed: {say_unreviewed(stored)}")
    shown = try_template(stored, trial.message, budget=trial.budget, form=trial.form)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **shown})
        return
    console = open_console()
    if isinstance(shown["rendered"], str):
        console.print(Text(clean(shown["rendered"])), soft_wrap=True)
    else:
        print_json(shown["rendered"])
    note(
        f"{shown['tokens']:,} tokens of {trial.budget:,}; used: {', '.join(shown['parts']) or '-'}"
    )
    for reason in shown["left_out"]:
        note(f"left out: {reason}")


def print_diff(store: str | None, old: str, new: str, *, as_json: bool) -> None:
    """What differs."""
    with open_library(Workspace.open(), store, read_only=True) as library:
        one, other = find_spec(library, old), find_spec(library, new)
    changes = diff_templates(one.template, other.template)
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "old": {"name": one.name, "version": one.version, "id": one.id},
                "new": {"name": other.name, "version": other.version, "id": other.id},
                "changes": [change_json(change) for change in changes],
            }
        )
        return
    print_changes(open_console(), changes)
    note(
        f"{count(len(changes), 'change')} from {one.name}@{one.version}"
        f" to {other.name}@{other.version}"
    )


def print_changes(console: Console, changes: list[Change] | tuple[Change, ...]) -> None:
    """One line for each change, and the texts of a changed value below it."""
    for change in changes:
        head = f"{SIGNS[change.kind]} {change.section} {one_line(change.what)}".rstrip()
        console.print(Text(head, style=COLOURS[change.kind]), soft_wrap=True)
        if change.kind is ChangeKind.CHANGED:
            console.print(Text(f"    was {one_line(change.before)}"), soft_wrap=True)
            console.print(Text(f"    is  {one_line(change.after)}"), soft_wrap=True)


def change_json(change: Change) -> dict[str, str]:
    """A change for machines."""
    return {
        "kind": str(change.kind),
        "section": change.section,
        "what": change.what,
        "before": change.before,
        "after": change.after,
    }


def _find_listed(library: Library, stored: Stored) -> Listed:
    rows = library.versions(stored.name)
    return next(row for row in rows if row.version == stored.version)


def _print_section(console: Console, section: Section, style: str = "bold") -> None:
    console.print()
    console.print(Text(clean(section.title), style=style))
    for line in section.lines:
        console.print(Text(clean(f"  {line}")), soft_wrap=True)


def _record(library: Library, listed: Listed) -> list[str]:
    settled = listed.record.successes + listed.record.failures
    used = count(listed.record.uses, "time")
    lines = ["not used yet"]
    if listed.record.uses:
        lines = [f"used {used}, {settled:,} settled, success {say_success(listed)}"]
    if library.db is not None:
        lines += [
            f"{row.model or 'unknown model'}, {row.arm}: {row.uses:,} sessions,"
            f" {row.successes:,} succeeded, {row.failures:,} failed"
            for row in library.db.list_template_records(listed.id)
        ]
        lines += [
            f"{local_time(verdict.decided_at)} {verdict.model}: {verdict.text}"
            for verdict in library.db.list_verdicts(listed.id)
        ]
    return lines
