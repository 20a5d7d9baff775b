"""``warmstart sessions search, import, prune, verify, backup``: the live store from outside.

``sessions`` needs these commands for its help, so what they load is imported when one runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from warmstart.cli._filters import session_filters
from warmstart.cli._output import follow, note, open_console, print_json, report_skips
from warmstart.errors import InternalError
from warmstart.present import clean, count

if TYPE_CHECKING:
    from warmstart.app import Backup, Damage, RepairResult, StoreCheck, VerifyReport
    from warmstart.model import Session

SCHEMA_VERSION = 1
_STORE = click.option("--store", metavar="PATH|URL",
                      help="The store: a file or a postgresql:// address; else the one in the "
                      "workspace.")  # fmt: skip
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")


@click.command("search")
@click.argument("query")
@_STORE
@click.option("--role", "roles", multiple=True, metavar="ROLE", help="Only messages of this role.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
              help="Show the N best.")  # fmt: skip
@_JSON
def search_messages(
    *, query: str, store: str | None, roles: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """Find messages of the live store by their words.

    Any text is a query: words are all wanted, "words in quotes" side by side, word* by its
    beginning; OR and NOT work between two words.
    """
    from rich.text import Text  # noqa: PLC0415 - keeps --help light

    from warmstart.app import Workspace  # noqa: PLC0415 - same

    with Workspace.open().open_store(store, read_only=True) as db:
        found = db.search_messages(query, role_filter=list(roles) or None, limit=limit)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "query": query, "matches": found})
        return
    console = open_console()
    for match in found:
        console.print(Text(clean(f"{match['session_id']}  {match['role']}"), style="bold"))
        console.print(Text(clean(f"  {match.get('snippet') or ''}")), soft_wrap=True)
    note(f"{count(len(found), 'hit')} for {query!r}")


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_STORE
@session_filters
@_JSON
@_QUIET
def import_sessions(
    *, paths: tuple[str, ...], store: str | None, as_json: bool, quiet: bool, **filters: Any
) -> None:
    """Take sessions of any format into the live store; importing twice changes nothing."""
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        ReadLog,
        Workspace,
    )
    from warmstart.app import store as use_cases  # noqa: PLC0415 - same
    from warmstart.model import Selection  # noqa: PLC0415 - same

    def watch(sessions: Iterator[Session]) -> Iterable[Session]:
        return follow(sessions, "sessions", quiet=quiet)

    log, selection = ReadLog(), Selection(paths=paths, **filters)
    report = use_cases.import_sessions(Workspace.open(), selection, log, watch, store)
    report_skips(log, quiet=quiet)
    words = {"conflicts": "in conflict with another of the same id"}
    counts = ", ".join(
        f"{report[name]:,} {words.get(name, name)}" for name in report if name != "errors"
    )
    _answer(report, counts, as_json=as_json)
    if not as_json:
        for problem in report["errors"]:
            note(f"not imported: {problem}", quiet=quiet)


@click.command("prune")
@_STORE
@click.option("--older-than", "days", type=click.FloatRange(min=0), default=90.0, metavar="DAYS",
              show_default=True, help="Only sessions begun longer ago.")  # fmt: skip
@click.option("--source", metavar="NAME", help="Only sessions of this source.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@_JSON
def prune_sessions(
    *, store: str | None, days: float, source: str | None, yes: bool, as_json: bool
) -> None:
    """Delete ended sessions of the live store that are older than DAYS."""
    from warmstart.app import Workspace  # noqa: PLC0415 - keeps --help light

    if not yes:
        click.confirm(f"Delete ended sessions older than {days:g} days?", abort=True, err=True)
    with Workspace.open().open_store(store) as db:
        deleted = db.prune_sessions(days, source)
    _answer({"deleted": deleted}, f"{count(deleted, 'session')} deleted", as_json=as_json)


@click.command("verify")
@_STORE
@click.option("--repair", is_flag=True, help="Rebuild a damaged store from what can be read.")
@_JSON
def verify_store(*, store: str | None, repair: bool, as_json: bool) -> None:
    """Check the live store, and rebuild a damaged one; exit 1 if anything is wrong.

    Every hash and counter is derived again. Of a damaged file it is shown what can still be read;
    --repair puts that into a new file in its place and keeps the damaged one beside it. Stop what
    writes to the store first.
    """
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        Workspace,
        check_store,
    )

    check = check_store(Workspace.open(), store, repair=repair)
    if check.report is not None:
        _answer_report(check.report, as_json=as_json)
    elif check.damage is not None:
        _answer_damage(check, check.damage, as_json=as_json)


@click.command("backup")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@_STORE
@_JSON
def backup_store(*, target: Path, store: str | None, as_json: bool) -> None:
    """Copy the live store to a new file while it is in use."""
    from warmstart.app import Workspace  # noqa: PLC0415 - keeps --help light

    with Workspace.open().open_store(store, read_only=True) as db:
        path = db.backup(target)
    _answer({"path": str(path)}, f"written to {path}", as_json=as_json)


STORE_COMMANDS = (search_messages, import_sessions, prune_sessions, verify_store, backup_store)


def _answer(figures: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print one answer, as figures for machines or as text."""
    from rich.text import Text  # noqa: PLC0415 - keeps --help light

    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **figures})
    else:
        open_console().print(Text(clean(text)), soft_wrap=True)


