"""What can be done with the templates of a workspace, each as one complete action.

    info = approve_template(Workspace.open(), "shop@2").info

Every function opens the library, does its work and closes it; the results hold all that a surface
prints. The store is the workspace's own, or the one ``WARMSTART_STORE`` names. Reading creates
nothing: where there is no store yet, or one from before templates, every file counts as
quarantined. Only what an action needs is loaded, so that a listing stays light.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import warmstart.library as parts
import warmstart.template as contents
from warmstart.app.core import Workspace
from warmstart.errors import UsageError, WarmstartError
from warmstart.home import find_store
from warmstart.library import TEMPLATES_FOLDER, Library, Saved, StoredTemplate, TemplateVersion
from warmstart.model import TemplateState
from warmstart.template import check_name, parse_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmstart.model import Template
    from warmstart.store import TemplateRecord, TemplateVerdict
    from warmstart.template import Change

__all__ = [
    "Approval",
    "EditResult",
    "EditText",
    "Review",
    "TemplateDiff",
    "TemplatePage",
    "approve_template",
    "begin_text",
    "check_review",
    "delete_template",
    "diff_versions",
    "find_for_model",
    "keep_text",
    "list_deleted",
    "list_templates",
    "list_versions",
    "open_library",
    "retire_template",
    "review_template",
    "roll_back",
    "save_text",
]

PATIENCE_SECONDS = 30.0
EDITS_FOLDER = "edits"
"""Where a text is kept that could not be saved as a template."""


class TemplatePage(NamedTuple):
    """A version with everything that is known of it."""

    info: TemplateVersion
    template: Template
    path: Path
    flags: tuple[str, ...]
    """Places that read like instructions, by today's rules."""
    evidence: tuple[str, ...]
    """The flags, each with the words it was found by."""
    newer: tuple[TemplateVersion, ...]
    """Versions of the same name that are newer than this one."""
    records: tuple[TemplateRecord, ...]
    """Sessions by model and arm."""
    verdicts: tuple[TemplateVerdict, ...]


class TemplateDiff(NamedTuple):
    """What differs between two versions."""

    old: TemplateVersion
    new: TemplateVersion
    changes: tuple[Change, ...]


class Review(NamedTuple):
    """A version that someone is about to approve."""

    page: TemplatePage
    replaces: TemplateVersion | None
    """The version in use now, if that is another one."""
    changes: tuple[Change, ...]
    """What it changes of what an agent is taught."""
    problem: str = ""
    """Why the version in use could not be compared."""


class Approval(NamedTuple):
    """A version that was approved."""

    info: TemplateVersion
    replaces: TemplateVersion | None
    changes: tuple[Change, ...]


