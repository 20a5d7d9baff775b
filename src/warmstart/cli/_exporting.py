"""``sessions export``: sessions stream from their stores to a file or to stdout, one line each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from warmstart.app import Workspace
from warmstart.cli._output import follow, note, report_skips, write_bytes
from warmstart.cli._text import count
from warmstart.errors import NotFoundError
from warmstart.export import EXPORTERS, encode_line
from warmstart.model import Selection, Session
from warmstart.sources import ReadLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What to write, and where."""

    items: tuple[str, ...]
    """Paths and ids mixed; what exists as a path is one."""
    target: str
    output: Path | None
    force: bool


def run_export(request: Export, selection: Selection, *, quiet: bool) -> None:
    """Write every session asked for; nothing is written where there is none."""
    workspace = Workspace.open()
    log = ReadLog()
    export = EXPORTERS[request.target]
    found = follow(_find(workspace, request, selection, log), "sessions", quiet=quiet)
    written = 0

    def lines() -> Iterator[bytes]:
        nonlocal written
        for session in found:
            written += 1
            yield encode_line(export(session))
        if not written:
            raise NotFoundError(
                "no session matches",
                wanted=", ".join(request.items),
                hint="warmstart sessions list",
            )

    if request.output is not None:
        workspace.write_file(request.output, lines(), overwrite=request.force)
    else:
        for line in lines():
            write_bytes(line)
    report_skips(log, quiet=quiet)
    place = f" to {request.output}" if request.output else ""
    note(f"{count(written, 'session')} written{place}", quiet=quiet)


def _find(
    workspace: Workspace, request: Export, selection: Selection, log: ReadLog
) -> Iterator[Session]:
    paths = tuple(item for item in request.items if Path(item).exists())
    ids = [item for item in request.items if item not in paths]
    selection = replace(selection, paths=paths)
    if not ids:
        yield from workspace.read_sessions(selection, log)
    for wanted in ids:
        session = workspace.get_session(wanted, selection, log)
        if selection.matches(session):
            yield session
