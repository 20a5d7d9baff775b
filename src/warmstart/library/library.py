"""The library: template files, and what the store knows of them.

    with open_library(Workspace.open()) as library:
        saved = library.save(template, state=TemplateState.DRAFT)
        info, template = library.get(saved.spec)

A version is never changed: new content under a name is a new version, the same content is the same
version. The *current* version is what a bare name means; it moves when a version is approved or
rolled back to, never because something was imported. A file the store does not know, and every
file where there is no store, counts as quarantined. A file whose bytes are not what its id says is
refused. Killed at any moment, the library is as it was before or as it should be after, except for
a file the store does not know yet, which the same save takes up again.

Listing opens no template file and loads nothing that reads one: names of ``warmstart.template`` are
reached through the package, which loads them when they are first used.
"""

from __future__ import annotations

import builtins
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import warmstart.template as contents
from warmstart.errors import NotFoundError, UsageError, WarmstartError
from warmstart.library.files import FILE_MODE, FOLDER_MODE, ID_DIGITS, TemplateFiles
from warmstart.library.versions import (
    UNKNOWN,
    Retired,
    Saved,
    StoredTemplate,
    TemplateProblem,
    TemplateVersion,
    UseRecord,
    describe_row,
    get_current,
    summarise,
)
from warmstart.model import Arm, TemplateState
from warmstart.store import TemplateRow
from warmstart.template import TemplateError, check_name, parse_spec, show_name

if TYPE_CHECKING:
    from warmstart.library.sharing import ExportReport, ImportReport
    from warmstart.model import Template
    from warmstart.redact import Redactor
    from warmstart.store import TemplateDB

__all__ = ["TEMPLATES_FOLDER", "Library"]

TEMPLATES_FOLDER = "templates"
APPROVED, DRAFT = TemplateState.APPROVED, TemplateState.DRAFT
QUARANTINED = TemplateState.QUARANTINED


