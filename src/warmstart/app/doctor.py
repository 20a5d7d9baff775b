"""What is on this machine: session stores, whether they can be read, what will be deleted soon."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warmstart.app.core import Workspace
from warmstart.app.facts import Progress
from warmstart.errors import NotFoundError
from warmstart.sources import READERS
from warmstart.sources.stores import Store
from warmstart.sources.survey import StoreReport

__all__ = ["DoctorResult", "check_stores", "list_formats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorResult:
    """Every place that was looked at."""

    reports: tuple[StoreReport, ...]
    """One per place and format."""
    absent: tuple[Store, ...]
    """Places where nothing is."""
    archive: Path
    """Where exports are kept that every command finds again."""

    def keep_command(self, report: StoreReport) -> str:
        """What keeps a store's sessions; running it again adds to the archive."""
        output = shlex.quote(str(self.archive / f"{report.reader}.jsonl"))
        return f"warmstart sessions export --source {report.reader} --output {output} --force"


def check_stores(
    workspace: Workspace, paths: Sequence[str] = (), *, on_progress: Progress | None = None
) -> DoctorResult:
    """What is at the paths, or in every store found on this machine.

    Raises:
        NotFoundError: there is nothing at a path.
    """
    for path in paths:
        if not Path(path).exists():
            raise NotFoundError(f"no such file or folder: {path!r}", wanted=path)
    reports = []
    for report in workspace.survey(paths):
        reports.append(report)
        if on_progress is not None:
            on_progress(len(reports), 0)
    present = workspace.find_stores()
    places = [] if paths else workspace.list_places()
    return DoctorResult(
        reports=tuple(reports),
        absent=tuple(place for place in places if place not in present),
        archive=workspace.archive,
    )


def list_formats() -> list[tuple[str, str]]:
    """Every format that can be read: the name that options take, and its title."""
    return [(reader.name, reader.title) for reader in READERS.values()]
