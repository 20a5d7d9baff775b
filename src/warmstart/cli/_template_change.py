"""``template approve, retire, rollback, delete``: what changes what may be used."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.text import Text

from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.cli._output import note, open_console, print_json
from warmstart.cli._template_show import change_json, print_changes, print_stored
from warmstart.errors import UsageError, WarmstartError
from warmstart.library.guard import check_approvable
from warmstart.library.model import list_review_steps
from warmstart.model.template import TemplateState
from warmstart.present import clean, count
from warmstart.template import parse_spec
from warmstart.template.diff import Change, count_changes, diff_templates, is_taught

if TYPE_CHECKING:
    from warmstart.library import Library, Stored

SCHEMA_VERSION = 1
MAX_CHANGES = 20


def run_approve(
    store: str | None, spec: str, *, despite_flags: bool, yes: bool, as_json: bool
) -> None:
    """Show what is approved and what it changes, ask, approve.

    Raises:
        UsageError: nobody can be asked, and the version or ``--yes`` is missing.
    """
    name, version = parse_spec(spec)
    with open_library(Workspace.open(), store) as library:
        stored = library.get(name, version or library.find_newest(name).version)
        is_asked = not (yes or as_json) and sys.stdin.isatty()
        if not is_asked and (version is None or not yes):
            raise _refuse_unasked(stored, " --despite-flags" if despite_flags else "")
        replaced = _compare_with_used(library, stored)
        if not as_json:
            print_stored(open_console(), library, stored)
            _print_replaced(replaced, stored)
        check_approvable(stored, despite_flags=despite_flags)
        if is_asked:
            click.confirm(f"Approve {stored.spec}?", abort=True, err=True)
        approved = library.approve(name, stored.version, despite_flags=despite_flags)
    said = f"{stored.spec} is approved and in use"
    _say(approved, said, as_json=as_json, **_replaced_json(replaced))


def _refuse_unasked(stored: Stored, options: str) -> UsageError:
    steps = list_review_steps(stored.spec)
    return UsageError(
        f"nobody can be asked here, so approving {stored.name!r} needs the version and --yes",
        hint=f"read it: {steps[0]}; then: {steps[1]} --yes{options}",
    )


class _Replaced(NamedTuple):
    """The version in use, and what another one changes of what it teaches."""

    spec: str
    version: int
    changes: list[Change]


def _compare_with_used(library: Library, stored: Stored) -> _Replaced | None:
    row = library.find_row(stored.name)
    if row.state is not TemplateState.APPROVED or row.version == stored.version:
        return None
    try:
        used = library.get(stored.name, row.version)
    except WarmstartError as error:
        note(f"{stored.name}@{row.version}, the one in use, cannot be compared: {error.message}")
        return None
    changes = [one for one in diff_templates(used.template, stored.template) if is_taught(one)]
    return _Replaced(used.spec, used.version, changes)


def _replaced_json(replaced: _Replaced | None) -> dict[str, Any]:
    changes = replaced.changes if replaced else []
    return {
        "replaces": replaced.version if replaced else None,
        "changes": [change_json(change) for change in changes],
    }


def _print_replaced(replaced: _Replaced | None, stored: Stored) -> None:
    console = open_console()
    console.print()
    if replaced is None:
        console.print("no version of it is in use, so all of it is new")
        return
    total = count_changes(replaced.changes) or "nothing that an agent is told"
    title = f"What changes against {replaced.spec}, the one in use: {total}"
    console.print(Text(clean(title), style="bold"), soft_wrap=True)
    print_changes(console, replaced.changes[:MAX_CHANGES])
    if len(replaced.changes) > MAX_CHANGES:
        more = len(replaced.changes) - MAX_CHANGES
        note(f"{more} more: warmstart template diff {replaced.spec} {stored.spec}")


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
    _say(stored, f"{name} means version {version} again{_say_use(stored)}", as_json=as_json)


def _say_use(stored: Stored) -> str:
    """What a state means for the use of a version."""
    if stored.state is TemplateState.APPROVED:
        return ""
    approve = list_review_steps(stored.spec)[1]
    if stored.state is TemplateState.DRAFT:
        return f"; it is a draft: used only by name and with --unreviewed, until: {approve}"
    return f"; it is {stored.state}, so it is never used, until: {approve}"


def run_delete(store: str | None, spec: str, *, yes: bool, as_json: bool) -> None:
    """Ask, then delete files and what the store knows of them.

    Raises:
        NotFoundError: there is no such template or version; nobody is asked then.
    """
    name, version = parse_spec(spec)
    with open_library(Workspace.open(), store) as library:
        rows = [row for row in library.versions(name) if version in (None, row.version)]
        if not rows:
            library.find_row(name, version)
        if not yes:
            states = ", ".join(f"{row.name}@{row.version} {row.state}" for row in rows)
            click.confirm(f"Delete {clean(states)}?", abort=True, err=True)
        deleted = library.delete(name, version)
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "name": name, "deleted": deleted})
    else:
        note(f"{count(deleted, 'version')} of {clean(name)} deleted")


def _say(stored: Stored, sentence: str, *, as_json: bool, **more: Any) -> None:
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
    print_json({"schema_version": SCHEMA_VERSION, **figures, **more})
