"""The workspace's library of templates, for commands and other surfaces.

    with open_library(Workspace.open()) as library:
        library.save(template, state=TemplateState.DRAFT)

The store is the workspace's own, or the one ``WARMSTART_STORE`` names. Reading creates nothing:
where there is no store yet, or one from before templates, every file counts as quarantined.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.errors import NotFoundError
from warmstart.facts import derive_facts
from warmstart.library import ExportReport, Library, Listed, Retired, Stored
from warmstart.library.guard import redact_for_others
from warmstart.library.opening import TEMPLATES_FOLDER, open_for_reading
from warmstart.model.selection import Selection
from warmstart.model.template import TemplateState
from warmstart.sources import ReadLog
from warmstart.template.dataset import session_row, template_rows
from warmstart.template.names import parse_spec
from warmstart.warm.build import build_warmup
from warmstart.warm.render import Kind, render
from warmstart.workspace.core import Workspace
from warmstart.workspace.redaction import open_redactor


class Outcome(NamedTuple):
    """What a session's transcript says about its start."""

    session_id: str
    calls: int
    errors: int
    success: bool | None
    """None where nothing says whether the task was done."""


def open_library(
    workspace: Workspace, store: str | None = None, *, read_only: bool = False
) -> Library:
    """The library; it holds the store open until it is closed."""
    if read_only:
        return open_for_reading(workspace.home, store)
    location = store or os.environ.get("WARMSTART_STORE") or None
    return Library(workspace.home / TEMPLATES_FOLDER, workspace.open_store(location))


def find_spec(library: Library, text: str) -> Stored:
    """The template someone means by ``name`` or ``name@3``."""
    name, version = parse_spec(text)
    return library.get(name, version)


def list_selectable(library: Library) -> list[Listed]:
    """Templates that may be chosen without being named: approved ones alone."""
    return [row for row in library.list() if row.state is TemplateState.APPROVED]


def export_template(
    workspace: Workspace, library: Library, spec: str, path: Path, sign_key: Path | None = None
) -> ExportReport:
    """Write a template for others, without anything redaction knows of this user.

    Raises:
        RedactionError: redaction cannot run; nothing is written then.
    """
    name, version = parse_spec(spec)
    redactor = open_redactor(workspace, pii=True)
    return library.export(name, path, version=version, sign_key=sign_key, redactor=redactor)


def settle_start(library: Library, start_id: int, outcome: Outcome) -> list[Retired]:
    """Say what became of a start, then take out of use what its record speaks against."""
    db = library.require_db()
    is_new = db.settle_start(
        start_id, outcome.session_id, outcome.calls, outcome.errors, outcome.success
    )
    return library.retire_harmful() if is_new else []


def list_dataset(
    workspace: Workspace,
    library: Library,
    names: tuple[str, ...] = (),
    *,
    every_state: bool = False,
) -> Iterator[dict[str, Any]]:
    """Rows of templates for others, redacted once more; approved ones unless all are wanted.

    Raises:
        RedactionError: redaction cannot run.
    """
    rows = library.list()
    for missing in sorted(set(names) - {row.name for row in rows}):
        raise NotFoundError(
            f"there is no template {missing!r}", wanted=missing, hint="warmstart template list"
        )
    for row in rows:
        is_named = row.name in names
        is_wanted = not names and (every_state or row.state is TemplateState.APPROVED)
        if is_named or is_wanted:
            stored = library.get(row.name)
            checked = redact_for_others(stored.template, open_redactor(workspace, pii=True))
            yield from template_rows(checked.template, stored.state)


def list_session_rows(workspace: Workspace) -> Iterator[dict[str, Any]]:
    """One row of counts for every session of this machine; no text, path or id of it."""
    log = ReadLog()
    for session in workspace.read_sessions(Selection(), log):
        yield session_row(derive_facts(session))


def try_template(stored: Stored, message: str, *, budget: int, form: str) -> dict[str, Any]:
    """Exactly what a session would start with; nothing is sent and nothing counts as a use."""
    warmup = build_warmup(stored.template, template_id=stored.id, message=message, budget=budget)
    rendered = render(warmup, form, messages=[{"role": "user", "content": message}])
    return {
        "template": stored.name,
        "version": stored.version,
        "id": stored.id,
        "form": form,
        "tokens": warmup.tokens,
        "parts": list(warmup.parts),
        "left_out": list(warmup.left_out),
        "rendered": rendered.text
        if rendered.kind is Kind.TEXT
        else rendered.files or rendered.body,
    }