class Library:
    """Templates by ``NAME`` (its current version) or ``NAME@VERSION``."""

    def __init__(self, folder: Path, db: TemplateDB | None = None) -> None:
        self.folder = folder
        self.files = TemplateFiles(folder)
        self.db = db

    def close(self) -> None:
        """Close the store."""
        if self.db is not None:
            self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def require_db(self) -> TemplateDB:
        """The store, for what needs one.

        Raises:
            UsageError: there is none.
        """
        if self.db is None:
            raise UsageError("there is no store to keep a template's state in")
        return self.db

    # -- looking ----------------------------------------------------------------------------------

    def list(self) -> builtins.list[TemplateVersion]:
        """The current version of every template, by name."""
        by_name: dict[str, builtins.list[TemplateRow]] = defaultdict(builtins.list)
        for row in self.db.list_template_rows() if self.db else ():
            by_name[row.name].append(row)
        for name in self.files.list_names() - by_name.keys():
            by_name[name] = self._list_rows(name)
        records, verdicts = self._count_uses(), self._list_verdicts()
        return [
            describe_row(get_current(rows), rows, records, verdicts)
            for _, rows in sorted(by_name.items())
            if rows
        ]

    def versions(self, name: str) -> builtins.list[TemplateVersion]:
        """Every version of a template, oldest first.

        Raises:
            NotFoundError: there is none.
        """
        rows = self._list_rows(check_name(name))
        if not rows:
            raise _not_found(name)
        records, verdicts = self._count_uses(), self._list_verdicts()
        return [describe_row(row, rows, records, verdicts) for row in rows]

    def info(self, spec: str) -> TemplateVersion:
        """The row of one version; its uses and verdicts are not counted.

        Raises:
            NotFoundError: it is not there.
        """
        rows = self._list_rows(parse_spec(spec).name)
        return describe_row(_pick(rows, spec), rows)

    def newest(self, name: str) -> TemplateVersion:
        """The highest version of a template.

        Raises:
            NotFoundError: there is none.
        """
        rows = self._list_rows(check_name(name))
        if not rows:
            raise _not_found(name)
        return describe_row(rows[-1], rows)

    def get(self, spec: str) -> StoredTemplate:
        """A version with its contents.

        Raises:
            NotFoundError: it is not there.
            TemplateError: its file was changed or is no longer a template.
        """
        info = self.info(spec)
        path = self.path_of(info)
        try:
            return self._read(info)
        except NotFoundError as error:
            raise NotFoundError(
                f"the file {str(path)!r} of {info.spec} is gone",
                wanted=info.name,
                hint=self._find_way_out(info),
            ) from error
        except TemplateError as error:
            raise TemplateError(
                f"the file {str(path)!r} of {info.spec} is damaged: {error.message}."
                " Other versions and templates are not affected",
                hint=self._find_way_out(info),
            ) from error

    def path_of(self, info: TemplateVersion) -> Path:
        """The file of a version, whether it exists or not."""
        return self.files.path_of(info.name, info.version, info.id)

    # -- changing ---------------------------------------------------------------------------------

    def save(self, template: Template, *, state: TemplateState, note: str = "") -> Saved:
        """Keep a template; the same content again changes nothing but the current version.

        Raises:
            TemplateError: it is not a valid template, or it is flagged and would be approved.
        """
        data = contents.canonical_json(template)
        contents.read_template(data)
        flags = _scan(template)
        if flags and state is APPROVED:
            raise TemplateError(
                "text that reads like instructions is in it; it cannot be approved unseen",
                field=template.name,
                hint="save it as a draft, review it, then approve it",
            )
        if self.db is None:
            return self._place(template.name, data, [], state)
        db = self.db

        def work() -> Saved:
            rows = db.list_template_rows(template.name)
            saved = self._place(template.name, data, rows, state)
            if saved.is_new:
                now = time.time()
                db.put_template(
                    TemplateRow(
                        name=saved.name, version=saved.version, template_id=saved.id, state=state,
                        reason=note, created_at=now, changed_at=now,
                        summary=summarise(template, flags),
                    )
                )  # fmt: skip
            if _moves_current(state, saved.state, rows):
                db.set_current_template(saved.name, saved.version)
            return saved

        return db.in_one_write(work)

    def approve(self, spec: str, *, despite_flags: bool = False) -> TemplateVersion:
        """Allow a version to be used: the one named, else the newest.

        Raises:
            TemplateError: text that reads like instructions is in it.
        """
        from warmstart.library.review import check_approvable  # noqa: PLC0415 - loads the scan

        name, version = parse_spec(spec)
        stored = self.get(spec if version else self.newest(name).spec)
        flags = check_approvable(stored, despite_flags=despite_flags)
        reason = "approved despite flags" if flags else "approved"
        return self.set_state(stored.info.spec, APPROVED, reason)

    def set_state(self, spec: str, state: TemplateState, reason: str = "") -> TemplateVersion:
        """Give a version another state.

        An approved version becomes the current one; another state lets the newest approved version
        become current.
        """
        db = self.require_db()
        info = self.get(spec).info

        def work() -> None:
            self._make_known(info)
            db.set_template_state(info.name, info.version, state, reason)
            if state is APPROVED:
                db.set_current_template(info.name, info.version)
            else:
                self._promote_next(info)

        db.in_one_write(work)
        return self.info(info.spec)

    def rollback(self, spec: str) -> TemplateVersion:
        """Make an older version the current one again; no version is deleted."""
        info = self.get(spec).info
        self._make_known(info)
        self.require_db().set_current_template(info.name, info.version)
        return self.info(info.spec)

    def delete(self, spec: str, *, drafts_only: bool = False) -> int:
        """Remove the version named, or the whole template; returns how many versions there were.

        Raises:
            NotFoundError: there is none.
            UsageError: with ``drafts_only``, a version is not a draft; nothing is removed then.
        """
        name, version = parse_spec(spec)

        def work() -> builtins.list[TemplateVersion]:
            rows = self._list_rows(name)
            gone = [describe_row(row, rows) for row in rows if version in (None, row.version)]
            if not gone:
                raise _not_found(name, version)
            if drafts_only:
                _refuse_others(gone, spec)
            for info in gone if self.db is not None else ():
                if len(gone) < len(rows):
                    self._promote_next(info)
                self.require_db().delete_template_rows(name, info.version)
            return gone

        # The store first: what is left when this is cut short counts as quarantined.
        gone = work() if self.db is None else self.db.in_one_write(work)
        self.files.delete([self.path_of(info) for info in gone])
        return len(gone)

    def retire_harmful(self) -> builtins.list[Retired]:
        """Retire every version in use whose record says that it does harm."""
        from warmstart.library.harm import find_harmful  # noqa: PLC0415 - not for every command

        db = self.require_db()
        harmful = find_harmful(db.list_template_rows(), db.list_template_records())
        for name, version, reason in harmful:
            info = self.info(f"{name}@{version}")
            db.set_template_state(name, version, TemplateState.RETIRED, reason)
            self._promote_next(info)
        return harmful

    # -- sharing and checking ---------------------------------------------------------------------

    def export(
        self, spec: str, path: Path, redactor: Redactor, *, sign_key: Path | None = None
    ) -> ExportReport:
        """Write a version as one file for others, redacted once more."""
        from warmstart.library.sharing import export_template  # noqa: PLC0415 - not for every command

        return export_template(self.get(spec), path, redactor, sign_key)

    def import_file(self, path: Path) -> ImportReport:
        """Take in a file from elsewhere; it is quarantined whatever it contains."""
        from warmstart.library.sharing import import_file  # noqa: PLC0415 - not for every command

        return import_file(self, path)

    def verify(self) -> builtins.list[TemplateProblem]:
        """Every difference between the files, their names and the store; nothing is repaired."""
        names = self.files.list_names()
        problems = [
            TemplateProblem(path.name, None, "is not the folder of a template")
            for path in (sorted(self.folder.iterdir()) if self.folder.exists() else ())
            if path.name not in names
        ]
        known = {row.name for row in self.db.list_template_rows()} if self.db else set()
        for name in sorted(names | known):
            problems += self._check_template(name)
        return problems

    # -- inside -----------------------------------------------------------------------------------

    def _list_rows(self, name: str) -> builtins.list[TemplateRow]:
        """Rows of the store, and files it does not know."""
        rows = self.db.list_template_rows(name) if self.db else []
        known = {(row.version, row.template_id[:ID_DIGITS]) for row in rows}
        for found in self.files.list_files(name):
            if (found.version, found.short_id) not in known:
                when = found.path.lstat().st_mtime
                rows.append(
                    TemplateRow(
                        name=name, version=found.version, template_id=found.short_id,
                        state=QUARANTINED, reason=UNKNOWN, created_at=when, changed_at=when,
                    )
                )  # fmt: skip
        return sorted(rows, key=lambda row: (row.version, len(row.template_id)))

    def _count_uses(self) -> dict[str, UseRecord]:
        """Sessions that began with a template, by its id, all models together."""
        found: dict[str, UseRecord] = {}
        for row in self.db.list_template_records() if self.db else ():
            if row.arm is Arm.WARM and row.template_id:
                old = found.get(row.template_id, UseRecord())
                found[row.template_id] = UseRecord(
                    uses=old.uses + row.uses,
                    successes=old.successes + row.successes,
                    failures=old.failures + row.failures,
                    calls=old.calls + row.calls,
                    errors=old.errors + row.errors,
                )
        return found

    def _list_verdicts(self) -> dict[str, str]:
        return self.db.list_verdict_notes() if self.db else {}

    def _read(self, info: TemplateVersion) -> StoredTemplate:
        data = self.files.read(self.path_of(info), contents.DEFAULT_LIMITS.file_bytes)
        template = contents.read_template(data)
        identity = contents.template_id(template)
        if not identity.startswith(info.id) or template.name != info.name:
            raise TemplateError("it is not what it was when it was saved")
        return StoredTemplate(info._replace(id=identity), template)

    def _find_way_out(self, damaged: TemplateVersion) -> str:
        """The command that helps where a version cannot be read."""
        other = self._find_readable(damaged)
        if other is None:
            return (
                "put the file back from a backup, or import an exported copy: warmstart template"
                f" import FILE; or give it up: warmstart template delete {damaged.spec} --yes"
            )
        use = "rollback" if damaged.current else "show"
        return f"version {other.version} can be read: warmstart template {use} {other.spec}"

    def _find_readable(self, damaged: TemplateVersion) -> TemplateVersion | None:
        """The newest other version whose file is intact; approved ones come first."""
        rows = self._list_rows(damaged.name)
        others = [describe_row(row, rows) for row in rows if row.version != damaged.version]
        others.sort(key=lambda info: (info.state is APPROVED, info.version), reverse=True)
        for info in others:
            with suppress(TemplateError, NotFoundError):
                return self._read(info).info
        return None

    def _place(
        self, name: str, data: bytes, rows: Sequence[TemplateRow], state: TemplateState
    ) -> Saved:
        """Write the file of a template, or find that it is there."""
        identity = contents.hash_content(data)
        for row in rows:
            if row.template_id == identity:
                path = self.files.path_of(name, row.version, identity)
                if not self.files.holds(path, data):
                    self.files.write(name, row.version, identity, data)
                return Saved(name, row.version, identity, path, row.state, is_new=False)
        files = self.files.list_files(name)
        for found in files:
            if found.short_id == identity[:ID_DIGITS]:
                self.files.write(name, found.version, identity, data)
                return Saved(name, found.version, identity, found.path, state, is_new=True)
        taken = [row.version for row in rows] + [found.version for found in files]
        version = max(taken, default=0) + 1
        path = self.files.write(name, version, identity, data)
        return Saved(name, version, identity, path, state, is_new=True)

    def _make_known(self, info: TemplateVersion) -> None:
        """Give the store a row for a file that it does not know yet; quarantined."""
        if info.is_known:
            return
        info, template = self._read(info)
        self.require_db().put_template(
            TemplateRow(
                name=info.name, version=info.version, template_id=info.id, state=QUARANTINED,
                reason="found in the folder", created_at=info.created_at, changed_at=time.time(),
                summary=summarise(template, _scan(template)),
            )
        )  # fmt: skip

    def _promote_next(self, leaving: TemplateVersion) -> None:
        """If that version is current, make the newest approved one current instead."""
        db = self.require_db()
        others = [
            row
            for row in db.list_template_rows(leaving.name)
            if row.version != leaving.version and row.state is APPROVED
        ]
        if leaving.current and others:
            db.set_current_template(leaving.name, others[-1].version)

    def _check_template(self, name: str) -> Iterator[TemplateProblem]:
        try:
            rows = self._list_rows(name)
        except WarmstartError as error:
            yield TemplateProblem(name, None, error.message)
            return
        for row in rows:
            yield from self._check_version(describe_row(row, rows))
        for other in self.files.list_others(name):
            yield TemplateProblem(name, None, f"{other!r} does not belong there")
        folder = self.folder / name
        if folder.exists() and folder.stat().st_mode & 0o777 != FOLDER_MODE:
            yield TemplateProblem(name, None, "its folder is open to others")

    def _check_version(self, info: TemplateVersion) -> Iterator[TemplateProblem]:
        try:
            self.get(info.spec)
        except WarmstartError as error:
            what = "its file is gone" if isinstance(error, NotFoundError) else error.message
            hint = f"; {error.hint}" if error.hint else ""
            yield TemplateProblem(info.name, info.version, what + hint)
            return
        if not info.is_known:
            yield TemplateProblem(
                info.name, info.version, "the store does not know it; quarantined"
            )
        if self.path_of(info).stat().st_mode & 0o777 != FILE_MODE:
            yield TemplateProblem(info.name, info.version, "its file is open to others")


