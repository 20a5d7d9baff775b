"""Templates as a listing, and what became of one: approved, retired, rolled back, deleted.

A listing stays light, so nothing here loads the contents of templates.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warmstart.model import TemplateState
from warmstart.present.document import Column, Document, StyledText, Table, Text
from warmstart.present.text import count, iso_time, one_line, readable_duration

if TYPE_CHECKING:
    from warmstart.app import Approval
    from warmstart.library import TemplateVersion

__all__ = [
    "approved_document",
    "deleted_document",
    "describe_success",
    "describe_templates",
    "retired_document",
    "rolled_back_document",
    "templates_document",
    "version_fields",
]

SCHEMA_VERSION = 1
STATES = {"approved": "good", "quarantined": "warn", "retired": "muted"}
VERDICTS = {"better": "good", "worse": "bad", "invalid": "bad"}
COLUMNS = (
    Column("NAME", 40, style="name"),
    Column("VER", right=True),
    Column("TYPE", 12, priority=4),
    Column("EX", right=True, priority=5),
    Column("TOKENS", right=True, priority=2),
    Column("USES", right=True, priority=3),
    Column("SUCCESS", right=True, priority=1),
    Column("VERDICT"),
    Column("STATE"),
    Column("AGE", right=True, priority=3),
    Column("DESCRIPTION", priority=6),
)


def templates_document(rows: Sequence[TemplateVersion], *, of_one: bool = False) -> Document:
    """A row per template, or per version of one."""
    table = Table(columns=COLUMNS, rows=[_make_cells(row, of_one=of_one) for row in rows])
    return Document(
        title="",
        blocks=[table] if rows else [],
        data={
            "schema_version": SCHEMA_VERSION,
            "templates": [version_fields(row) for row in rows],
        },
    )


def describe_templates(rows: Sequence[TemplateVersion], *, of_one: bool = False) -> str:
    """How many there are, and how many wait for a review."""
    if not rows:
        return "no templates; make one: warmstart template auto, or: warmstart template build"
    waiting = sum(row.state is TemplateState.QUARANTINED for row in rows)
    review = f", {waiting} to review" if waiting else ""
    return count(len(rows), "version" if of_one else "template") + review


def _make_cells(info: TemplateVersion, *, of_one: bool) -> list[str | StyledText]:
    mark = "*" if of_one and info.current else ""
    newer = "+" if info.newest > info.version and not of_one else ""
    verdict = one_line(info.verdict)
    return [
        info.name,
        f"{mark}{info.version}{newer}",
        one_line(info.task_type) or "-",
        f"{info.summary.get('examples', 0):,}",
        f"{info.summary.get('tokens', 0):,}",
        f"{info.record.uses:,}",
        describe_success(info),
        StyledText(verdict or "-", VERDICTS.get(verdict.partition(" ")[0], "")),
        StyledText(f"{info.state}{' !' if info.flags else ''}", STATES.get(info.state, "")),
        readable_duration(max(time.time() - info.created_at, 0.0)),
        one_line(info.reason if info.state == "retired" else info.description),
    ]


def describe_success(info: TemplateVersion) -> str:
    """The share of settled sessions that did their task, with its 95 % interval."""
    interval, rate = info.record.success_interval, info.record.success_rate
    return f"{rate:.0%} ({interval[0]:.0%}-{interval[1]:.0%})" if interval else "-"


def version_fields(info: TemplateVersion) -> dict[str, Any]:
    """A version for machines."""
    record = info.record
    interval = record.success_interval
    return {
        "name": info.name,
        "version": info.version,
        "id": info.id,
        "state": str(info.state),
        "reason": info.reason,
        "current": info.current,
        "versions": info.versions,
        "newest": info.newest,
        "created_at": iso_time(info.created_at),
        **{key: value for key, value in info.summary.items() if key != "markers"},
        "uses": record.uses,
        "settled": record.settled,
        "successes": record.successes,
        "success_rate": record.success_rate,
        "success_interval": list(interval) if interval else None,
        "verdict": info.verdict or None,
    }


def approved_document(done: Approval) -> Document:
    """A version that was approved, and what that changed."""
    from warmstart.present.template import change_fields  # noqa: PLC0415 - not for listings

    return _make_state(
        done.info,
        f"{done.info.spec} is approved and in use",
        replaces=done.replaces.version if done.replaces else None,
        changes=[change_fields(change) for change in done.changes],
    )


def retired_document(info: TemplateVersion) -> Document:
    """A version that was taken out of use."""
    return _make_state(info, f"{info.spec} is retired")


def rolled_back_document(info: TemplateVersion) -> Document:
    """An older version that is the current one again, and whether it can be used."""
    approve = info.review_steps[1]
    use = ""
    if info.state is TemplateState.DRAFT:
        use = f"; it is a draft: used only by name and with --unreviewed, until: {approve}"
    elif info.state is not TemplateState.APPROVED:
        use = f"; it is {info.state}, so it is never used, until: {approve}"
    return _make_state(info, f"{info.name} means version {info.version} again{use}")


def deleted_document(name: str, deleted: int) -> Document:
    """How many versions of a template were deleted."""
    return Document(
        title="",
        blocks=[Text(f"{count(deleted, 'version')} of {name} deleted")],
        data={"schema_version": SCHEMA_VERSION, "name": name, "deleted": deleted},
    )


def _make_state(info: TemplateVersion, sentence: str, **more: Any) -> Document:
    return Document(
        title="",
        blocks=[Text(sentence, whole=True)],
        data={
            "schema_version": SCHEMA_VERSION,
            "name": info.name,
            "version": info.version,
            "id": info.id,
            "state": str(info.state),
            "reason": info.reason,
            "current": info.current,
            **more,
        },
    )
