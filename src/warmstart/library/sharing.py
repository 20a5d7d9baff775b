"""Templates on their way to others and from others.

Going out: redacted once more, one file, optionally signed. Coming in: nothing is believed. Size,
depth, schema and hash are checked, a signature that is there must fit, redaction and the scan for
orders run again, and the result is quarantined whatever the file contains.

A signature is ``FILE.sig`` beside the file, made by ``ssh-keygen -Y`` with a key people already
have. Keys that are trusted here stand in ``allowed_signers`` in the home, in the format of
ssh-keygen: ``name namespaces="…" key``.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warmstart.atomic import write_whole
from warmstart.children import ChildSetup, Completed, allow_cpu, run_child
from warmstart.errors import NotFoundError, UsageError
from warmstart.library.files import read_regular
from warmstart.library.review import find_flags, redact_for_others, redact_from_others
from warmstart.library.versions import Saved, StoredTemplate, TemplateVersion
from warmstart.model import Template, TemplateState
from warmstart.template import (
    DEFAULT_LIMITS,
    Change,
    TemplateError,
    convert_older,
    diff_templates,
    encode_bundle,
    find_shape,
    is_bundle,
    parse_document,
    read_bundle,
    template_from_dict,
    template_id,
    template_to_dict,
)

if TYPE_CHECKING:
    from warmstart.library.library import Library
    from warmstart.model import Template
    from warmstart.redact import Redactor

__all__ = [
    "ExportReport",
    "ImportReport",
    "IncomingTemplate",
    "Signature",
    "export_template",
    "import_file",
    "read_incoming",
]

NAMESPACE = "warmstart-template"
ALLOWED_SIGNERS = "allowed_signers"
TIMEOUT_SECONDS = 30
MAX_SIGNATURE_BYTES = 20_000
_SIGNER = re.compile(r"[\w.@+-]{1,200}")


class Signature(NamedTuple):
    """What is known of who made a file."""

    state: str
    """``none``, ``good``, ``unknown`` (by a key that is not trusted here)."""
    signer: str = ""


UNSIGNED = Signature("none")


class IncomingTemplate(NamedTuple):
    """A template as a file described it."""

    template: Template
    shape: str
    """``bundle``, ``template``, or the older shape it had."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What was written for others."""

    info: TemplateVersion
    path: Path
    id: str
    """Of the content as exported; differs from the library's where redaction found more."""
    redactions: Mapping[str, int] = field(default_factory=dict)
    """What redaction found only now."""
    signature: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What became of a file from elsewhere."""

    saved: Saved
    shape: str
    """``bundle``, ``template``, or the older shape it had."""
    notes: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    signature: Signature = UNSIGNED
    compared_with: int | None = None
    """The version the changes are counted from; None when nothing of that name was there."""
    changes: tuple[Change, ...] = ()


def export_template(
    stored: StoredTemplate, path: Path, redactor: Redactor, sign_key: Path | None = None
) -> ExportReport:
    """Write a template for others; ``path`` must not exist.

    Raises:
        UsageError: there is a file already, or no folder for it.
        RedactionError: redaction cannot run; nothing is written then.
    """
    for target in (path, _signature_path(path)):
        if target.exists() or target.is_symlink():
            raise UsageError(f"{str(target)!r} exists already", hint="name another file")
    if not path.parent.is_dir():
        raise UsageError(f"no such folder: {str(path.parent)!r}", hint="create it first")
    template, found = redact_for_others(stored.template, redactor)
    # What came out of redaction must still be a template everyone can import.
    template_from_dict(template_to_dict(template))
    before = stored.template.provenance.redactions
    every = {kind: before.get(kind, 0) + found.get(kind, 0) for kind in sorted({*before, *found})}
    write_whole(path, [encode_bundle(template, every)])
    signature = _sign(path, sign_key) if sign_key is not None else None
    return ExportReport(
        info=stored.info,
        path=path,
        id=template_id(template),
        redactions=found,
        signature=signature,
    )


def import_file(library: Library, path: Path) -> ImportReport:
    """Take in a file; see the module for what is checked.

    Raises:
        NotFoundError: there is no file.
        TemplateError: it is refused; nothing was written.
    """
    data = read_regular(path, DEFAULT_LIMITS.file_bytes)
    incoming = read_incoming(data)
    signature = _check_signature(path, data, library.folder.parent / ALLOWED_SIGNERS)
    template, redactions = redact_from_others(incoming.template)
    # Also as it came: hidden text is gone by now, but that it was there should be known.
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
        compared_with=before.info.version if before else None,
        changes=tuple(diff_templates(before.template, template)) if before else (),
    )


def read_incoming(data: bytes) -> IncomingTemplate:
    """The template in a file's bytes: a bundle, a bare template, or an older shape.

    Raises:
        TemplateError: it is none of them.
    """
    document = parse_document(data)
    if is_bundle(document):
        return IncomingTemplate(read_bundle(document).template, "bundle")
    if find_shape(document) is not None:
        template, shape, notes = convert_older(document)
        # Converted from foreign values: what the schema refuses must not get in this way.
        return IncomingTemplate(template_from_dict(template_to_dict(template)), shape, notes)
    return IncomingTemplate(template_from_dict(document), "template")


def _find_current(library: Library, name: str) -> StoredTemplate | None:
    try:
        return library.get(name)
    except (NotFoundError, TemplateError):
        # Nothing is there, or nothing that can still be read: `verify` reports it.
        return None


def _notes(saved: Saved, redactions: Mapping[str, int]) -> list[str]:
    notes = []
    if not saved.is_new:
        notes.append(f"the same content is here already: version {saved.version}, {saved.state}")
    if redactions:
        notes.append("something was redacted, so the id is another one than the sender's")
    return notes


def _signature_path(path: Path) -> Path:
    return path.with_name(path.name + ".sig")


def _sign(path: Path, key: Path) -> Path:
    """Sign a file with a private key; where that fails, no unsigned file is left behind.

    Raises:
        TemplateError: ssh-keygen is missing or refuses.
    """
    target = _signature_path(path)
    target.unlink(missing_ok=True)
    words = ["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path.absolute())]
    try:
        done = _run_keygen(words, b"", may_ask=True)  # for the key's passphrase
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    if done.exit_code or not target.is_file():
        path.unlink(missing_ok=True)
        raise TemplateError(
            f"{str(path)!r} could not be signed with {str(key)!r}",
            hint="name a private SSH key; one with a passphrase must be in the agent",
        )
    target.chmod(0o600)
    return target


def _check_signature(path: Path, data: bytes, allowed: Path) -> Signature:
    """Who signed the bytes that were read from a file.

    Raises:
        TemplateError: there is a signature, and it is not of these bytes.
    """
    signature = _signature_path(path)
    if not signature.exists() and not signature.is_symlink():
        return UNSIGNED
    read_regular(signature, MAX_SIGNATURE_BYTES)
    common = ["-n", NAMESPACE, "-s", str(signature)]
    if _run_keygen(["-Y", "check-novalidate", *common], data).exit_code:
        raise TemplateError(
            "the signature beside it is not of this file",
            field=signature.name,
            hint="the file was changed after it was signed; ask for it again",
        )
    signer = _find_signer(signature, allowed)
    if not signer:
        return Signature("unknown")
    verify = ["-Y", "verify", "-f", str(allowed), "-I", signer, *common]
    failed = _run_keygen(verify, data).exit_code
    return Signature("unknown") if failed else Signature("good", signer)


def _find_signer(signature: Path, allowed: Path) -> str:
    """The name under which the key is trusted here; empty where it is not."""
    if not allowed.is_file():
        return ""
    done = _run_keygen(["-Y", "find-principals", "-f", str(allowed), "-s", str(signature)], b"")
    names = done.stdout.decode("utf-8", "replace").split()
    return names[0] if names and _SIGNER.fullmatch(names[0]) else ""


def _run_keygen(arguments: list[str], data: bytes, *, may_ask: bool = False) -> Completed:
    setup = ChildSetup(
        kind="terminal" if may_ask else "command",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cpu_seconds=allow_cpu(TIMEOUT_SECONDS),
    )
    try:
        return run_child(["ssh-keygen", *arguments], setup, data, seconds=TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TemplateError(
            "ssh-keygen could not be run", hint="install OpenSSH 8.1 or newer"
        ) from error
