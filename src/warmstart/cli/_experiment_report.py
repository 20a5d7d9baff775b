"""The report of an experiment: terminal, JSON, Markdown or one HTML page, good or bad alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.experiment_verdicts import read_report, record_verdicts
from warmstart.cli._output import note, open_console, print_json, write_bytes
from warmstart.experiment.report import Subject, list_blocks, write_markdown, write_page
from warmstart.experiment.verdict import to_dict
from warmstart.present import clean, count

SCHEMA_VERSION = 1
LABEL_WIDTH = 10
STDOUT = "-"


def print_report(
    name: str, *, as_json: bool, markdown: str | None, html: Path | None, force: bool
) -> None:
    """Everything the verdict rests on; a decided verdict goes into the templates' records."""
    workspace = Workspace.open()
    subject = read_report(workspace, name)
    recorded = record_verdicts(workspace, subject)
    if html is not None:
        _write(workspace, html, write_page(subject), force=force)
    if markdown is not None and markdown != STDOUT:
        _write(workspace, Path(markdown), write_markdown(subject), force=force)
    if as_json:
        print_json(build_report(subject))
    elif markdown == STDOUT:
        write_bytes(write_markdown(subject).encode("utf-8", "replace"))
    elif html is None and markdown is None:
        _print_blocks(subject)
    if recorded:
        note(f"{count(recorded, 'verdict')} recorded: warmstart template list")


def _write(workspace: Workspace, path: Path, text: str, *, force: bool) -> None:
    workspace.write_file(path, [text.encode("utf-8", "replace")], overwrite=force)
    note(f"written: {path}")


def _print_blocks(subject: Subject) -> None:
    console = open_console()
    for label, lines in list_blocks(subject):
        for line in lines:
            console.print(_line(label, line), soft_wrap=True)
            label = ""  # noqa: PLW2901 - only the first line of a block has it


def build_report(subject: Subject) -> dict[str, Any]:
    """The report for machines."""
    plan = subject.plan
    return {
        "schema_version": SCHEMA_VERSION,
        "name": plan.name,
        "plan": subject.hash,
        "registered": plan.registered,
        "done": subject.done,
        "total": subject.total,
        "decided": subject.decided,
        "excluded_tasks": list(plan.tasks.excluded),
        "templates": dict(plan.templates),
        "deviations": [change._asdict() for change in subject.changes],
        "unreadable_lines": subject.unreadable,
        "smallest": to_dict(subject.smallest),
        "verdict": to_dict(subject.verdict),
    }


def _line(label: str, text: str) -> Text:
    return Text(f"{label:<{LABEL_WIDTH}}", style="bold").append(clean(text), style="not bold")
