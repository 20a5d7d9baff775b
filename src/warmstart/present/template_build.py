"""Templates that were built, written by hand, or came from elsewhere, as documents.

Each says what is in the template, what was redacted or flagged, where it is, and which commands
review and approve it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmstart.model import TemplateState
from warmstart.present.document import Block, Document, NextSteps, Text
from warmstart.present.template import change_fields, show_changes, show_contents
from warmstart.present.text import count
from warmstart.template import canonical_json

if TYPE_CHECKING:
    from warmstart.app import (
        Bootstrap,
        Bootstrapped,
        BuildResult,
        EditResult,
        ImportedFile,
        ImportReport,
        Saved,
        ValidatedFile,
        VerifyResult,
    )
    from warmstart.library import ExportReport

__all__ = [
    "bootstrap_document",
    "built_document",
    "dataset_document",
    "edited_document",
    "exported_document",
    "imported_document",
    "validated_document",
    "verified_document",
]

SCHEMA_VERSION = 1
PURPOSES = {"show": "read it first", "approve": "then let it be used"}
"""What the commands of a review are for, by their second word."""


def built_document(
    results: Sequence[BuildResult], skipped: Sequence[Mapping[str, Any]] = ()
) -> Document:
    """Templates that were built: the rules, the sessions left out, and where the drafts are."""
    return Document(
        title="",
        blocks=[block for built in results for block in _show_built(built)],
        data={
            "schema_version": SCHEMA_VERSION,
            "templates": [_list_built_fields(built) for built in results],
            "skipped": list(skipped),
        },
    )


def _show_built(built: BuildResult) -> Iterator[Block]:
    template, origin = built.template, built.template.provenance
    recoveries = "recovery" if len(template.recoveries) == 1 else "recoveries"
    title = (
        f"{template.name} ({template.task_type}): {count(len(template.examples), 'example')}, "
        f"{len(template.recoveries)} {recoveries}, "
        f"{count(len(template.guidance), 'line')} of guidance, "
        f"{len(canonical_json(template)):,} bytes"
    )
    yield Text(title, "strong")
    gone = f", {built.missing:,} gone" if built.missing else ""
    looked_at = f"{built.looked_at:,} looked at, {built.qualified:,} qualify"
    lines = [f"sessions: {looked_at}, {origin.sessions:,} read{gone}"]
    if built.left_out:
        lines.append(f"left out: {_join_counts(built.left_out)}")
    if built.unverified:
        unsure = count(built.unverified, "call")
        lines.append(
            f"not taken: {unsure} whose success rests on words alone or on a hidden exit code"
        )
    lines += ["a session qualifies by:", *(f"  - {rule}" for rule in origin.rules)]
    lines.append(f"redacted: {_join_counts(origin.redactions) or 'nothing found'}")
    if origin.flags:
        lines.append(f"reads like instructions, look at it: {', '.join(origin.flags)}")
    yield from (Text(line, indent=2, hang=2) for line in lines)
    if built.saved is None:
        yield Text("not saved (--dry-run)", indent=2)
    else:
        yield from _show_saved(built.saved)
        yield NextSteps(_list_steps(built.saved.next_steps))


def _show_saved(saved: Saved) -> Iterator[Block]:
    """Where a template was saved."""
    state = "saved as" if saved.is_new else "is there already as"
    line = f"{state} version {saved.version} ({saved.state}): {saved.path}"
    yield Text(line, indent=2, whole=True)


def _list_steps(commands: Sequence[str]) -> list[tuple[str, str]]:
    """Commands that review a template, each with what it is for."""
    return [(command, PURPOSES.get(command.split()[2], "")) for command in commands]


def _saved_fields(saved: Saved) -> dict[str, Any]:
    """Where a template was saved, for machines."""
    return {
        "version": saved.version,
        "id": saved.id,
        "path": str(saved.path),
        "state": str(saved.state),
        "is_new": saved.is_new,
    }


def _list_built_fields(built: BuildResult) -> dict[str, Any]:
    template, provenance = built.template, built.template.provenance
    return {
        "name": template.name,
        "task_type": template.task_type,
        "rules": list(provenance.rules),
        "looked_at": built.looked_at,
        "qualified": built.qualified,
        "left_out": built.left_out,
        "read": provenance.sessions,
        "missing": built.missing,
        "unverified": built.unverified,
        "examples": len(template.examples),
        "recoveries": len(template.recoveries),
        "guidance": len(template.guidance),
        "tools": sorted({example.tool for example in template.examples}),
        "bytes": len(canonical_json(template)),
        "redactions": dict(provenance.redactions),
        "flags": list(provenance.flags),
        "saved": _saved_fields(built.saved) if built.saved else None,
        "next": built.next_steps,
    }


def bootstrap_document(
    made: Bootstrapped, request: Bootstrap, skipped: Sequence[Mapping[str, Any]] = ()
) -> Document:
    """What was learned from the tasks that were run, and what to do with it."""
    template, saved = made.template, made.saved
    unchecked = f", {made.unchecked:,} without a check" if made.unchecked else ""
    sessions = count(made.done, "session")
    line = f"{saved.name}: learned from {made.solved:,} of {sessions} that solved their task"
    steps = _list_steps(saved.next_steps)
    if made.left:
        test = (
            f"warmstart experiment new {saved.name}-test --tasks {request.tasks_file.name}"
            f" --split all --arms cold,warm:{saved.spec},token-matched …"
        )
        steps.append((test, "test it on the tasks that are left"))
    steps.append((f"warmstart experiment plan --pilot {made.experiment}", "how large it must be"))
    return Document(
        title=line + unchecked,
        blocks=[*show_contents(template), Text(""), *_show_saved(saved), NextSteps(steps)],
        data={
            "schema_version": SCHEMA_VERSION,
            "name": template.name,
            "experiment": made.experiment,
            "sessions": made.done,
            "solved": made.solved,
            "unchecked": made.unchecked,
            "tasks": list(made.tasks),
            "tasks_left": made.left,
            "examples": len(template.examples),
            "recoveries": len(template.recoveries),
            "guidance": len(template.guidance),
            "flags": list(template.provenance.flags),
            "redactions": dict(template.provenance.redactions),
            "saved": _saved_fields(saved),
            "next": [command for command, _ in steps],
            "skipped": list(skipped),
        },
    )


def edited_document(result: EditResult) -> Document:
    """A template that was written or edited by hand."""
    saved = result.saved
    state = "is saved as a draft" if saved.is_new else f"has this content already ({saved.state})"
    blocks: list[Block] = [Text(f"{saved.spec} {state}")]
    if result.redactions:
        blocks.append(Text(f"redacted: {_join_counts(result.redactions)}", indent=2))
    if result.flags:
        flags = ", ".join(result.flags)
        blocks.append(Text(f"reads like instructions, look at it: {flags}", indent=2, hang=2))
    return Document(
        title="",
        blocks=[*blocks, NextSteps(_list_steps(saved.next_steps))],
        data={
            "schema_version": SCHEMA_VERSION,
            "name": saved.name,
            "edited_from": result.base,
            "redactions": dict(result.redactions),
            "flags": list(result.flags),
            "saved": _saved_fields(saved),
            "next": saved.next_steps,
        },
    )


def exported_document(report: ExportReport) -> Document:
    """A template that was written for others."""
    info = report.info
    lines = [f"written to {report.path}, sha256 {report.id}"]
    if info.state is not TemplateState.APPROVED:
        lines.append(f"{info.spec} is {info.state}: nobody has approved it here")
    if report.redactions:
        found = _join_counts(report.redactions)
        lines.append(f"redaction found more than when it was built: {found}")
    if report.signature:
        lines.append(f"signature in {report.signature}")
    return Document(
        title="",
        blocks=[Text(line, whole=True) for line in lines],
        data={
            "schema_version": SCHEMA_VERSION,
            "path": str(report.path),
            "version": info.version,
            "state": str(info.state),
            "sha256": report.id,
            "redactions": dict(report.redactions),
            "signature": str(report.signature) if report.signature else None,
        },
    )


def imported_document(results: Sequence[ImportedFile]) -> Document:
    """Files that were imported or refused."""
    return Document(
        title="",
        blocks=[block for found in results for block in _show_imported(found)],
        data={
            "schema_version": SCHEMA_VERSION,
            "imported": [_list_imported_fields(found) for found in results],
        },
    )


def _show_imported(found: ImportedFile) -> Iterator[Block]:
    report = found.report
    if report is None:
        yield Text(f"refused: {found.path}: {found.error}")
        return
    yield Text(f"{report.saved.spec} is {report.saved.state} (read as {report.shape})", "strong")
    lines = list(report.notes)
    if report.redactions:
        lines.append(f"redacted: {_join_counts(report.redactions)}")
    if report.flags:
        lines.append(f"{count(len(report.flags), 'flag')}: text that reads like instructions")
    signer = f" by {report.signature.signer}" if report.signature.signer else ""
    lines.append(f"signature: {report.signature.state}{signer}")
    yield from (Text(line, indent=2, hang=2) for line in lines)
    if report.compared_with is not None and report.changes:
        yield Text(f"against version {report.compared_with}:", indent=2)
        yield from show_changes(report.changes)
    yield NextSteps(_list_steps(report.saved.next_steps))


def _list_imported_fields(found: ImportedFile) -> dict[str, Any]:
    if found.report is None:
        return {"path": str(found.path), "error": found.error}
    return {"path": str(found.path), **_list_report_fields(found.report)}


def _list_report_fields(report: ImportReport) -> dict[str, Any]:
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
        "changes": [change_fields(change) for change in report.changes],
        "next": report.saved.next_steps,
    }


def validated_document(results: Sequence[ValidatedFile]) -> Document:
    """Files that would be imported or refused, one line each."""
    return Document(
        title="",
        blocks=[Text(_describe_validated(found)) for found in results],
        data={
            "schema_version": SCHEMA_VERSION,
            "files": [_list_validated_fields(found) for found in results],
        },
    )


def _describe_validated(found: ValidatedFile) -> str:
    words = found.error
    if found.incoming:
        words = f"{found.incoming.template.name}, {found.incoming.shape}, {found.id[:12]}"
    return f"{found.path}: {words}"


def _list_validated_fields(found: ValidatedFile) -> dict[str, Any]:
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


def verified_document(result: VerifyResult) -> Document:
    """The faults of the library, one line each, and how many templates there are."""
    lines = [
        f"{one.name}{'' if one.version is None else f'@{one.version}'}: {one.text}"
        for one in result.problems
    ]
    total = f"{count(result.templates, 'template')}, {count(len(result.problems), 'problem')}"
    return Document(
        title="",
        blocks=[Text(line) for line in (*lines, total)],
        data={
            "schema_version": SCHEMA_VERSION,
            "templates": result.templates,
            "problems": [
                {"name": one.name, "version": one.version, "problem": one.text}
                for one in result.problems
            ],
        },
    )


def dataset_document(path: Path, rows: int) -> Document:
    """A dataset that was written to a file."""
    return Document(
        title="",
        blocks=[Text(f"{count(rows, 'row')} written to {path}", whole=True)],
        data={"schema_version": SCHEMA_VERSION, "path": str(path), "rows": rows},
    )


def _join_counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items())