class EditText(NamedTuple):
    """A template as a text to edit."""

    name: str
    text: str
    base: str | None
    """The version it was written from; None for a new template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """A template that was written or edited by hand."""

    saved: Saved
    base: str | None
    """The version it was edited from; None for a new template."""
    redactions: Mapping[str, int]
    """What redaction took out of the text."""
    flags: tuple[str, ...]


def open_library(
    workspace: Workspace,
    store: str | None = None,
    *,
    read_only: bool = False,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Library:
    """The library; it holds the store open until it is closed.

    Args:
        workspace: whose home has the templates.
        store: path or address of another store than the workspace's.
        read_only: nothing is created or changed.
        patience_seconds: how long a write waits for other processes.
    """
    folder = workspace.home / TEMPLATES_FOLDER
    if not read_only:
        return Library(folder, workspace.open_store(store, patience_seconds=patience_seconds))
    from warmstart.store import open_template_db  # noqa: PLC0415 - for readers only

    location = find_store(workspace.home, store)
    if "://" not in location and not Path(location).exists():
        return Library(folder)
    return Library(folder, open_template_db(location))


def list_templates(
    workspace: Workspace,
    *,
    states: Collection[str] = (),
    task_type: str | None = None,
    store: str | None = None,
) -> list[TemplateVersion]:
    """The current version of every template, or of those in these states and for this work."""
    with open_library(workspace, store, read_only=True) as library:
        return [
            info
            for info in library.list()
            if (not states or info.state in states) and task_type in (None, info.task_type)
        ]


def list_versions(
    workspace: Workspace, name: str, *, store: str | None = None
) -> list[TemplateVersion]:
    """Every version of a template, oldest first.

    Raises:
        NotFoundError: there is no such template.
    """
    with open_library(workspace, store, read_only=True) as library:
        return library.versions(name)


def find_for_model(workspace: Workspace, spec: str) -> StoredTemplate:
    """A template that a model asked for by name; models see approved ones only.

    Raises:
        UnapprovedError: it is not approved.
    """
    with open_library(workspace, read_only=True) as library:
        return parts.require_approved(library.get(spec))


def diff_versions(
    workspace: Workspace, old: str, new: str, *, store: str | None = None
) -> TemplateDiff:
    """What differs between any two templates or versions, pattern by pattern."""
    with open_library(workspace, store, read_only=True) as library:
        one, other = library.get(old), library.get(new)
    changes = contents.diff_templates(one.template, other.template)
    return TemplateDiff(one.info, other.info, tuple(changes))


def review_template(
    workspace: Workspace, spec: str, *, newest: bool = True, store: str | None = None
) -> Review:
    """A version with everything that is known of it, and what approving it would change.

    Args:
        workspace: whose templates.
        spec: the version named; without one it is the newest, or the current one.
        newest: False for the current one.
        store: path or address of another store than the workspace's.

    Raises:
        NotFoundError: it is not there.
    """
    with open_library(workspace, store, read_only=True) as library:
        return _review(library, spec, newest=newest)


def check_review(review: Review, *, despite_flags: bool) -> None:
    """Refuse to approve what is flagged, before anyone is asked.

    Raises:
        TemplateError: it has flags, and ``despite_flags`` is not set.
    """
    stored = StoredTemplate(review.page.info, review.page.template)
    parts.check_approvable(stored, despite_flags=despite_flags)


def approve_template(
    workspace: Workspace, spec: str, *, despite_flags: bool = False, store: str | None = None
) -> Approval:
    """Allow a version to be used, and make it the current one.

    Raises:
        TemplateError: it has flags, and ``despite_flags`` is not set.
    """
    with open_library(workspace, store) as library:
        review = _review(library, spec)
        info = library.approve(review.page.info.spec, despite_flags=despite_flags)
    return Approval(info, review.replaces, review.changes)


def retire_template(
    workspace: Workspace, spec: str, reason: str, *, store: str | None = None
) -> TemplateVersion:
    """Take a version out of use; approving it again brings it back."""
    with open_library(workspace, store) as library:
        info = library.info(spec)
        return library.set_state(info.spec, TemplateState.RETIRED, reason)


def roll_back(workspace: Workspace, spec: str, *, store: str | None = None) -> TemplateVersion:
    """Make an older version the current one again.

    Raises:
        UsageError: no version was named.
    """
    name, version = parse_spec(spec)
    if version is None:
        raise UsageError(f"which version of {name!r}?", hint=f"warmstart template versions {name}")
    with open_library(workspace, store) as library:
        return library.rollback(spec)


def list_deleted(
    workspace: Workspace, spec: str, *, store: str | None = None
) -> list[TemplateVersion]:
    """The versions that deleting would remove.

    Raises:
        NotFoundError: there is no such template or version.
    """
    name, version = parse_spec(spec)
    with open_library(workspace, store, read_only=True) as library:
        return [library.info(spec)] if version is not None else library.versions(name)


def delete_template(
    workspace: Workspace, spec: str, *, drafts_only: bool = False, store: str | None = None
) -> int:
    """Delete a version or a whole template; returns how many versions were deleted.

    Raises:
        NotFoundError: there is no such template or version.
        UsageError: with ``drafts_only``, a version is not a draft.
    """
    with open_library(workspace, store) as library:
        return library.delete(spec, drafts_only=drafts_only)


def begin_text(
    workspace: Workspace, spec: str, *, is_new: bool = False, store: str | None = None
) -> EditText:
    """The text to edit: of the version named, else of the newest; or the beginning of a new one.

    Raises:
        UsageError: a new template has the name of one that is there.
        NotFoundError: there is nothing to edit.
    """
    with open_library(workspace, store, read_only=True) as library:
        name, version = parse_spec(spec)
        if not is_new:
            stored = library.get(spec if version else library.newest(name).spec)
            return EditText(name, contents.format_text(stored.template), stored.info.spec)
        if any(info.name == check_name(spec) for info in library.list()):
            raise UsageError(
                f"there is a template {name!r} already", hint=f"warmstart template edit {name}"
            )
    from warmstart.model import Template  # noqa: PLC0415 - not for listings

    return EditText(
        name, contents.format_text(Template(name=name)) + "\n" + contents.NEW_TEXT, None
    )


def save_text(
    workspace: Workspace, edit: EditText, text: str, *, store: str | None = None
) -> EditResult:
    """Save an edited text as a draft: checked, redacted and scanned like every template.

    Raises:
        TemplateTextError: the text is not a template; the line and the field are named.
        RedactionError: redaction cannot run; nothing is saved then.
    """
    from warmstart.app.redaction import open_redactor  # noqa: PLC0415 - not for listings
    from warmstart.model import Provenance, Template  # noqa: PLC0415 - same

    with open_library(workspace, store) as library:
        if edit.base is None:
            base = Template(name=edit.name, provenance=Provenance(rules=("written by hand",)))
        else:
            base = library.get(edit.base).template
        written = contents.parse_text(text, base)
        if written != base:  # the words it was flagged for may be gone; all of it is scanned anew
            written = replace(written, provenance=replace(written.provenance, flags=()))
        clean, found = parts.redact_for_others(written, open_redactor(workspace, pii=True))
        if edit.base is None and not _teaches(clean):
            raise UsageError(
                "there is nothing in it that an agent could be taught",
                hint="write at least one [[guidance]] or [[examples]] table",
            )
        note = f"edited from {edit.base}" if edit.base else "written by hand"
        saved = library.save(clean, state=TemplateState.DRAFT, note=note)
    return EditResult(saved=saved, base=edit.base, redactions=found, flags=parts.find_flags(clean))


def keep_text(workspace: Workspace, name: str, text: str) -> Path:
    """Keep a text that could not be saved, for its user alone; returns the file."""
    folder = workspace.home / EDITS_FOLDER
    taken = {path.name for path in folder.glob(f"{name}-*.toml")} if folder.exists() else set()
    number = next(n for n in range(1, len(taken) + 2) if f"{name}-{n}.toml" not in taken)
    path = folder / f"{check_name(name)}-{number}.toml"
    workspace.write_file(path, [text.encode("utf-8", "replace")])
    return path


def _teaches(template: Template) -> bool:
    return bool(
        template.guidance or template.examples or template.recoveries or template.system_context
    )


def _read_page(library: Library, stored: StoredTemplate) -> TemplatePage:
    versions = library.versions(stored.info.name)
    info = next(one for one in versions if one.version == stored.info.version)
    db = library.db
    return TemplatePage(
        info=info._replace(id=stored.info.id),
        template=stored.template,
        path=library.path_of(stored.info),
        flags=parts.find_flags(stored.template),
        evidence=parts.list_evidence(stored.template),
        newer=tuple(one for one in versions if one.version > info.version),
        records=tuple(db.list_template_records(stored.info.id)) if db else (),
        verdicts=tuple(db.list_verdicts(stored.info.id)) if db else (),
    )


def _review(library: Library, spec: str, *, newest: bool = True) -> Review:
    name, version = parse_spec(spec)
    stored = library.get(library.newest(name).spec if newest and not version else spec)
    page = _read_page(library, stored)
    used = library.info(name)
    if used.state is not TemplateState.APPROVED or used.version == stored.info.version:
        return Review(page, None, ())
    try:
        before = library.get(used.spec)
    except WarmstartError as error:
        return Review(
            page, None, (), f"{used.spec}, the one in use, cannot be compared: {error.message}"
        )
    changes = contents.diff_templates(before.template, stored.template)
    return Review(page, used, tuple(one for one in changes if contents.is_taught(one)))
