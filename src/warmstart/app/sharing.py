"""Templates and figures on their way out of the workspace and into it.

What goes out is redacted with all that is known of the user; what comes in is quarantined. They
stand apart from ``templates`` because redaction and the reading of sessions come with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from warmstart.app.core import Workspace
from warmstart.app.facts import read_facts
from warmstart.app.profiles import load_rules
from warmstart.app.redaction import open_redactor, redact_texts
from warmstart.app.templates import open_library
from warmstart.errors import NotFoundError, WarmstartError
from warmstart.library import (
    ExportReport,
    ImportReport,
    IncomingTemplate,
    Library,
    TemplateProblem,
    find_flags,
    read_incoming,
    read_regular,
    redact_for_others,
)
from warmstart.model import Selection, TemplateState
from warmstart.profile import profile_facts
from warmstart.sources import ReadLog
from warmstart.template import (
    DEFAULT_LIMITS,
    SESSION_TEXTS,
    parse_spec,
    session_row,
    show_name,
    template_id,
    template_rows,
)
from warmstart.wire import encode_line

__all__ = [
    "Dataset",
    "ImportedFile",
    "ValidatedFile",
    "VerifyResult",
    "export_template",
    "import_templates",
    "list_session_rows",
    "make_dataset",
    "validate_files",
    "verify_library",
]

EVERYTHING = Selection()
"""All sessions of this machine."""


class ImportedFile(NamedTuple):
    """A file that was imported, or refused."""

    path: Path
    report: ImportReport | None
    error: str = ""


class ValidatedFile(NamedTuple):
    """A file that would be imported, or refused."""

    path: Path
    incoming: IncomingTemplate | None
    id: str = ""
    flags: tuple[str, ...] = ()
    error: str = ""


class VerifyResult(NamedTuple):
    """The state of the library."""

    templates: int
    problems: tuple[TemplateProblem, ...]


class Dataset(NamedTuple):
    """Rows for others, redacted, as lines of JSON."""

    lines: list[bytes]
    unapproved: int
    """How many of its templates are not approved."""


def export_template(
    workspace: Workspace,
    spec: str,
    path: Path | None = None,
    *,
    sign_key: Path | None = None,
    store: str | None = None,
) -> ExportReport:
    """Write a version for others: to ``path``, else to ``NAME.template.json`` here.

    Raises:
        RedactionError: redaction cannot run; nothing is written then.
    """
    target = path or Path(f"{parse_spec(spec).name}.template.json")
    with open_library(workspace, store, read_only=True) as library:
        redactor = open_redactor(workspace, pii=True)
        return library.export(spec, target, redactor, sign_key=sign_key)


def import_templates(
    workspace: Workspace, paths: Sequence[Path], *, store: str | None = None
) -> Iterator[ImportedFile]:
    """Import files one by one; one that is refused does not stop the others."""
    with open_library(workspace, store) as library:
        for path in paths:
            try:
                yield ImportedFile(path, library.import_file(path))
            except WarmstartError as error:
                yield ImportedFile(path, None, error.message)


def validate_files(paths: Sequence[Path]) -> list[ValidatedFile]:
    """Check files as an import would, and import none."""
    return [_validate(path) for path in paths]


def verify_library(workspace: Workspace, *, store: str | None = None) -> VerifyResult:
    """Read every template file again and compare it with its name and the store."""
    with open_library(workspace, store, read_only=True) as library:
        return VerifyResult(len(library.list()), tuple(library.verify()))


def make_dataset(
    workspace: Workspace,
    names: Collection[str] = (),
    *,
    every_state: bool = False,
    sessions: bool = False,
    store: str | None = None,
) -> Dataset:
    """Rows of approved templates, unless some are named or all are wanted; of sessions on request.

    Raises:
        NotFoundError: a template that was named is not there.
        RedactionError: redaction cannot run.
    """
    with open_library(workspace, store, read_only=True) as library:
        rows = list(_list_template_rows(workspace, library, names, every_state=every_state))
    unapproved = sum(row["kind"] == "template" and row["state"] != "approved" for row in rows)
    lines = [encode_line(row) for row in rows]
    if sessions:
        lines += [encode_line(row) for row in list_session_rows(workspace)]
    return Dataset(lines, unapproved)


def list_session_rows(
    workspace: Workspace, selection: Selection = EVERYTHING
) -> Iterator[dict[str, Any]]:
    """One row of figures for every session of this machine, as ``warmstart profile`` has them.

    Names of agents, tools and models come from transcripts, so they are redacted.
    """
    rules, redactor = load_rules(workspace), open_redactor(workspace, pii=True)
    for facts in read_facts(workspace, selection, ReadLog()):
        row = session_row(profile_facts(facts, rules), facts.reward)
        yield row | {name: redact_texts(row[name], redactor) for name in SESSION_TEXTS}


def _list_template_rows(
    workspace: Workspace, library: Library, names: Collection[str], *, every_state: bool
) -> Iterator[dict[str, Any]]:
    listed = library.list()
    for missing in sorted(set(names) - {info.name for info in listed}):
        raise NotFoundError(
            f"there is no template {show_name(missing)}",
            wanted=missing,
            hint="warmstart template list",
        )
    for info in listed:
        is_wanted = not names and (every_state or info.state is TemplateState.APPROVED)
        if is_wanted or info.name in names:
            stored = library.get(info.name)
            checked = redact_for_others(stored.template, open_redactor(workspace, pii=True))
            yield from template_rows(checked.template, stored.info.state)


def _validate(path: Path) -> ValidatedFile:
    try:
        incoming = read_incoming(read_regular(path, DEFAULT_LIMITS.file_bytes))
    except WarmstartError as error:
        return ValidatedFile(path, None, error=error.message)
    template = incoming.template
    return ValidatedFile(path, incoming, template_id(template), find_flags(template))
