"""Templates on their way to others and from others.

Going out: redacted once more, one file, optionally signed. Coming in: nothing is believed. Size,
depth, schema and hash are checked, a signature that is there must fit, redaction and the scan for
orders run again, and the result is quarantined whatever the file says about itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warmstart.atomic import write_whole
from warmstart.errors import NotFoundError, UsageError
from warmstart.library.files import read_regular
from warmstart.library.guard import find_flags, redact_for_others, redact_from_others
from warmstart.library.model import ExportReport, ImportReport, Saved, Stored
from warmstart.library.signature import (
    ALLOWED_SIGNERS,
    check_signature,
    sign_file,
    signature_path,
)
from warmstart.model import Template, TemplateState
from warmstart.template import (
    DEFAULT_LIMITS,
    TemplateError,
    parse_document,
    template_from_dict,
    template_id,
    template_to_dict,
)
from warmstart.template.bundle import encode_bundle, is_bundle, read_bundle
from warmstart.template.diff import Change, diff_templates
from warmstart.template.older import convert_older, find_shape

if TYPE_CHECKING:
    from warmstart.library.library import Library
    from warmstart.redact import Redactor


class Incoming(NamedTuple):
    """A template as a file described it."""

    template: Template
    shape: str
    notes: tuple[str, ...] = ()


def export_template(
    stored: Stored, path: Path, redactor: Redactor, sign_key: Path | None = None
) -> ExportReport:
    """Write a template for others; ``path`` must not exist.

    Raises:
        UsageError: there is a file already, or no folder for it.
        RedactionError: redaction cannot run; nothing is written then.
    """
    for target in (path, signature_path(path)):
        if target.exists() or target.is_symlink():
            raise UsageError(f"{str(target)!r} exists already", hint="name another file")
    if not path.parent.is_dir():
        raise UsageError(f"no such folder: {str(path.parent)!r}", hint="create it first")
    template, found = redact_for_others(stored.template, redactor)
    # What came out of redaction must still be a template everyone can import.
    template_from_dict(template_to_dict(template))
    all_found = _add(stored.template.provenance.redactions, found)
    write_whole(path, [encode_bundle(template, all_found)])
    signature = _sign(path, sign_key) if sign_key is not None else None
    return ExportReport(
        path=path, id=template_id(template), redactions=found, signature=signature,
        name=stored.name, version=stored.version, state=stored.state,
    )  # fmt: skip


def _sign(path: Path, key: Path) -> Path:
    """The signature; where there can be none, no unsigned file is left behind either."""
    try:
        return sign_file(path, key)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def import_file(library: Library, path: Path) -> ImportReport:
    """Take in a file; see the module for what is checked.

    Raises:
        NotFoundError: there is no file.
        TemplateError: it is refused; nothing was written.
    """
    data = read_regular(path, DEFAULT_LIMITS.file_bytes)
    incoming = read_incoming(data)
    allowed = library.folder.parent / ALLOWED_SIGNERS
    signature = check_signature(path, data, allowed)
    template, redactions = redact_from_others(incoming.template)
    # Also as it came: what was hidden is gone by now, but that it was there should be known.
    flags = tuple(sorted({*find_flags(incoming.template), *find_flags(template)}))
    before = _find_current(library, template.name)
    note = f"imported as {incoming.shape}"
    saved = library.save(template, state=TemplateState.QUARANTINED, note=note)
    return ImportReport(
        saved=saved,
        shape=incoming.shape,
        notes=(*incoming.notes, *_notes(saved, redactions)),
        redactions=redactions,
        flags=flags,
        signature=signature,
        compared_with=before.version if before else None,
        changes=_compare(before, template),
    )


def read_incoming(data: bytes) -> Incoming:
    """The template in a file's bytes: a bundle, a bare template, or an older shape.

    Raises:
        TemplateError: it is none of them.
    """
    document = parse_document(data)
    if is_bundle(document):
        return Incoming(read_bundle(document).template, "bundle")
    if find_shape(document) is not None:
        template, shape, notes = convert_older(document)
        # Converted from foreign values: what the schema refuses must not get in this way.
        return Incoming(template_from_dict(template_to_dict(template)), shape, notes)
    return Incoming(template_from_dict(document), "template")


def _find_current(library: Library, name: str) -> Stored | None:
    try:
        return library.get(name)
    except (NotFoundError, TemplateError):
        # Nothing is there, or nothing that can still be read: `verify` says so.
        return None


def _compare(before: Stored | None, template: Template) -> tuple[Change, ...]:
    return tuple(diff_templates(before.template, template)) if before else ()


def _notes(saved: Saved, redactions: Mapping[str, int]) -> list[str]:
    notes = []
    if not saved.is_new:
        notes.append(f"the same content is here already: version {saved.version}, {saved.state}")
    if redactions:
        notes.append("something was redacted, so the id is another one than the sender's")
    return notes


def _add(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in sorted({*one, *other})}
