"""``warmstart compare``: two sessions or two sets of sessions side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from warmstart.app import ReadLog, Workspace, compare_sides
from warmstart.cli._complete import complete_sessions
from warmstart.cli._filters import Moment, rule_options, take_rules
from warmstart.cli._output import (
    JSON,
    QUIET,
    Pages,
    page_options,
    put_out,
    report_skips,
    share,
    write_pages,
)
from warmstart.errors import NotFoundError, UsageError
from warmstart.model import Selection
from warmstart.present import comparison_document

TEXT_FIELDS = frozenset({"source", "agent", "model", "project", "tool", "format"})
NUMBER_FIELDS = frozenset({"min_messages", "max_messages"})
TIME_FIELDS = frozenset({"since", "until"})
HINT = "warmstart compare --help"


@click.command()
@click.argument("first", metavar="A", shell_complete=complete_sessions)
@click.argument("second", metavar="B", shell_complete=complete_sessions)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@rule_options
@page_options
@JSON
@QUIET
def compare(
    *,
    first: str,
    second: str,
    paths: tuple[str, ...],
    html: Path | None,
    markdown: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare two sessions, or two sets of sessions, and say when the data cannot tell.

    A and B are each a session's id (or a unique beginning of it), a PATH, or a filter: NAME=VALUE
    pairs joined by commas, with the names of the filters of "sessions list": source, agent, model,
    project, since, until, tool, min-messages, max-messages, and path.

    \b
      warmstart compare model=opus model=sonnet
      warmstart compare model=opus,until=2026-01-31 model=opus,since=2026-02-01

    PATHs after A and B are where both are looked for; without any, on the whole machine.
    """  # noqa: D301 - click keeps lines as they are after the character, not after its name
    workspace, within, log = Workspace.open(), Selection(paths=paths), ReadLog()
    rules = take_rules(workspace, options)
    sides = [(text, parse_side(text, within)) for text in (first, second)]
    try:
        result = compare_sides(workspace, sides, within, rules=rules, log=log)
    except NotFoundError:
        report_skips(log, quiet=quiet)
        raise
    document = comparison_document(result)
    pages = Pages(html, markdown, force)
    write_pages(workspace, pages, lambda: share(workspace, document), quiet=quiet)
    put_out(document, as_json=as_json)
    report_skips(log, quiet=quiet)


def parse_side(text: str, within: Selection) -> Selection | str:
    """A side as a user wrote it: a filter, a path, or else a session's id.

    Raises:
        UsageError: a filter has an unknown name or a value that cannot be right.
    """
    if not text.strip():
        raise UsageError("a side to compare is empty", hint=HINT)
    if "=" in text:
        fields: dict[str, Any] = {}
        for part in text.split(","):
            name, sign, value = part.strip().partition("=")
            if not sign or not value:
                raise UsageError(f"{part!r} is not NAME=VALUE", hint=HINT)
            fields.update(_parse_field(name.replace("-", "_"), value))
        return replace(within, **fields)
    if Path(text).exists():
        return replace(within, paths=(text,))
    return text


def _parse_field(name: str, value: str) -> dict[str, Any]:
    try:
        if name == "path":
            return {"paths": (value,)}
        if name in TEXT_FIELDS:
            return {name: value}
        if name in NUMBER_FIELDS:
            return {name: int(value)}
        if name in TIME_FIELDS:
            return {name: Moment(end_of_day=name == "until").convert(value, None, None)}
    except (ValueError, click.UsageError) as error:
        words = f"{value!r} must be a number"
        if isinstance(error, click.UsageError):
            words = error.message
        raise UsageError(f"filter {name!r}: {words}", hint=HINT) from error
    known = sorted(TEXT_FIELDS | NUMBER_FIELDS | TIME_FIELDS | {"path"})
    raise UsageError(f"there is no filter {name!r}", hint=f"filters are {', '.join(known)}")
