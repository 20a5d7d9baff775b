"""Starts of sessions as documents: warm-ups, launches, settings, and what became of them.

A warm start must be quick, so nothing here loads a stage.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from warmstart.present.document import Block, Column, Document, StyledText, Table, Text
from warmstart.present.text import count, iso_time, local_time

if TYPE_CHECKING:
    from warmstart.app import Ranked, Rendered, Synced, SyncReport, WarmStart

__all__ = [
    "describe_start",
    "describe_sync",
    "install_document",
    "installed_document",
    "launch_document",
    "sync_document",
    "warm_document",
]

SCHEMA_VERSION = 1
SUCCESS = {True: "yes", False: "no", None: "-"}
RANKING = (
    Column("TEMPLATE", 40, style="name"),
    *(Column(name, right=True) for name in ("FIT", "FRESH", "SUCCESS", "DRAW", "USES")),
    *(Column(name, right=True) for name in ("VALUE", "SCORE")),
    Column("NOTE"),
)
STARTS = (
    Column("START", right=True),
    Column("WHEN"),
    Column("AGENT"),
    Column("ARM"),
    Column("TEMPLATE", 30),
    Column("CALLS", right=True),
    Column("ERR", right=True),
    Column("DONE"),
    Column("RESULT"),
    Column("SESSION"),
)


def warm_document(start: WarmStart, rendered: Rendered, form: str) -> Document:
    """What a session would start with, in one form."""
    warmup, choice = start.warmup, start.choice
    content = rendered.files or rendered.text or rendered.body
    return Document(
        title="",
        blocks=list(_show_ranking(start)),
        data={
            "schema_version": SCHEMA_VERSION,
            "template": choice.template,
            "version": start.version,
            "unreviewed": bool(start.unreviewed),
            "template_id": warmup.template_id or None,
            "arm": str(choice.arm),
            "reason": choice.reason,
            "task_type": choice.task_type,
            "form": form,
            "tokens": warmup.tokens,
            "parts": list(warmup.parts),
            "left_out": list(warmup.left_out),
            "ranking": [asdict(one) for one in choice.ranking],
            "start": start.start,
            "path": rendered.path or None,
            "content": content if start.is_warm else None,
        },
    )


def describe_start(start: WarmStart) -> str:
    """Which template was taken and why, or why none."""
    if not start.is_warm:
        return str(start)
    left = start.warmup.left_out
    more = f", {count(len(left), 'part')} left out" if left else ""
    return f"{start}{more} ({start.reason})"


def _show_ranking(start: WarmStart) -> Iterator[Block]:
    """The templates that were looked at, then each part that is in and each that is not."""
    if start.choice.ranking:
        yield Table(columns=RANKING, rows=[_rank_cells(one) for one in start.choice.ranking])
    for title, parts in (("in", start.warmup.parts), ("out", start.warmup.left_out)):
        yield from (Text(f"{title:<4}{part}", whole=True) for part in parts)


def _rank_cells(one: Ranked) -> list[str | StyledText]:
    numbers = (f"{one.fit:.2f}", f"{one.freshness:.0%}", f"{one.mean:.2f}", f"{one.draw:.2f}")
    return [one.name, *numbers, f"{one.uses:,}", f"{one.value:.2f}", f"{one.score:.2f}", one.note]


def launch_document(
    *,
    command: Sequence[str],
    environ: Mapping[str, str],
    files: Sequence[tuple[str, int]],
    arm: str | None,
    template: str | None,
    unreviewed: bool,
    reason: str,
) -> Document:
    """What would be started: files with their bytes, then the command with what is added to it."""
    words = [f"{name}={shlex.quote(value)}" for name, value in environ.items()]
    lines = [f"file: {path} ({size:,} bytes)" for path, size in files]
    lines.append(" ".join([*words, shlex.join(command)]))
    return Document(
        title="",
        blocks=[Text(line, whole=True) for line in lines],
        data={
            "schema_version": SCHEMA_VERSION,
            "command": list(command),
            "environ": dict(environ),
            "files": [{"path": path, "bytes": size} for path, size in files],
            "arm": arm,
            "template": template,
            "unreviewed": unreviewed,
            "reason": reason,
        },
    )


def install_document(
    agent: str,
    changes: Sequence[tuple[str, str, str]],
    command: Sequence[str],
    notes: Sequence[str],
) -> Document:
    """What an agent needs: each file with its reason and what to add, and a command to run."""
    blocks: list[Block] = []
    for path, why, text in changes:
        blocks += [Text(f"# {path}: {why}", whole=True), Text(f"{text}\n", whole=True)]
    if command:
        blocks.append(Text(" ".join(command), whole=True))
    blocks += [Text(f"# {line}", whole=True) for line in notes]
    fields = [dict(zip(("path", "why", "add"), change, strict=True)) for change in changes]
    return Document(
        title="",
        blocks=blocks,
        data={
            "schema_version": SCHEMA_VERSION,
            "agent": agent,
            "changes": fields,
            "command": list(command),
            "notes": list(notes),
        },
    )


def installed_document(agent: str, done: Sequence[tuple[str, str]]) -> Document:
    """What became of each change: the place and the result."""
    return Document(
        title="",
        blocks=[Text(f"{result}: {where}", whole=True) for where, result in done],
        data={
            "schema_version": SCHEMA_VERSION,
            "agent": agent,
            "done": [{"where": where, "result": result} for where, result in done],
        },
    )


def sync_document(report: SyncReport, skipped: Sequence[Mapping[str, Any]] = ()) -> Document:
    """What became of each start that was still open."""
    from warmstart.app import SyncResult  # noqa: PLC0415 - loads the facts

    table = Table(columns=STARTS, rows=[_sync_cells(row) for row in report.rows])
    return Document(
        title="",
        blocks=[table] if report.rows else [],
        data={
            "schema_version": SCHEMA_VERSION,
            "starts": [_list_sync_fields(row) for row in report.rows],
            "totals": {str(result): report.count(result) for result in SyncResult},
            "retired": [
                {"name": name, "version": version, "reason": reason}
                for name, version, reason in report.retired
            ],
            "skipped": list(skipped),
        },
    )


def describe_sync(report: SyncReport) -> list[str]:
    """Templates that were retired, and how many starts came to what."""
    from warmstart.app import SyncResult  # noqa: PLC0415 - loads the facts

    if not report.rows:
        return ["no start is waiting to be settled; see: warmstart run"]
    counts = [f"{report.count(result):,} {result}" for result in SyncResult if report.count(result)]
    return [
        *(f"{name}@{version}: {reason}" for name, version, reason in report.retired),
        f"{count(len(report.rows), 'start')}: {', '.join(counts)}",
    ]


def _sync_cells(row: Synced) -> list[str | StyledText]:
    start = row.start
    template = f"{start.template}@{start.version}" if start.template else "-"
    numbers = ["-" if value is None else f"{value:,}" for value in (row.calls, row.errors)]
    cells = [str(start.id), local_time(start.started_at), start.agent, str(start.arm), template]
    return [*cells, *numbers, SUCCESS[row.success], str(row.result), row.session_id or "-"]


def _list_sync_fields(row: Synced) -> dict[str, Any]:
    start = row.start
    return {
        "start": start.id,
        "started_at": iso_time(start.started_at),
        "agent": start.agent,
        "model": start.model,
        "arm": str(start.arm),
        "template": start.template,
        "version": start.version,
        "form": start.form,
        "result": str(row.result),
        "session": row.session_id,
        "calls": row.calls,
        "errors": row.errors,
        "success": row.success,
    }
