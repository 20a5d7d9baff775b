"""The shelf under the library: which versions there are, and where a new one goes.

Rows of the store and files of the folder are joined here; a file without a row is quarantined.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Self

from warmstart.errors import NotFoundError, UsageError
from warmstart.library.files import ID_DIGITS, TemplateFiles
from warmstart.library.guard import find_flags
from warmstart.library.model import Listed, Record, Saved
from warmstart.model.template import Template, TemplateState
from warmstart.model.warmup import Arm
from warmstart.store import SessionDB
from warmstart.store.templates import TemplateRow
from warmstart.template import DEFAULT_LIMITS, parse_document, template_from_dict, template_id

SETTLED_ARM = Arm.WARM
"""Uses are sessions that really began with the template."""
UNKNOWN = "unknown to the store"


class Shelf:
    """Versions of templates, as rows and as files."""

    def __init__(self, folder: Path, db: SessionDB | None = None) -> None:
        self.folder = folder
        self.db = db
        self.files = TemplateFiles(folder)

    def close(self) -> None:
        """Let go of the store."""
        if self.db is not None:
            self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def read_file(self, path: Path) -> Template:
        """The template in a file of the folder."""
        data = self.files.read(path, DEFAULT_LIMITS.file_bytes)
        return template_from_dict(parse_document(data))

    def list_rows(self, name: str) -> list[TemplateRow]:
        """Rows of the store, and files it does not know."""
        rows = self.db.list_template_rows(name) if self.db else []
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

    def place(
        self,
        template: Template,
        data: bytes,
        rows: Sequence[TemplateRow],
        state: TemplateState,
    ) -> Saved:
        """The file of a template: the one that is there, or a new one."""
        identity = sha256(data).hexdigest()
        name = template.name
        files = self.files.list_files(name)
        for row in rows:
            if row.template_id == identity:
                path = self.files.path_of(name, row.version, identity)
                if not path.exists():
                    self.files.write(name, row.version, identity, data)
                return Saved(name, row.version, identity, path, row.state, is_new=False)
        for found in files:
            if found.short_id == identity[:ID_DIGITS]:
                self.files.write(name, found.version, identity, data)
                return Saved(name, found.version, identity, found.path, state, is_new=True)
        taken = [row.version for row in rows] + [found.version for found in files]
        version = max(taken, default=0) + 1
        path = self.files.write(name, version, identity, data)
        return Saved(name, version, identity, path, state, is_new=True)

    def make_known(self, name: str, version: int) -> None:
        """Make a file known to the store that it does not know yet; quarantined."""
        from warmstart.library.summary import summarise  # noqa: PLC0415 - not for every command

        if any(row.version == version for row in self.require_db().list_template_rows(name)):
            return
        row = next(row for row in self.list_rows(name) if row.version == version)
        template = self.read_file(self.files.path_of(name, version, row.template_id))
        self.require_db().put_template(
            replace(
                row,
                template_id=template_id(template),
                changed_at=time.time(),
                summary=summarise(template, find_flags(template)),
            )
        )

    def make_way(self, name: str, version: int) -> None:
        """If that version was current, let the newest approved one be it."""
        db = self.require_db()
        rows = db.list_template_rows(name)
        was_current = any(row.current and row.version == version for row in rows)
        others = [row for row in rows if row.version != version]
        approved = [row for row in others if row.state is TemplateState.APPROVED]
        if was_current and approved:
            db.set_current_template(name, approved[-1].version)

    def count_records(self) -> dict[str, Record]:
        """Uses by template id, all models together."""
        found: dict[str, Record] = {}
        for row in self.db.list_template_records() if self.db else ():
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

    def require_db(self) -> SessionDB:
        """The store, for what cannot be done without one."""
        if self.db is None:
            raise UsageError("there is no store to keep a template's state in")
        return self.db


def get_current(rows: Sequence[TemplateRow]) -> TemplateRow:
    """The version marked as current; the newest where none is."""
    return next((row for row in rows if row.current), rows[-1])


def moves_current(
    wanted: TemplateState, actual: TemplateState, rows: Sequence[TemplateRow]
) -> bool:
    """Whether a version that was just saved is the current one now.

    What comes in as quarantined never takes another's place, even if it was approved before.
    """
    if not rows:
        return True
    if wanted is TemplateState.QUARANTINED:
        return False
    if actual is TemplateState.APPROVED:
        return True
    return actual is TemplateState.DRAFT and get_current(rows).state is not TemplateState.APPROVED


def make_listed(
    row: TemplateRow, rows: Sequence[TemplateRow], records: dict[str, Record]
) -> Listed:
    """A row as a listing shows it, among the other versions of its name."""
    return Listed(
        name=row.name, version=row.version, id=row.template_id, state=row.state,
        reason=row.reason, current=row is get_current(rows), versions=len(rows),
        newest=rows[-1].version, created_at=row.created_at, summary=row.summary,
        record=records.get(row.template_id, Record()),
    )  # fmt: skip


def not_found(name: str, version: int | None = None) -> NotFoundError:
    """The error for a template, or a version of it, that is not there."""
    which = f"version {version} of the template" if version is not None else "template"
    return NotFoundError(
        f"there is no {which} {name!r}", wanted=name, hint="warmstart template list"
    )
