"""``warmstart redact``: a file without its secrets, on stdout or in another file.

Bytes that are not UTF-8 pass through unchanged, so that redacting a file never damages it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import cast

import click

from warmstart.cli._output import JSON, QUIET, note, print_json, write_bytes

SCHEMA_VERSION = 1
EXIT_FOUND = 1
PIECE_BYTES = 1 << 16


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option("--pii", is_flag=True, help="Also mail addresses, phone numbers, home folders, user "
              "and host names.")  # fmt: skip
@click.option("--no-env", is_flag=True, help="Do not look for the values of this environment and "
              "of .env files.")  # fmt: skip
@click.option("--output", "-o", type=click.Path(path_type=Path), metavar="PATH",
              help="Write here instead of stdout, readable by you alone.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the output if it exists.")
@click.option("--check", is_flag=True, help="Print no text; exit 1 if anything was found.")
@JSON
@QUIET
def redact(
    *, file: str, pii: bool, no_env: bool, output: Path | None, force: bool, check: bool,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Print FILE (or - for stdin) with secrets replaced by placeholders.

    The same value has the same placeholder everywhere, such as <SECRET:github_pat:1>. What was
    found is counted by kind on stderr; no value is ever shown. If redaction cannot run there is
    an error and no text.
    """
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        Redactor,
        Workspace,
        open_redactor,
    )

    text = _read_text(file)
    workspace = Workspace.open()
    redactor = Redactor(pii=pii) if no_env else open_redactor(workspace, pii=pii)
    data = redactor.text(text).encode("utf-8", "surrogateescape")
    found = redactor.found
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "characters": len(text),
                    "total": sum(found.values()), "found": dict(found)})  # fmt: skip
    elif output is not None:
        workspace.write_file(output, [data], overwrite=force)
    elif not check:
        write_bytes(data)
    note(_describe_found(found), quiet=quiet)
    if check and found:
        raise click.exceptions.Exit(EXIT_FOUND)


def _read_text(name: str) -> str:
    """A file or stdin as text; refused where it is too large.

    Raises:
        RedactionError: it is over the limit.
    """
    from warmstart.app import MAX_CHARACTERS, RedactionError  # noqa: PLC0415 - large tables

    if name == "-":
        data = _read_stdin(MAX_CHARACTERS + 1)
    else:
        with Path(name).open("rb") as file:
            data = file.read(MAX_CHARACTERS + 1)
    if len(data) > MAX_CHARACTERS:
        raise RedactionError(
            f"the input is over the limit of {MAX_CHARACTERS:,} bytes", hint="split -C 32m FILE"
        )
    return data.decode("utf-8", "surrogateescape")


def _describe_found(found: Mapping[str, int]) -> str:
    """Counts for a person, most frequent first."""
    from warmstart.present import count  # noqa: PLC0415 - keeps --help light

    if not found:
        return "nothing found"
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    kinds = ", ".join(f"{kind} {number:,}" for kind, number in ranked)
    return f"{count(sum(found.values()), 'value')} replaced: {kinds}"


def _read_stdin(limit: int) -> bytes:
    """Up to ``limit`` bytes, piece by piece: between two pieces Ctrl-C is heeded."""
    data, stream = bytearray(), cast("BufferedReader", sys.stdin.buffer)
    while len(data) < limit and (piece := stream.read1(PIECE_BYTES)):
        data += piece
    return bytes(data[:limit])
