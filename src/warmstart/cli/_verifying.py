"""``sessions verify``: whether the store is whole, what a damaged one holds, rebuilding it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any

from warmstart.app import Workspace
from warmstart.cli._storing import say
from warmstart.errors import InternalError
from warmstart.present import count
from warmstart.store.backups import Backup, find_newest_backup
from warmstart.store.errors import StoreDamagedError
from warmstart.store.repair import repair_store
from warmstart.store.salvage import Damage, examine
from warmstart.store.verify import ProblemKind, VerifyReport


def run_verify(store: str | None, *, repair: bool, as_json: bool) -> None:
    """Check the store against itself; rebuild its file where that is asked for and needed.

    Raises:
        InternalError: something is wrong, and still is.
    """
    try:
        with Workspace.open().open_store(store, read_only=True) as db:
            report = db.verify()
            path = Path(db.db_path)
    except StoreDamagedError as error:
        path = Path(error.path)
        report = None
    if report is None or _is_damaged(report):
        _answer_damage(path, repair=repair, as_json=as_json)
        return
    problems = [str(problem) for problem in report.problems]
    figures = {"sessions": report.sessions, "messages": report.messages, "problems": problems}
    looked_at = f"{count(report.sessions, 'session')}, {count(report.messages, 'message')}"
    say(figures, "\n".join([looked_at, *problems]), as_json=as_json)
    if problems:
        raise InternalError(
            f"{count(len(problems), 'thing')} in the store differ from what was derived",
            hint="keep what is readable: warmstart sessions export --as warmstart -o FILE",
        )


def _is_damaged(report: VerifyReport) -> bool:
    return any(problem.kind is ProblemKind.DAMAGED_FILE for problem in report.problems)


def _answer_damage(path: Path, *, repair: bool, as_json: bool) -> None:
    damage, backup = examine(path), find_newest_backup(path)
    figures: dict[str, Any] = {
        "sessions": damage.count("sessions"),
        "messages": damage.count("messages"),
        "problems": list(damage.problems),
        "path": str(path),
        "tables": [
            {"name": state.name, "rows": state.rows, "is_whole": state.is_whole}
            for state in damage.tables
        ],
        "backup": None if backup is None else str(backup.path),
    }
    if repair:
        _repair(path, figures, backup, as_json=as_json)
        return
    lines = [*_describe_damage(path, damage), *_describe_backup(backup)]
    say(figures, "\n".join(lines), as_json=as_json)
    raise InternalError(
        f"the store {str(path)!r} is damaged; {_count_both(figures)} can still be read",
        hint="put what can be read into a new file, and keep this one: "
        f"warmstart sessions verify --repair --store {quote(str(path))}",
    )


def _repair(path: Path, figures: dict[str, Any], backup: Backup | None, *, as_json: bool) -> None:
    done = repair_store(path)
    figures |= {
        "sessions": done.sessions,
        "messages": done.messages,
        "missing_messages": done.missing,
        "incomplete": list(done.incomplete),
        "kept": str(done.kept),
    }
    lines = [f"repaired: {_count_both(figures)} in {path}"]
    if done.missing:
        lines.append(f"lost: {count(done.missing, 'message')} that sessions had by their counters")
    if done.incomplete:
        lines.append(f"rows were lost of: {', '.join(done.incomplete)}")
    lines.append(f"the damaged file is kept: {done.kept}")
    lines += _describe_backup(backup)
    if backup is not None:
        command = f"warmstart sessions import {quote(str(backup.path))} --store {quote(str(path))}"
        lines.append(f"to get back what only the backup has: {command}")
    say(figures, "\n".join(lines), as_json=as_json)


def _describe_damage(path: Path, damage: Damage) -> list[str]:
    lines = [f"{path} is damaged. Templates and your agents' own transcripts are other files."]
    if damage.tables:
        lines.append("what can be read:")
    else:
        lines.append("nothing in it can be read")
    lines += [
        f"  {state.name}: {count(state.rows, 'row')}"
        + ("" if state.is_whole else ", more were on damaged pages")
        for state in damage.tables
    ]
    return [*lines, "what SQLite says:", *(f"  {problem}" for problem in damage.problems)]


def _describe_backup(backup: Backup | None) -> list[str]:
    if backup is None:
        return ["no backup was found"]
    when = datetime.fromtimestamp(backup.made_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return [f"newest backup: {backup.path} of {when}, {count(backup.sessions, 'session')}"]


def _count_both(figures: dict[str, Any]) -> str:
    sessions, messages = figures["sessions"], figures["messages"]
    return f"{count(sessions, 'session')} and {count(messages, 'message')}"
