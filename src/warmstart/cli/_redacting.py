"""What ``warmstart redact`` does, apart from its options.

Bytes that are no UTF-8 pass through unchanged, so that redacting a file never damages it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from warmstart.app import Workspace
from warmstart.app.redaction import open_redactor
from warmstart.cli._output import note, print_json, write_bytes
from warmstart.cli._text import count
from warmstart.redact import MAX_CHARACTERS, RedactionError, Redactor

SCHEMA_VERSION = 1


def read_text(name: str) -> str:
    """A file or stdin as text; refused unread where it is too large.

    Raises:
        RedactionError: it is over the limit.
    """
    if name == "-":
        data = sys.stdin.buffer.read(MAX_CHARACTERS + 1)
    else:
        with Path(name).open("rb") as file:
            data = file.read(MAX_CHARACTERS + 1)
    if len(data) > MAX_CHARACTERS:
        raise RedactionError(
            f"the input is over the limit of {MAX_CHARACTERS:,} bytes", hint="split -C 32m FILE"
        )
    return data.decode("utf-8", "surrogateescape")


def make_redactor(*, pii: bool, environment: bool) -> Redactor:
    """A redactor, with or without what it can know of this user."""
    if environment:
        return open_redactor(Workspace.open(), pii=pii)
    return Redactor(pii=pii)


def print_text(text: str) -> None:
    """The redacted text on stdout, bytes as they came."""
    write_bytes(text.encode("utf-8", "surrogateescape"))


def write_text(path: Path, text: str, *, overwrite: bool) -> None:
    """The redacted text in a file of its own."""
    data = text.encode("utf-8", "surrogateescape")
    Workspace.open().write_file(path, [data], overwrite=overwrite)


def print_counts(found: Mapping[str, int], text: str) -> None:
    """Counts for machines."""
    total = sum(found.values())
    print_json({"schema_version": SCHEMA_VERSION, "characters": len(text), "total": total,
                "found": dict(found)})  # fmt: skip


def say_counts(found: Mapping[str, int], *, quiet: bool) -> None:
    """Counts for a person, most frequent first."""
    if not found:
        note("nothing found", quiet=quiet)
        return
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    kinds = ", ".join(f"{kind} {number:,}" for kind, number in ranked)
    note(f"{count(sum(found.values()), 'value')} replaced: {kinds}", quiet=quiet)
