"""Templates and figures on their way out of the workspace: redacted with all it knows of its user.

They stand apart from the library because redaction and the reading of sessions come with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warmstart.app.core import Workspace
from warmstart.app.facts import read_facts
from warmstart.app.profile import load_rules
from warmstart.app.redaction import open_redactor, redact_texts
from warmstart.errors import NotFoundError
from warmstart.library import ExportReport, Library
from warmstart.library.guard import redact_for_others
from warmstart.model.selection import Selection
from warmstart.model.template import TemplateState
from warmstart.profile import profile_facts
from warmstart.sources import ReadLog
from warmstart.template import parse_spec
from warmstart.template.dataset import SESSION_TEXTS, session_row, template_rows
from warmstart.template.errors import show_name

__all__ = ["export_template", "list_dataset", "list_session_rows"]

EVERYTHING = Selection()
"""All sessions of this machine."""


def export_template(
    workspace: Workspace, library: Library, spec: str, path: Path, sign_key: Path | None = None
) -> ExportReport:
    """Write a template for others, without anything redaction knows of this user.

    Raises:
        RedactionError: redaction cannot run; nothing is written then.
    """
    name, version = parse_spec(spec)
    redactor = open_redactor(workspace, pii=True)
    return library.export(name, path, redactor, version=version, sign_key=sign_key)


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
            f"there is no template {show_name(missing)}",
            wanted=missing,
            hint="warmstart template list",
        )
    for row in rows:
        is_named = row.name in names
        is_wanted = not names and (every_state or row.state is TemplateState.APPROVED)
        if is_named or is_wanted:
            stored = library.get(row.name)
            checked = redact_for_others(stored.template, open_redactor(workspace, pii=True))
            yield from template_rows(checked.template, stored.state)


def list_session_rows(
    workspace: Workspace, selection: Selection = EVERYTHING
) -> Iterator[dict[str, Any]]:
    """One row of figures for every session of this machine, as ``warmstart profile`` has them.

    What agents, tools and models are called is a transcript's word, so that is redacted.
    """
    rules, redactor = load_rules(workspace), open_redactor(workspace, pii=True)
    for facts in read_facts(workspace, selection, ReadLog()):
        row = session_row(profile_facts(facts, rules), facts.reward)
        yield row | {name: redact_texts(row[name], redactor) for name in SESSION_TEXTS}
