"""``template export, import, validate, verify, dataset``: templates and the world outside."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstart.app import Workspace
from warmstart.app.sharing import export_template, list_dataset, list_session_rows
from warmstart.app.templates import open_library
from warmstart.cli._output import note, open_console, print_json, write_bytes
from warmstart.cli._template_show import change_json, print_changes
from warmstart.errors import InternalError, WarmstartError
from warmstart.library import ImportReport
from warmstart.library.files import read_regular
from warmstart.library.guard import find_flags
from warmstart.library.sharing import read_incoming
from warmstart.model.template import TemplateState
from warmstart.present import clean, count
from warmstart.template import DEFAULT_LIMITS, TemplateError, parse_spec, template_id
from warmstart.wire import encode_line

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """What goes into a dataset."""

    names: tuple[str, ...]
    every_state: bool
    sessions: bool
    output: Path | None


def run_export(
    store: str | None, spec: str, output: Path | None, sign_key: Path | None, *, as_json: bool
) -> None:
    """Write one file for others."""
    path = output or Path(f"{parse_spec(spec).name}.template.json")
    workspace = Workspace.open()
    with open_library(workspace, store, read_only=True) as library:
        report = export_template(workspace, library, spec, path, sign_key)
    if as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "path": str(report.path),
                "version": report.version,
                "state": str(report.state),
                "sha256": report.id,
                "redactions": dict(report.redactions),
                "signature": str(report.signature) if report.signature else None,
            }
        )
        return
    note(f"written to {report.path}, sha256 {report.id}")
    if report.state is not TemplateState.APPROVED:
        note(f"{report.spec} is {report.state}: nobody has approved it here")
    if report.redactions:
        note(f"redaction found more than when it was built: {_counts(report.redactions)}")
    if report.signature:
        note(f"signature in {report.signature}")


def run_import(store: str | None, files: tuple[Path, ...], *, as_json: bool) -> None:
    """Take in files one by one; one that is refused does not stop the others.

    Raises:
        TemplateError: at least one was refused.
    """
    results: list[dict[str, Any]] = []
    refused = 0
    with open_library(Workspace.open(), store) as library:
        for path in files:
            try:
                report = library.import_file(path)
            except WarmstartError as error:
                refused += 1
                results.append({"path": str(path), "error": error.message})
                note(f"refused: {path}: {error.message}", quiet=as_json)
                continue
            results.append({"path": str(path), **_report_json(report)})
            if not as_json:
                _print_report(report)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "imported": results})
    if refused:
        raise TemplateError(
            f"{count(refused, 'file')} refused, {len(files) - refused} imported",
            hint="see docs/templates.md for the format",
        )


def run_validate(files: tuple[Path, ...], *, as_json: bool) -> None:
    """Check files without taking them in.

    Raises:
        TemplateError: at least one is no valid template.
    """
    results = [_validate(path) for path in files]
    bad = [result for result in results if "error" in result]
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "files": results})
    for result in () if as_json else results:
        said = result.get("error") or f"{result['name']}, {result['shape']}, {result['id'][:12]}"
        open_console().print(clean(f"{result['path']}: {said}"), soft_wrap=True)
    if bad:
        raise TemplateError(f"{count(len(bad), 'file')} refused")


def run_verify(store: str | None, *, as_json: bool) -> None:
    """Check the library against itself.

    Raises:
        InternalError: something is not as it should be.
    """
    with open_library(Workspace.open(), store, read_only=True) as library:
        problems = library.verify()
        number = len(library.list())
    if as_json:
        listed = [{"name": p.name, "version": p.version, "problem": p.text} for p in problems]
        print_json({"schema_version": SCHEMA_VERSION, "templates": number, "problems": listed})
    else:
        for problem in problems:
            version = f"@{problem.version}" if problem.version is not None else ""
            open_console().print(clean(f"{problem.name}{version}: {problem.text}"), soft_wrap=True)
        note(f"{count(number, 'template')}, {count(len(problems), 'problem')}")
    if problems:
        raise InternalError(
            f"{count(len(problems), 'problem')} in the library",
            hint="look at the files named; `warmstart template delete` removes a version",
        )


def run_dataset(store: str | None, wanted: Dataset, *, as_json: bool) -> None:
    """Write the dataset; rows go out as they are made."""
    workspace = Workspace.open()
    with open_library(workspace, store, read_only=True) as library:
        rows = list_dataset(workspace, library, wanted.names, every_state=wanted.every_state)
        templates = list(rows)
    lines = [encode_line(row) for row in templates]
    unapproved = [
        row for row in templates if row["kind"] == "template" and row["state"] != "approved"
    ]
    if unapproved:
        note(f"{count(len(unapproved), 'template')} in it that nobody has approved")
    if wanted.sessions:
        lines += [encode_line(row) for row in list_session_rows(workspace)]
    if wanted.output is None:
        write_bytes(b"".join(lines))
    else:
        workspace.write_file(wanted.output, lines)
        if as_json:
            print_json({"schema_version": SCHEMA_VERSION, "path": str(wanted.output),
                        "rows": len(lines)})  # fmt: skip
    note(count(len(lines), "row"), quiet=as_json)


def _validate(path: Path) -> dict[str, Any]:
    try:
        incoming = read_incoming(read_regular(path, DEFAULT_LIMITS.file_bytes))
    except WarmstartError as error:
        return {"path": str(path), "error": error.message}
    return {
        "path": str(path),
        "name": incoming.template.name,
        "shape": incoming.shape,
        "id": template_id(incoming.template),
        "notes": list(incoming.notes),
        "flags": list(find_flags(incoming.template)),
    }


def _report_json(report: ImportReport) -> dict[str, Any]:
    return {
        "name": report.saved.name,
        "version": report.saved.version,
        "id": report.saved.id,
        "state": str(report.saved.state),
        "is_new": report.saved.is_new,
        "shape": report.shape,
        "notes": list(report.notes),
        "redactions": dict(report.redactions),
        "flags": list(report.flags),
        "signature": {"state": report.signature.state, "signer": report.signature.signer},
        "compared_with": report.compared_with,
        "changes": [change_json(change) for change in report.changes],
        "next": report.saved.next_steps,
    }


def _print_report(report: ImportReport) -> None:
    saved = report.saved
    note(f"{saved.name}@{saved.version} is {saved.state} (read as {report.shape})")
    for line in report.notes:
        note(f"  {line}")
    if report.redactions:
        note(f"  redacted: {_counts(report.redactions)}")
    if report.flags:
        note(f"  {count(len(report.flags), 'flag')}: text that reads like instructions")
    signer = f" by {report.signature.signer}" if report.signature.signer else ""
    note(f"  signature: {report.signature.state}{signer}")
    if report.compared_with is not None and report.changes:
        note(f"  against version {report.compared_with}:")
        print_changes(open_console(), report.changes)
    for command in saved.next_steps:
        note(f"  next: {command}")


def _counts(counts: Any) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))
