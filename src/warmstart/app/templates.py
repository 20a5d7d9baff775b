"""The workspace's library of templates, for commands and other surfaces.

    with open_library(Workspace.open()) as library:
        library.save(template, state=TemplateState.DRAFT)

The store is the workspace's own, or the one ``WARMSTART_STORE`` names. Reading creates nothing:
where there is no store yet, or one from before templates, every file counts as quarantined.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from warmstart.app.core import Workspace
from warmstart.library import Library, Listed, Retired, Stored
from warmstart.library.gate import require_approved
from warmstart.library.opening import TEMPLATES_FOLDER, open_for_reading
from warmstart.model.template import TemplateState
from warmstart.template import parse_spec
from warmstart.warm import FormKind, build_warmup, render


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


def find_for_model(library: Library, text: str) -> Stored:
    """A template that a model asked for by name; what nobody approved is not shown to models.

    Raises:
        UnapprovedError: a person has to look at it first.
    """
    return require_approved(find_spec(library, text))


def find_to_test(library: Library, text: str, *, unreviewed: bool) -> Stored:
    """A template to try out: what ``try_template`` prints may be sent, so drafts are asked for.

    Raises:
        UnapprovedError: nobody has approved it.
    """
    return require_approved(find_spec(library, text), unreviewed=unreviewed, way="--unreviewed")


def list_selectable(library: Library) -> list[Listed]:
    """Templates that may be chosen without being named: approved ones alone."""
    return [row for row in library.list() if row.state is TemplateState.APPROVED]


def settle_start(library: Library, start_id: int, outcome: Outcome) -> list[Retired]:
    """Say what became of a start, then take out of use what its record speaks against."""
    db = library.require_db()
    is_new = db.settle_start(
        start_id, outcome.session_id, outcome.calls, outcome.errors, outcome.success
    )
    return library.retire_harmful() if is_new else []


def try_template(stored: Stored, message: str, *, budget: int, form: str) -> dict[str, Any]:
    """Exactly what a session would start with; nothing is sent and nothing counts as a use."""
    warmup = build_warmup(stored.template, template_id=stored.id, budget=budget)
    rendered = render(warmup, form, messages=[{"role": "user", "content": message}])
    return {
        "template": stored.name,
        "version": stored.version,
        "state": str(stored.state),
        "id": stored.id,
        "form": form,
        "tokens": warmup.tokens,
        "parts": list(warmup.parts),
        "left_out": list(warmup.left_out),
        "rendered": rendered.text
        if rendered.kind is FormKind.TEXT
        else rendered.files or rendered.body,
    }
