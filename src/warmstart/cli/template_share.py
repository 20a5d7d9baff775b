"""``warmstart template export, import, validate, verify, dataset``: templates and others."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warmstart import app
from warmstart.app import TemplateError
from warmstart.cli._output import note, open_console, print_json, write_bytes
from warmstart.cli.template import (
    JSON,
    SCHEMA_VERSION,
    SPEC,
    STORE,
    change_json,
    print_changes,
)
from warmstart.errors import InternalError
from warmstart.model import TemplateState
from warmstart.present import clean, count

if TYPE_CHECKING:
    from warmstart.app import ImportedFile, ImportReport, ValidatedFile

FILE = click.Path(dir_okay=False, path_type=Path)
FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path),
                       metavar="FILE…")  # fmt: skip


@click.command("export")
@SPEC
@click.option("--output", "-o", type=FILE, metavar="FILE",
              help="File to write; else NAME.template.json here.")  # fmt: skip
@click.option("--sign", "sign_key", type=FILE, metavar="KEY",
              help="Sign it with this private SSH key; the signature is FILE.sig.")  # fmt: skip
@STORE
@JSON
def export_template(
    *, spec: str, output: Path | None, sign_key: Path | None, store: str | None, as_json: bool
) -> None:
    """Write a template as one file for others, redacted once more."""
    workspace = app.Workspace.open()
    report = app.export_template(workspace, spec, output, sign_key=sign_key, store=store)
    info = report.info
    if as_json:
        print_json({
            "schema_version": SCHEMA_VERSION, "path": str(report.path), "version": info.version,
            "state": str(info.state), "sha256": report.id, "redactions": dict(report.redactions),
            "signature": str(report.signature) if report.signature else None,
        })  # fmt: skip
        return
    note(f"written to {report.path}, sha256 {report.id}")
    if info.state is not TemplateState.APPROVED:
        note(f"{info.spec} is {info.state}: nobody has approved it here")
    if report.redactions:
        note(f"redaction found more than when it was built: {_counts(report.redactions)}")
    if report.signature:
        note(f"signature in {report.signature}")


@click.command("import")
@FILES
@STORE
@JSON
def import_templates(*, files: tuple[Path, ...], store: str | None, as_json: bool) -> None:
    """Take in templates from elsewhere; they are quarantined until you approve them.

    Size, schema, hash and signature (FILE.sig) are checked, redaction and the scan for
    instructions run again, and what differs from the version in use is shown. Template files of
    earlier programs are converted.
    """
    results = []
    for found in app.import_templates(app.Workspace.open(), files, store=store):
        results.append(found)
        if not as_json:
            _print_imported(found)
    if as_json:
        imported = [_imported_json(found) for found in results]
        print_json({"schema_version": SCHEMA_VERSION, "imported": imported})
    refused = sum(found.report is None for found in results)
    if refused:
        raise TemplateError(
            f"{count(refused, 'file')} refused, {len(files) - refused} imported",
            hint="see docs/templates.md for the format",
        )


@click.command("validate")
@FILES
@JSON
def validate_files(*, files: tuple[Path, ...], as_json: bool) -> None:
    """Check template files without importing them; exit 6 if one is refused."""
    results = app.validate_files(files)
    if as_json:
        listed = [_validated_json(found) for found in results]
        print_json({"schema_version": SCHEMA_VERSION, "files": listed})
    for found in () if as_json else results:
        line = found.error
        if found.incoming:
            line = f"{found.incoming.template.name}, {found.incoming.shape}, {found.id[:12]}"
        open_console().print(clean(f"{found.path}: {line}"), soft_wrap=True)
    bad = sum(found.incoming is None for found in results)
    if bad:
        raise TemplateError(f"{count(bad, 'file')} refused")


@click.command("verify")
@STORE
@JSON
def verify_templates(*, store: str | None, as_json: bool) -> None:
    """Read every template file again; exit 1 if anything is not as it should be."""
    templates, problems = app.verify_library(app.Workspace.open(), store=store)
    if as_json:
        listed = [{"name": p.name, "version": p.version, "problem": p.text} for p in problems]
        print_json({"schema_version": SCHEMA_VERSION, "templates": templates, "problems": listed})
    else:
        for problem in problems:
            version = f"@{problem.version}" if problem.version is not None else ""
            open_console().print(clean(f"{problem.name}{version}: {problem.text}"), soft_wrap=True)
        note(f"{count(templates, 'template')}, {count(len(problems), 'problem')}")
    if problems:
        raise InternalError(
            f"{count(len(problems), 'problem')} in the library",
            hint="look at the files named; `warmstart template delete` removes a version",
        )


@click.command("dataset")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every_state", is_flag=True, help="Templates of every state.")
@click.option("--sessions", is_flag=True, help="Also one row of counts for every session.")
@click.option("--output", "-o", type=FILE, metavar="FILE", help="File to write; else stdout.")
@STORE
@JSON
def write_dataset(
    *, names: tuple[str, ...], output: Path | None, as_json: bool, **options: Any
) -> None:
    """Write templates and markers of proficiency as an open dataset: JSONL, redacted.

    Approved templates, unless some are named. With --output, --json prints what was written.
    """
    workspace = app.Workspace.open()
    made = app.make_dataset(workspace, names, **options)
    if made.unapproved:
        note(f"{count(made.unapproved, 'template')} in it that nobody has approved")
    if output is None:
        write_bytes(b"".join(made.lines))
    else:
        workspace.write_file(output, made.lines)
        if as_json:
            print_json({"schema_version": SCHEMA_VERSION, "path": str(output),
                        "rows": len(made.lines)})  # fmt: skip
    note(count(len(made.lines), "row"), quiet=as_json)


def _print_imported(found: ImportedFile) -> None:
    report = found.report
    if report is None:
        note(f"refused: {found.path}: {found.error}")
        return
    note(f"{report.saved.spec} is {report.saved.state} (read as {report.shape})")
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
    for command in report.saved.next_steps:
        note(f"  next: {command}")


def _imported_json(found: ImportedFile) -> dict[str, Any]:
    if found.report is None:
        return {"path": str(found.path), "error": found.error}
    return {"path": str(found.path), **_report_json(found.report)}


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


def _validated_json(found: ValidatedFile) -> dict[str, Any]:
    if found.incoming is None:
        return {"path": str(found.path), "error": found.error}
    return {
        "path": str(found.path),
        "name": found.incoming.template.name,
        "shape": found.incoming.shape,
        "id": found.id,
        "notes": list(found.incoming.notes),
        "flags": list(found.flags),
    }


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))


SHARE_COMMANDS: tuple[click.Command, ...] = (
    validate_files, export_template, import_templates, verify_templates, write_dataset,
)  # fmt: skip
