"""What ``warmstart facts`` does and prints."""

from __future__ import annotations

from warmstart.app import Workspace
from warmstart.app.facts import FactsStatus, index_path, read_status, refresh_facts
from warmstart.cli._output import list_skips, note, print_json, report_skips, write_bytes
from warmstart.cli._refreshing import watch_reading
from warmstart.cli._text import count
from warmstart.model import Selection
from warmstart.sources import ReadLog

SCHEMA_VERSION = 1


def print_status(*, as_json: bool) -> None:
    """The index in a few figures."""
    workspace = Workspace.open()
    status = read_status(workspace)
    if as_json:
        print_json(_status_json(workspace, status))
        return
    if status is None:
        write_bytes(f"no index yet: {index_path(workspace)}\n".encode("utf-8", "replace"))
        note("warmstart sessions list makes one")
        return
    text = (
        f"{status.path}\n{count(status.sessions, 'session')}, {count(status.calls, 'call')} "
        f"from {count(status.units, 'source')}, "
        f"{status.bytes / 1e6:.1f} MB\n"
    )
    write_bytes(text.encode("utf-8", "replace"))


def _status_json(workspace: Workspace, status: FactsStatus | None) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "path": str(index_path(workspace)),
        "exists": status is not None,
        "bytes": status.bytes if status else 0,
        "units": status.units if status else 0,
        "sessions": status.sessions if status else 0,
        "calls": status.calls if status else 0,
    }


def print_rebuild(paths: tuple[str, ...], *, as_json: bool, quiet: bool) -> None:
    """Read everything again and say how much that was."""
    log = ReadLog()
    workspace = Workspace.open()
    with watch_reading(quiet=quiet) as progress:
        sessions = refresh_facts(
            workspace, Selection(paths=paths), log, rebuild=True, on_progress=progress
        )
    if as_json:
        status = _status_json(workspace, read_status(workspace))
        print_json({**status, "skipped": list_skips(log)})
    report_skips(log, quiet=quiet)
    note(f"the index was made anew: {count(sessions, 'session')}", quiet=quiet)
