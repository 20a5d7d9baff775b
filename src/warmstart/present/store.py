"""The live store, as documents: hits, imports, and the state of its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from warmstart.present.document import Block, Document, Text
from warmstart.present.text import count

if TYPE_CHECKING:
    from warmstart.app import Backup, Damage, RepairResult, StoreCheck, VerifyReport

__all__ = [
    "backup_document",
    "checked_document",
    "count_both",
    "import_document",
    "pruned_document",
    "search_document",
]

SCHEMA_VERSION = 1
RESULTS = {"conflicts": "in conflict with another of the same id"}


def search_document(query: str, found: Sequence[Mapping[str, Any]]) -> Document:
    """Messages that match, each under its session."""
    blocks: list[Block] = []
    for match in found:
        blocks.append(Text(f"{match['session_id']}  {match['role']}", "strong", whole=True))
        blocks.append(Text(str(match.get("snippet") or ""), indent=2, whole=True))
    return Document(
        title="",
        blocks=blocks,
        data={"schema_version": SCHEMA_VERSION, "query": query, "matches": list(found)},
    )


def import_document(report: Mapping[str, Any]) -> Document:
    """How many sessions were imported, and which were not."""
    counts = ", ".join(
        f"{report[name]:,} {RESULTS.get(name, name)}" for name in report if name != "errors"
    )
    return _make_answer(counts, *(f"not imported: {one}" for one in report["errors"]), **report)


def pruned_document(deleted: int) -> Document:
    """How many sessions were deleted."""
    return _make_answer(f"{count(deleted, 'session')} deleted", deleted=deleted)


def backup_document(path: Path) -> Document:
    """Where the copy is."""
    return _make_answer(f"written to {path}", path=str(path))


def checked_document(check: StoreCheck) -> Document:
    """What a check of the store found, or what a repair did."""
    if check.damage is not None:
        return _show_damage(check, check.damage)
    return _show_report(check.report) if check.report is not None else _make_answer()


def count_both(sessions: int, messages: int) -> str:
    """Sessions and messages in words."""
    return f"{count(sessions, 'session')} and {count(messages, 'message')}"


def _show_report(report: VerifyReport) -> Document:
    problems = [str(problem) for problem in report.problems]
    held = f"{count(report.sessions, 'session')}, {count(report.messages, 'message')}"
    return _make_answer(
        held, *problems, sessions=report.sessions, messages=report.messages, problems=problems
    )


def _show_damage(check: StoreCheck, damage: Damage) -> Document:
    backup = check.backup
    fields: dict[str, Any] = {
        "sessions": damage.count("sessions"),
        "messages": damage.count("messages"),
        "problems": list(damage.problems),
        "path": str(check.path),
        "tables": [
            {"name": state.name, "rows": state.rows, "is_whole": state.is_whole}
            for state in damage.tables
        ],
        "backup": None if backup is None else str(backup.path),
    }
    if check.repair is None:
        lines = [*_list_damage(check.path, damage), _describe_backup(backup)]
        return _make_answer(*lines, **fields)
    fields |= {
        "sessions": check.repair.sessions,
        "messages": check.repair.messages,
        "missing_messages": check.repair.missing,
        "incomplete": list(check.repair.incomplete),
        "kept": str(check.repair.kept),
    }
    return _make_answer(*_list_repair(check.path, check.repair, backup), **fields)


def _list_repair(path: Path, done: RepairResult, backup: Backup | None) -> list[str]:
    lines = [f"repaired: {count_both(done.sessions, done.messages)} in {path}"]
    if done.missing:
        lines.append(f"lost: {count(done.missing, 'message')} that sessions had by their counters")
    if done.incomplete:
        lines.append(f"rows were lost of: {', '.join(done.incomplete)}")
    lines += [f"the damaged file is kept: {done.kept}", _describe_backup(backup)]
    if backup is not None:
        command = f"warmstart sessions import {quote(str(backup.path))} --store {quote(str(path))}"
        lines.append(f"to get back what only the backup has: {command}")
    return lines


def _list_damage(path: Path, damage: Damage) -> list[str]:
    return [
        f"{path} is damaged. Templates and your agents' own transcripts are other files.",
        "what can be read:" if damage.tables else "nothing in it can be read",
        *(
            f"  {state.name}: {count(state.rows, 'row')}"
            + ("" if state.is_whole else ", more were on damaged pages")
            for state in damage.tables
        ),
        "what SQLite reports:",
        *(f"  {problem}" for problem in damage.problems),
    ]


def _describe_backup(backup: Backup | None) -> str:
    if backup is None:
        return "no backup was found"
    when = datetime.fromtimestamp(backup.made_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"newest backup: {backup.path} of {when}, {count(backup.sessions, 'session')}"


def _make_answer(*lines: str, **fields: Any) -> Document:
    return Document(
        title="",
        blocks=[Text(line, whole=True) for line in lines],
        data={"schema_version": SCHEMA_VERSION, **fields},
    )
