"""What the commands on the live store do: open it through the workspace, act, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from warmstart.app import Workspace
from warmstart.cli._output import follow, note, open_console, print_json, report_skips
from warmstart.cli._text import clean, count
from warmstart.export import export_store
from warmstart.export.store import LIVE_STORE
from warmstart.model import Selection, Session
from warmstart.sources import ReadLog
from warmstart.store import SessionDB

SCHEMA_VERSION = 1


def print_matches(
    store: str | None, query: str, *, roles: list[str], limit: int, as_json: bool
) -> None:
    """Messages that match, best first, each with the words around the match."""
    with Workspace.open().open_store(store, read_only=True) as db:
        found = db.search_messages(query, role_filter=roles or None, limit=limit)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "query": query, "matches": found})
        return
    console = open_console()
    for match in found:
        console.print(Text(clean(f"{match['session_id']}  {match['role']}"), style="bold"))
        console.print(Text(clean(f"  {match.get('snippet') or ''}")), soft_wrap=True)
    note(f"{count(len(found), 'hit')} for {query!r}")


def run_import(store: str | None, selection: Selection, *, as_json: bool, quiet: bool) -> None:
    """Sessions stream from their sources into the store; what was there already stays."""
    workspace = Workspace.open()
    log = ReadLog()
    with workspace.open_store(store) as db:
        found = follow(workspace.read_sessions(selection, log), "sessions", quiet=quiet)
        report = db.import_sessions(export_store(one) for one in found if not _is_of(db, one))
    report_skips(log, quiet=quiet)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **report})
        return
    words = {"conflicts": "in conflict with another of the same id"}
    counts = ", ".join(
        f"{report[name]:,} {words.get(name, name)}" for name in report if name != "errors"
    )
    open_console().print(Text(counts))
    for problem in report["errors"]:
        note(f"not imported: {problem}", quiet=quiet)


def _is_of(db: SessionDB, session: Session) -> bool:
    """Whether the session was read from the very store it would go into."""
    if isinstance(db.db_path, str) or session.origin != LIVE_STORE or session.path is None:
        return False
    return Path(session.path).samefile(db.db_path)


def run_prune(store: str | None, days: float, source: str | None, *, as_json: bool) -> None:
    """Delete what is old and over."""
    with Workspace.open().open_store(store) as db:
        deleted = db.prune_sessions(days, source)
    say({"deleted": deleted}, f"{count(deleted, 'session')} deleted", as_json=as_json)


def run_backup(store: str | None, target: Path, *, as_json: bool) -> None:
    """Copy the store."""
    with Workspace.open().open_store(store, read_only=True) as db:
        path = db.backup(target)
    say({"path": str(path)}, f"written to {path}", as_json=as_json)


def say(figures: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """One answer, as figures for machines or as text."""
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, **figures})
    else:
        open_console().print(Text(clean(sentence)), soft_wrap=True)
