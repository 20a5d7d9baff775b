"""What ``warmstart doctor`` finds, as a table or as JSON.

JSON is one object: ``schema_version``, ``stores`` (one per place and format; ``counted`` says
whether ``units`` are sessions or files that hold many) and ``absent`` (places looked at in vain).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from warmstart.app import Workspace
from warmstart.cli._output import Column, follow, note, open_console, print_json, print_table
from warmstart.cli._text import clean, count, iso_time, local_time, one_line, readable_size
from warmstart.errors import NotFoundError
from warmstart.sources import READERS, Expiry, Store, StoreReport

SCHEMA_VERSION = 1


def print_formats(*, as_json: bool) -> None:
    """Every reader, by the name that ``--format`` and ``--source`` take."""
    if as_json:
        formats = [{"name": r.name, "title": r.title} for r in READERS.values()]
        print_json({"schema_version": SCHEMA_VERSION, "formats": formats})
        return
    columns = (Column(name="NAME", style="cyan"), Column(name="FORMAT"))
    rows = [(Text(reader.name), Text(reader.title)) for reader in READERS.values()]
    print_table(open_console(), columns, rows)


def print_checkup(*, paths: Sequence[str], as_json: bool, quiet: bool) -> None:
    """Survey and print."""
    workspace = Workspace.open()
    for path in paths:
        if not Path(path).exists():
            raise NotFoundError(f"no such file or folder: {path!r}", wanted=path)
    reports = list(follow(workspace.survey(paths), "stores", quiet=quiet))
    absent = [] if paths else _absent_places(workspace)
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "stores": [_report_json(report, workspace) for report in reports],
                "absent": [{"format": p.reader, "path": str(p.path)} for p in absent],
            }
        )
        return
    console = open_console()
    for report in reports:
        for line in _render_report(report, workspace):
            console.print(line, soft_wrap=True)
    _print_next_step(reports, absent, quiet=quiet)


def _absent_places(workspace: Workspace) -> list[Store]:
    present = workspace.find_stores()
    return [place for place in workspace.list_places() if place not in present]


def _render_report(report: StoreReport, workspace: Workspace) -> Iterator[Text]:
    """A store in two lines, then what the user should know about it."""
    heading = Text(report.title or "unknown format", style="bold cyan")
    yield heading.append(f"  {clean(_short_path(report.path))}", style="default not bold")
    state, style = _state(report)
    yield Text("  ").append(state, style=style).append(f", {_describe_content(report)}")
    for sentence in report.skipped:
        yield Text(f"  {clean(sentence)}", style="dim")
    if report.expiry:
        yield from _render_expiry(report, report.expiry, workspace)


def _state(report: StoreReport) -> tuple[str, str]:
    if report.problem is not None:
        return f"not readable: {clean(report.problem)}", "red"
    return ("readable", "green") if report.units else ("empty", "dim")


def _describe_content(report: StoreReport) -> str:
    if not report.units:
        return "no sessions"
    parts = [count(report.units, report.counted.removesuffix("s")), readable_size(report.bytes)]
    if report.newest:
        parts.append(f"newest {local_time(report.newest)}")
    if report.version:
        parts.append(f"version {one_line(report.version, 24)}")
    return ", ".join(parts)


def _short_path(path: Path) -> str:
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


def _render_expiry(report: StoreReport, expiry: Expiry, workspace: Workspace) -> Iterator[Text]:
    yield Text(
        f"  {report.title} deletes sessions {expiry.period_days:g} days after their last change: "
        f"{expiry.files:,} of {report.units:,} are due within a week, "
        f"the first on {local_time(expiry.first_at)[:10]}.",
        style="yellow",
    )
    yield Text(f"  keep them: {_keep_command(report, workspace)}")


def _keep_command(report: StoreReport, workspace: Workspace) -> str:
    """Writes to where every command finds the sessions again; running it again adds to it."""
    output = shlex.quote(str(workspace.archive / f"{report.reader}.jsonl"))
    return f"warmstart sessions export --source {report.reader} --output {output} --force"


def _print_next_step(
    reports: Sequence[StoreReport], absent: Sequence[Store], *, quiet: bool
) -> None:
    if absent:
        places = ", ".join(f"{p.reader} ({_short_path(p.path)})" for p in absent)
        note(f"\nnot found: {places}", quiet=quiet)
    if any(report.units for report in reports):
        note("\nnext: warmstart sessions list", quiet=quiet)
    else:
        note("\nno sessions found; see what warmstart does with: warmstart demo", quiet=quiet)


def _report_json(report: StoreReport, workspace: Workspace) -> dict[str, Any]:
    expiry = report.expiry
    return {
        "format": report.reader,
        "title": report.title,
        "path": str(report.path),
        "version": report.version,
        "units": report.units,
        "counted": report.counted,
        "bytes": report.bytes,
        "newest": iso_time(report.newest),
        "readable": report.problem is None,
        "problem": report.problem,
        "skipped": list(report.skipped),
        "expiring": None
        if expiry is None
        else {
            "files": expiry.files,
            "period_days": expiry.period_days,
            "first_at": iso_time(expiry.first_at),
            "command": _keep_command(report, workspace),
        },
    }
