"""What is on this machine, as documents: session stores, formats, and the index of facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from warmstart.app import DoctorResult, FactsStatus
from warmstart.present.document import (
    Block,
    Column,
    Data,
    Document,
    NextSteps,
    StyledText,
    Table,
    Text,
)
from warmstart.present.text import (
    count,
    iso_time,
    local_time,
    one_line,
    readable_size,
    short_path,
)
from warmstart.sources import Expiry, StoreReport

__all__ = [
    "doctor_document",
    "facts_document",
    "facts_fields",
    "formats_document",
    "overview_document",
]

SCHEMA_VERSION = 1


def doctor_document(result: DoctorResult) -> Document:
    """Each store in two lines, what the user should know about it, then what to do next."""
    blocks: list[Block] = [Data(partial(_list_fields, result))]
    for report in result.reports:
        blocks += _show_report(report, result)
    if result.absent:
        places = ", ".join(f"{p.reader} ({short_path(p.path)})" for p in result.absent)
        blocks += [Text(""), Text(f"not found: {places}", "muted")]
    if any(report.units for report in result.reports):
        steps = [
            ("warmstart profile", "how reliable your agent is, and where it fails"),
            ("warmstart sessions list", "your sessions, newest first"),
        ]
    else:
        steps = [("warmstart demo", "no sessions were found; see what warmstart does with some")]
    return Document(title="", blocks=[*blocks, NextSteps(steps)])


def overview_document(result: DoctorResult) -> Document:
    """What a first look shows: the sessions that are here, and what to do with them."""
    blocks: list[Block] = []
    for report in result.reports:
        if report.units:
            blocks += _show_report(report, result)
    if blocks:
        steps = [("warmstart profile", "how reliable your agent is, and where it fails")]
    else:
        blocks = [Text("No sessions were found on this machine.")]
        steps = [("warmstart demo", "see what warmstart does, on sample sessions"),
                 ("warmstart doctor", "where it looked for sessions")]  # fmt: skip
    steps.append(("warmstart --help", "every command"))
    return Document(
        title="warmstart reads your agents' sessions and says where they fail and why.",
        blocks=[Text(""), *blocks, NextSteps(steps)],
    )


def _show_report(report: StoreReport, result: DoctorResult) -> Iterator[Block]:
    title = StyledText(report.title or "unknown format", "strong name")
    yield Text([title, f"  {short_path(report.path)}"], whole=True)
    if report.problem is not None:
        state = StyledText(f"not readable: {report.problem}", "bad")
    else:
        state = StyledText("readable", "good") if report.units else StyledText("empty", "muted")
    yield Text([state, f", {_describe_content(report)}"], indent=2)
    for sentence in report.skipped:
        yield Text(sentence, "muted", indent=2)
    if report.expiry:
        yield Text(_describe_expiry(report, report.expiry), "warn", indent=2)
        command = StyledText(result.keep_command(report), "code")
        yield Text(["keep them: ", command], indent=2, whole=True)


def _describe_content(report: StoreReport) -> str:
    if not report.units:
        return "no sessions"
    parts = [count(report.units, report.counted.removesuffix("s")), readable_size(report.bytes)]
    if report.newest:
        parts.append(f"newest {local_time(report.newest)}")
    if report.version:
        parts.append(f"version {one_line(report.version, 24)}")
    return ", ".join(parts)


def _describe_expiry(report: StoreReport, expiry: Expiry) -> str:
    return (
        f"{report.title} deletes sessions {expiry.period_days:g} days after their last change: "
        f"{expiry.files:,} of {report.units:,} are due within a week, "
        f"the first on {local_time(expiry.first_at)[:10]}."
    )


def _list_fields(result: DoctorResult) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "stores": [_list_report_fields(report, result) for report in result.reports],
        "absent": [{"format": p.reader, "path": str(p.path)} for p in result.absent],
    }


def _list_report_fields(report: StoreReport, result: DoctorResult) -> dict[str, Any]:
    expiry = report.expiry
    return {
        "format": report.reader,
        "title": report.title,
        "path": str(report.path),
        "version": None if report.version is None else one_line(report.version),
        "units": report.units,
        "counted": report.counted,
        "bytes": report.bytes,
        "newest": iso_time(report.newest),
        "readable": report.problem is None,
        "problem": None if report.problem is None else one_line(report.problem),
        "skipped": list(map(one_line, report.skipped)),
        "expiring": None
        if expiry is None
        else {
            "files": expiry.files,
            "period_days": expiry.period_days,
            "first_at": iso_time(expiry.first_at),
            "command": result.keep_command(report),
        },
    }


def formats_document(formats: Sequence[tuple[str, str]]) -> Document:
    """Every format that can be read, by the name that ``--format`` and ``--source`` take."""
    fields = [{"name": name, "title": title} for name, title in formats]
    table = Table(columns=(Column("name", style="name"), Column("format")), rows=formats)
    return Document(
        title="", blocks=[table], data={"schema_version": SCHEMA_VERSION, "formats": fields}
    )


def facts_document(path: Path, status: FactsStatus | None) -> Document:
    """Where the index of facts is and what it holds."""
    blocks: list[Block]
    if status is None:
        steps = NextSteps([("warmstart sessions list", "reads your sessions and builds it")])
        blocks = [Text(f"no index yet: {path}", whole=True), steps]
    else:
        held = f"{count(status.sessions, 'session')}, {count(status.calls, 'call')}"
        size = f"{count(status.units, 'source')}, {readable_size(status.bytes)}"
        blocks = [Text(str(status.path), whole=True), Text(f"{held} from {size}")]
    return Document(title="", blocks=blocks, data=facts_fields(path, status))


def facts_fields(path: Path, status: FactsStatus | None) -> dict[str, Any]:
    """The index in a few figures, for machines."""
    return {
        "schema_version": SCHEMA_VERSION,
        "path": str(path),
        "exists": status is not None,
        "bytes": status.bytes if status else 0,
        "units": status.units if status else 0,
        "sessions": status.sessions if status else 0,
        "calls": status.calls if status else 0,
    }
