"""The shelf under the library: the catalogue with its contents, and where a new version goes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Self

from warmstart.errors import UsageError
from warmstart.library.catalogue import Catalogue, get_current
from warmstart.library.files import ID_DIGITS
from warmstart.library.guard import find_flags
from warmstart.library.model import Saved
from warmstart.model.template import Template, TemplateState
from warmstart.store import TemplateDB, TemplateRow
from warmstart.template import DEFAULT_LIMITS, parse_document, template_from_dict, template_id


class Shelf(Catalogue):
    """Versions of templates, as rows and as files."""

    def __init__(self, folder: Path, db: TemplateDB | None = None) -> None:
        super().__init__(folder, db)
        self.db = db

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
                if not self.files.holds(path, data):
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

    def require_db(self) -> TemplateDB:
        """The store, for what cannot be done without one."""
        if self.db is None:
            raise UsageError("there is no store to keep a template's state in")
        return self.db


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
