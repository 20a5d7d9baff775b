"""The library's catalogue: which templates and versions there are; no template is opened.

    with open_catalogue(home) as catalogue:
        rows = catalogue.list()

Rows of the store and files of the folder are joined here; a file the store does not know, and
every file where there is no store, counts as quarantined. Nothing here needs more of the store
than its rows about templates, so a listing costs little more than the command itself.
"""

from __future__ import annotations

import builtins
import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from warmstart.errors import NotFoundError
from warmstart.home import STORE_FILE
from warmstart.library.files import ID_DIGITS, TemplateFiles
from warmstart.library.listed import Listed, Record
from warmstart.model.state import Arm, TemplateState
from warmstart.store import TemplateDB, TemplateRow, open_template_db
from warmstart.template.errors import show_name

TEMPLATES_FOLDER = "templates"
SETTLED_ARM = Arm.WARM
"""Uses are sessions that really began with the template."""
UNKNOWN = "unknown to the store"


class Catalogue:
    """Versions of templates, by what the store and the names of their files say."""

    def __init__(self, folder: Path, known: TemplateDB | None = None) -> None:
        self.folder = folder
        self.files = TemplateFiles(folder)
        self._known = known

    def list(self) -> builtins.list[Listed]:
        """The current version of every template, by name; opens no template file."""
        by_name = defaultdict(builtins.list)
        for row in self._known.list_template_rows() if self._known else ():
            by_name[row.name].append(row)
        for name in self.files.list_names() - by_name.keys():
            by_name[name] = self.list_rows(name)
        records, verdicts = self.count_records(), self.list_verdicts()
        return [
            make_listed(get_current(rows), rows, records, verdicts)
            for _, rows in sorted(by_name.items())
            if rows
        ]

    def versions(self, name: str) -> Sequence[Listed]:
        """Every version of a template, oldest first.

        Raises:
            NotFoundError: there is none.
        """
        rows = self.list_rows(name)
        if not rows:
            raise not_found(name)
        records, verdicts = self.count_records(), self.list_verdicts()
        return [make_listed(row, rows, records, verdicts) for row in rows]

    def list_rows(self, name: str) -> builtins.list[TemplateRow]:
        """Rows of the store, and files it does not know."""
        rows = self._known.list_template_rows(name) if self._known else []
        known = {(row.version, row.template_id[:ID_DIGITS]) for row in rows}
        for found in self.files.list_files(name):
            if (found.version, found.short_id) not in known:
                when = found.path.lstat().st_mtime
                rows.append(
                    TemplateRow(
                        name=name, version=found.version, template_id=found.short_id,
                        state=TemplateState.QUARANTINED, reason=UNKNOWN,
                        created_at=when, changed_at=when,
                    )
                )  # fmt: skip
        return sorted(rows, key=lambda row: (row.version, len(row.template_id)))

    def count_records(self) -> dict[str, Record]:
        """Uses by template id, all models together."""
        found: dict[str, Record] = {}
        for row in self._known.list_template_records() if self._known else ():
            if row.arm is SETTLED_ARM and row.template_id:
                old = found.get(row.template_id, Record())
                found[row.template_id] = Record(
                    uses=old.uses + row.uses,
                    successes=old.successes + row.successes,
                    failures=old.failures + row.failures,
                    calls=old.calls + row.calls,
                    errors=old.errors + row.errors,
                )
        return found

    def list_verdicts(self) -> dict[str, str]:
        """The latest verdict by template id, in a word or two."""
        return self._known.list_verdict_notes() if self._known else {}


class OpenCatalogue(Catalogue):
    """A catalogue that holds its store open until it is closed."""

    def __init__(self, folder: Path, reader: TemplateDB | None = None) -> None:
        super().__init__(folder, reader)
        self._reader = reader

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._reader is not None:
            self._reader.close()


def find_store(home: Path, store: str | None) -> str:
    """Where states and uses are kept."""
    return store or os.environ.get("WARMSTART_STORE") or str(home / STORE_FILE)


def open_catalogue(home: Path, store: str | None = None) -> OpenCatalogue:
    """The catalogue of a home's library; reading creates nothing."""
    folder = home / TEMPLATES_FOLDER
    location = find_store(home, store)
    if "://" not in location and not Path(location).exists():
        return OpenCatalogue(folder)
    return OpenCatalogue(folder, open_template_db(location))


def get_current(rows: Sequence[TemplateRow]) -> TemplateRow:
    """The version marked as current; the newest where none is."""
    return next((row for row in rows if row.current), rows[-1])


def make_listed(
    row: TemplateRow,
    rows: Sequence[TemplateRow],
    records: dict[str, Record],
    verdicts: dict[str, str],
) -> Listed:
    """A row as a listing shows it, among the other versions of its name."""
    return Listed(
        name=row.name, version=row.version, id=row.template_id, state=row.state,
        reason=row.reason, current=row is get_current(rows), versions=len(rows),
        newest=rows[-1].version, created_at=row.created_at, summary=row.summary,
        record=records.get(row.template_id, Record()),
        verdict=verdicts.get(row.template_id, ""),
    )  # fmt: skip


def not_found(name: str, version: int | None = None) -> NotFoundError:
    """The error for a template, or a version of it, that is not there."""
    which = f"version {version} of the template" if version is not None else "template"
    return NotFoundError(
        f"there is no {which} {show_name(name)}", wanted=name, hint="warmstart template list"
    )