def _pick(rows: Sequence[TemplateRow], spec: str) -> TemplateRow:
    name, version = parse_spec(spec)
    if not rows:
        raise _not_found(name)
    if version is None:
        return get_current(rows)
    for row in rows:
        if row.version == version:
            return row
    raise _not_found(name, version)


def _moves_current(
    wanted: TemplateState, actual: TemplateState, rows: Sequence[TemplateRow]
) -> bool:
    """Whether a version that was just saved becomes the current one.

    A quarantined one never takes another's place, even if the same content was approved before.
    """
    if not rows:
        return True
    if wanted is QUARANTINED:
        return False
    return actual is APPROVED or (actual is DRAFT and get_current(rows).state is not APPROVED)


def _scan(template: Template) -> tuple[str, ...]:
    from warmstart.library.review import find_flags  # noqa: PLC0415 - loads the scan's rules

    return find_flags(template)


def _refuse_others(versions: Sequence[TemplateVersion], spec: str) -> None:
    others = [info for info in versions if info.state is not DRAFT]
    if others:
        listed = ", ".join(f"{info.spec} is {info.state}" for info in others)
        raise UsageError(
            f"only drafts are deleted here: {listed}",
            hint=f"a person can delete it: warmstart template delete {spec}",
        )


def _not_found(name: str, version: int | None = None) -> NotFoundError:
    which = f"version {version} of the template" if version is not None else "template"
    return NotFoundError(
        f"there is no {which} {show_name(name)}", wanted=name, hint="warmstart template list"
    )