def _answer_report(report: VerifyReport, *, as_json: bool) -> None:
    """Print what differs in a store that can be read.

    Raises:
        InternalError: something does.
    """
    problems = [str(problem) for problem in report.problems]
    figures = {"sessions": report.sessions, "messages": report.messages, "problems": problems}
    looked_at = f"{count(report.sessions, 'session')}, {count(report.messages, 'message')}"
    _answer(figures, "\n".join([looked_at, *problems]), as_json=as_json)
    if problems:
        raise InternalError(
            f"{count(len(problems), 'thing')} in the store differ from what was derived",
            hint="keep what is readable: warmstart sessions export --as warmstart -o FILE",
        )


def _answer_damage(check: StoreCheck, damage: Damage, *, as_json: bool) -> None:
    """Print what a damaged file holds, or what its repair did.

    Raises:
        InternalError: it was not repaired.
    """
    path, backup = check.path, check.backup
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
    if check.repair is not None:
        figures |= _count_repaired(check.repair)
        lines = _describe_repair(path, check.repair, backup)
        _answer(figures, "\n".join(lines), as_json=as_json)
        return
    lines = [*_describe_damage(path, damage), _describe_backup(backup)]
    _answer(figures, "\n".join(lines), as_json=as_json)
    both = _count_both(figures["sessions"], figures["messages"])
    raise InternalError(
        f"the store {str(path)!r} is damaged; {both} can still be read",
        hint="put what can be read into a new file, and keep this one: "
        f"warmstart sessions verify --repair --store {quote(str(path))}",
    )


def _count_repaired(done: RepairResult) -> dict[str, Any]:
    return {
        "sessions": done.sessions,
        "messages": done.messages,
        "missing_messages": done.missing,
        "incomplete": list(done.incomplete),
        "kept": str(done.kept),
    }


def _describe_repair(path: Path, done: RepairResult, backup: Backup | None) -> list[str]:
    lines = [f"repaired: {_count_both(done.sessions, done.messages)} in {path}"]
    if done.missing:
        lines.append(f"lost: {count(done.missing, 'message')} that sessions had by their counters")
    if done.incomplete:
        lines.append(f"rows were lost of: {', '.join(done.incomplete)}")
    lines += [f"the damaged file is kept: {done.kept}", _describe_backup(backup)]
    if backup is not None:
        command = f"warmstart sessions import {quote(str(backup.path))} --store {quote(str(path))}"
        lines.append(f"to get back what only the backup has: {command}")
    return lines


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


def _describe_backup(backup: Backup | None) -> str:
    if backup is None:
        return "no backup was found"
    when = datetime.fromtimestamp(backup.made_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"newest backup: {backup.path} of {when}, {count(backup.sessions, 'session')}"


def _count_both(sessions: int, messages: int) -> str:
    return f"{count(sessions, 'session')} and {count(messages, 'message')}"
