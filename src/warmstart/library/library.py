"""The library: template files, and what the store knows of them.

    with workspace.open_store() as db:
        library = Library(workspace.home / "templates", db)
        library.save(template, state=TemplateState.DRAFT)

A version is never changed: new content under a name is a new version, the same content is the same
version. The *current* version is what a bare name means; it moves when a version is approved or
rolled back to, never because something was imported. A file the store does not know, and every
file where there is no store, counts as quarantined. A file whose bytes are not what its id says is
refused. Killed at any moment, the library is as it was before or as it should be after, except for
a file the store does not know yet, which the same save takes up again.
"""

from __future__ import annotations

import builtins
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from warmstart.errors import NotFoundError, UsageError
from warmstart.library.catalogue import get_current, not_found
from warmstart.library.guard import check_approvable, find_flags
from warmstart.library.model import (
    ExportReport,
    ImportReport,
    Problem,
    Retired,
    Saved,
    Stored,
)
from warmstart.library.shelf import Shelf, moves_current
from warmstart.model.template import Template, TemplateState
from warmstart.store import TemplateRow
from warmstart.template import (
    TemplateError,
    canonical_json,
    check_name,
    parse_document,
    template_from_dict,
    template_id,
)

if TYPE_CHECKING:
    from warmstart.redact import Redactor


