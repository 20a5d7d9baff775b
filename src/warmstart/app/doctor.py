"""What is on this machine: session stores, whether they can be read, what will be deleted soon.

What a foreign file says of itself (its agent's version, why it cannot be read) is masked before it
is cut: half a key is not recognised as one.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warmstart.app.core import Workspace
from warmstart.app.facts import Progress
from warmstart.app.redaction import Masker
from warmstart.errors import NotFoundError
from warmstart.sources import READERS, Store, StoreReport

__all__ = ["DoctorResult", "check_stores", "list_formats"]

MAX_FOREIGN_CHARS = 10_000
MAX_VERSION_CHARS = 40
MAX_SENTENCE_CHARS = 300


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
    masker = Masker(workspace)
    for report in workspace.survey(paths):
        reports.append(_mask_report(report, masker))
        if on_progress is not None:
            on_progress(len(reports), 0)
    present = workspace.find_stores()
    places = [] if paths else workspace.list_places()
    return DoctorResult(
        reports=tuple(reports),
        absent=tuple(place for place in places if place not in present),
        archive=workspace.archive,
    )


def _mask_report(report: StoreReport, masker: Masker) -> StoreReport:
    def mask(text: str | None, limit: int) -> str | None:
        return None if text is None else masker([text[:MAX_FOREIGN_CHARS]])[0][:limit]

    return replace(
        report,
        version=mask(report.version, MAX_VERSION_CHARS),
        problem=mask(report.problem, MAX_SENTENCE_CHARS),
        skipped=tuple(mask(one, MAX_SENTENCE_CHARS) or "" for one in report.skipped),
    )


def list_formats() -> list[tuple[str, str]]:
    """Every format that can be read: the name that options take, and its title."""
    return [(reader.name, reader.title) for reader in READERS.values()]
