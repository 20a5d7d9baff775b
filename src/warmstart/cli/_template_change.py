"""``template approve, retire, rollback, delete``: what changes what may be used."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from warmstart.cli._output import note, open_console, print_json
from warmstart.cli._template_show import print_stored
from warmstart.cli._text import clean, count
from warmstart.errors import UsageError
from warmstart.library.guard import check_approvable
from warmstart.model.template import TemplateState
from warmstart.template.names import parse_spec
from warmstart.workspace import Workspace
from warmstart.workspace.templates import open_library

if TYPE_CHECKING:
    from warmstart.library import Stored

SCHEMA_VERSION = 1


def run_approve(
    store: str | None, spec: str, *, despite_flags: bool, yes: bool, as_json: bool
) -> None:
    """Show what is approved, ask on a terminal, approve."""
    name, version = parse_spec(spec)
    with open_library(Workspace.open(), store) as library:
        wanted = version or library.find_newest(name).version
        stored = library.get(name, wanted)
        if not as_json:
            print_stored(open_console(), library, stored)
        check_approvable(stored, despite_flags=despite_flags)
        is_asked = not (yes or as_json) and sys.stdin.isatty()
        if is_asked:
            click.confirm(f"Approve {name}@{wanted}?", abort=True, err=True)
        approved = library.approve(name, wanted, despite_flags=despite_flags)
    _say(approved, f"{name}@{wanted} is approved and in use", as_json=as_json)


def run_retire(store: str | None, spec: str, reason: str, *, as_json: bool) -> None:
    """Take out of use."""
    name, version = parse_spec(spec)
    with open_library(Workspace.open(), store) as library:
        wanted = version or library.find_row(name).version
        stored = library.set_state(name, wanted, TemplateState.RETIRED, reason)
    _say(stored, f"{name}@{wanted} is retired", as_json=as_json)


def run_rollback(store: str | None, spec: str, *, as_json: bool) -> None:
    """Let an older version be current.

    Raises:
        UsageError: no version was named.
    """
    name, version = parse_spec(spec)
    if version is None:
        raise UsageError(f"which version of {name!r}?", hint=f"warmstart template versions {name}")
    with open_library(Workspace.open(), store) as library:
        library.rollback(name, version)
        stored = library.get(name)
    said = f"{name} means version {version} again"
    if stored.state is not TemplateState.APPROVED:
        said += f"; it is {stored.state}, so it is used only when it is named"
    _say(stored, said, as_json=as_json)


def run_delete(store: str | None, spec: str, *, as_json: bool) -> None:
    """Delete files and what the store knows of them."""
    name, version = parse_spec(spec)
    with open_library(Workspace.open(), store) as library:
        deleted = library.delete(name, version)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "name": name, "deleted": deleted})
    else:
        note(f"{count(deleted, 'version')} of {clean(name)} deleted")


def _say(stored: Stored, sentence: str, *, as_json: bool) -> None:
    if not as_json:
        note(sentence)
        return
    figures: dict[str, Any] = {
        "name": stored.name,
        "version": stored.version,
        "id": stored.id,
        "state": str(stored.state),
        "reason": stored.reason,
        "current": stored.current,
    }
    print_json({"schema_version": SCHEMA_VERSION, **figures})
