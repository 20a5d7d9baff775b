"""``warmstart redact``: a file without its secrets, on stdout or in another file."""

from __future__ import annotations

from pathlib import Path

import click

EXIT_FOUND = 1


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
@click.option("--json", "as_json", is_flag=True, help="Counts as JSON instead of the text.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
def redact(
    *, file: str, pii: bool, no_env: bool, output: Path | None, force: bool, check: bool,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Print FILE (or - for stdin) with secrets replaced by placeholders.

    The same value has the same placeholder everywhere, such as <SECRET:github_pat:1>. What was
    found is counted by kind on stderr; no value is ever shown. If redaction cannot run there is
    an error and no text.
    """
    from warmstart.cli import _redacting  # noqa: PLC0415 - keeps --help light

    text = _redacting.read_text(file)
    redactor = _redacting.make_redactor(pii=pii, environment=not no_env)
    clean = redactor.text(text)
    found = redactor.found
    if as_json:
        _redacting.print_counts(found, text)
    elif output is not None:
        _redacting.write_text(output, clean, overwrite=force)
    elif not check:
        _redacting.print_text(clean)
    _redacting.say_counts(found, quiet=quiet)
    if check and found:
        raise click.exceptions.Exit(EXIT_FOUND)
