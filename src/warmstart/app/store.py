"""The live store as use cases: taking sessions in, checking it, repairing a damaged file.

``Workspace.open_store`` is the one way to open it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstart.app.core import Workspace
from warmstart.export import LIVE_STORE, export_store
from warmstart.model import Selection, Session
from warmstart.sources import ReadLog
from warmstart.store import (
    Backup,
    Damage,
    ProblemKind,
    RepairResult,
    SessionDB,
    StoreDamagedError,
    VerifyReport,
    examine,
    find_newest_backup,
    repair_store,
)

Watch = Callable[[Iterator[Session]], Iterable[Session]]
"""Passes sessions through, as a progress bar does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCheck:
    """What a check of the store found, and what a repair did."""

    path: Path
    report: VerifyReport | None = None
    """What differs in a file that can be read; None for a damaged one."""
    damage: Damage | None = None
    """What is wrong with a damaged file and what it still holds."""
    backup: Backup | None = None
    """The newest whole copy of a damaged file."""
    repair: RepairResult | None = None


def import_sessions(
    workspace: Workspace, selection: Selection, log: ReadLog, watch: Watch, store: str | None = None
) -> dict[str, Any]:
    """Take sessions of any format into the store; the number of each result, and the errors.

    Importing twice changes nothing; sessions of the store itself are left out.
    """
    with workspace.open_store(store) as db:
        found = watch(workspace.read_sessions(selection, log))
        return db.import_sessions(export_store(one) for one in found if not _is_from(db, one))


def check_store(workspace: Workspace, store: str | None = None, *, repair: bool) -> StoreCheck:
    """Check the store against itself, and rebuild its file if that is damaged and wanted.

    Raises:
        StoreError: it cannot be opened, or could not be repaired.
    """
    try:
        with workspace.open_store(store, read_only=True) as db:
            report, path = db.verify(), Path(db.db_path)
    except StoreDamagedError as error:
        path = Path(error.path)
    else:
        if all(problem.kind is not ProblemKind.DAMAGED_FILE for problem in report.problems):
            return StoreCheck(path=path, report=report)
    return StoreCheck(
        path=path,
        damage=examine(path),
        backup=find_newest_backup(path),
        repair=repair_store(path) if repair else None,
    )


def _is_from(db: SessionDB, session: Session) -> bool:
    """Whether the session was read from the very store it would go into."""
    if isinstance(db.db_path, str) or session.origin != LIVE_STORE or session.path is None:
        return False
    return Path(session.path).samefile(db.db_path)