class Library(Shelf):
    """Templates by name and version."""

    def save(self, template: Template, *, state: TemplateState, note: str = "") -> Saved:
        """Keep a template; the same content again changes nothing but the current version.

        Raises:
            TemplateError: it is no valid template.
        """
        from warmstart.library.summary import summarise  # noqa: PLC0415 - not for every command

        data = canonical_json(template)
        template_from_dict(parse_document(data))
        flags = find_flags(template)
        if flags and state is TemplateState.APPROVED:
            raise TemplateError(
                "text that reads like instructions is in it; it cannot be approved unseen",
                field=template.name,
                hint="save it as a draft, review it, then approve it",
            )
        if self.db is None:
            return self.place(template, data, [], state)
        db = self.db

        def work() -> Saved:
            rows = db.list_template_rows(template.name)
            saved = self.place(template, data, rows, state)
            if saved.is_new:
                now = time.time()
                db.put_template(
                    TemplateRow(
                        name=saved.name, version=saved.version, template_id=saved.id, state=state,
                        reason=note, created_at=now, changed_at=now,
                        summary=summarise(template, flags),
                    )
                )  # fmt: skip
            if moves_current(state, saved.state, rows):
                db.set_current_template(saved.name, saved.version)
            return saved

        return db.in_one_write(work)

    def get(self, name: str, version: int | None = None) -> Stored:
        """A template with its contents: the version asked for, else the current one.

        Raises:
            NotFoundError: it is not there.
            TemplateError: its file was changed or is no longer a template.
        """
        row = self.find_row(name, version)
        path = self.files.path_of(name, row.version, row.template_id)
        try:
            return self._read_version(row, path)
        except NotFoundError as error:
            why = f"the file {str(path)!r} of {name}@{row.version} is gone"
            raise NotFoundError(why, wanted=name, hint=self._find_way_out(row)) from error
        except TemplateError as error:
            raise TemplateError(
                f"the file {str(path)!r} of {name}@{row.version} is damaged: {error.message}."
                " Other versions and templates are not affected",
                hint=self._find_way_out(row),
            ) from error

    def _read_version(self, row: TemplateRow, path: Path) -> Stored:
        template = self.read_file(path)
        identity = template_id(template)
        if not identity.startswith(row.template_id) or template.name != row.name:
            raise TemplateError("it is not what it was when it was saved")
        return Stored(
            template=template, id=identity, version=row.version, state=row.state, path=path,
            created_at=row.created_at, reason=row.reason, current=row.current,
        )  # fmt: skip

    def _find_way_out(self, damaged: TemplateRow) -> str:
        """The command that helps where a version cannot be read."""
        spec = f"{damaged.name}@{damaged.version}"
        other = self._find_readable(damaged)
        if other is None:
            return (
                "put the file back from a backup, or import an exported copy: warmstart template"
                f" import FILE; or give it up: warmstart template delete {spec} --yes"
            )
        use = "rollback" if get_current(self.list_rows(damaged.name)) == damaged else "show"
        return (
            f"version {other.version} can be read: warmstart template {use}"
            f" {other.name}@{other.version}"
        )

    def _find_readable(self, damaged: TemplateRow) -> TemplateRow | None:
        """The newest other version whose file is as it was saved; approved ones come first."""
        rows = [row for row in self.list_rows(damaged.name) if row.version != damaged.version]
        rows.sort(key=lambda row: (row.state is TemplateState.APPROVED, row.version), reverse=True)
        for row in rows:
            with suppress(TemplateError, NotFoundError):
                self._read_version(row, self.files.path_of(row.name, row.version, row.template_id))
                return row
        return None

    def find_row(self, name: str, version: int | None = None) -> TemplateRow:
        """What is known of a version without its contents.

        Raises:
            NotFoundError: it is not there.
        """
        rows = self.list_rows(check_name(name))
        if not rows:
            raise not_found(name)
        if version is None:
            return get_current(rows)
        for row in rows:
            if row.version == version:
                return row
        raise not_found(name, version)

    def find_newest(self, name: str) -> TemplateRow:
        """The highest version of a template.

        Raises:
            NotFoundError: there is none.
        """
        rows = self.list_rows(check_name(name))
        if not rows:
            raise not_found(name)
        return rows[-1]

    def rollback(self, name: str, version: int) -> Stored:
        """Let an older version be the current one again; no version is deleted."""
        stored = self.get(name, version)
        self.make_known(name, version)
        self.require_db().set_current_template(name, version)
        return stored

    def set_state(self, name: str, version: int, state: TemplateState, reason: str = "") -> Stored:
        """Give a version another state; approving makes it current, retiring makes way."""
        db = self.require_db()
        stored = self.get(name, version)

        def work() -> None:
            self.make_known(name, version)
            db.set_template_state(name, version, state, reason)
            if state is TemplateState.APPROVED:
                db.set_current_template(name, version)
            else:
                self.make_way(name, version)

        db.in_one_write(work)
        return self.get(stored.name, version)

    def approve(
        self, name: str, version: int | None = None, *, despite_flags: bool = False
    ) -> Stored:
        """Let a version be used; the newest one unless another is named.

        Raises:
            TemplateError: text that reads like instructions is in it.
        """
        stored = self.get(name, version or self.find_newest(name).version)
        flags = check_approvable(stored, despite_flags=despite_flags)
        reason = "approved despite flags" if flags else "approved"
        return self.set_state(name, stored.version, TemplateState.APPROVED, reason)

    def delete(self, name: str, version: int | None = None, *, drafts_only: bool = False) -> int:
        """Remove one version, or the whole template; how many files there were.

        Raises:
            NotFoundError: there is none.
            UsageError: with ``drafts_only``, something else than a draft would go; nothing does.
        """
        check_name(name)

        def work() -> builtins.list[TemplateRow]:
            gone = self._choose_gone(name, version)
            if drafts_only:
                _refuse_others(gone, name if version is None else f"{name}@{version}")
            if self.db is not None:
                self._forget(gone)
            return gone

        # The store first: what is left when this is cut short counts as quarantined.
        gone = work() if self.db is None else self.db.in_one_write(work)
        self.files.delete([self.files.path_of(name, row.version, row.template_id) for row in gone])
        return len(gone)

    def _choose_gone(self, name: str, version: int | None) -> builtins.list[TemplateRow]:
        gone = [row for row in self.list_rows(name) if version in (None, row.version)]
        if not gone:
            raise not_found(name, version)
        return gone

    def _forget(self, gone: builtins.list[TemplateRow]) -> None:
        for row in gone:
            if row.current and len(gone) < len(self.list_rows(row.name)):
                self.make_way(row.name, row.version)
            self.require_db().delete_template_rows(row.name, row.version)

    def export(
        self,
        name: str,
        path: Path,
        redactor: Redactor,
        *,
        version: int | None = None,
        sign_key: Path | None = None,
    ) -> ExportReport:
        """Write a template as one file for others, redacted once more."""
        from warmstart.library.sharing import export_template  # noqa: PLC0415 - not for every command

        return export_template(self.get(name, version), path, redactor, sign_key)

    def import_file(self, path: Path) -> ImportReport:
        """Take in a file from elsewhere; it is quarantined whatever it says."""
        from warmstart.library.sharing import import_file  # noqa: PLC0415 - not for every command

        return import_file(self, path)

    def verify(self) -> builtins.list[Problem]:
        """Read every file again; what is not as it should be."""
        from warmstart.library.checking import find_problems  # noqa: PLC0415 - not for every command

        return find_problems(self)

    def retire_harmful(self) -> builtins.list[Retired]:
        """Take templates out of use whose record says they do harm."""
        from warmstart.library.retiring import find_harmful  # noqa: PLC0415 - not for every command

        db = self.require_db()
        harmful = find_harmful(db)
        for name, version, reason in harmful:
            db.set_template_state(name, version, TemplateState.RETIRED, reason)
            self.make_way(name, version)
        return harmful


def _refuse_others(rows: builtins.list[TemplateRow], spec: str) -> None:
    others = [row for row in rows if row.state is not TemplateState.DRAFT]
    if others:
        listed = ", ".join(f"{row.name}@{row.version} is {row.state}" for row in others)
        raise UsageError(
            f"only drafts are deleted here: {listed}",
            hint=f"a person can delete it: warmstart template delete {spec}",
        )
