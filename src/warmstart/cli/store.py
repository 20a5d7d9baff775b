"""``warmstart sessions search, import, prune, verify, backup``: the live store from outside.

``sessions`` needs these commands for its help, so what they load is imported when one runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from warmstart.cli._filters import session_filters
from warmstart.cli._output import JSON, QUIET, note, put_out, report_skips
from warmstart.errors import InternalError
from warmstart.present import count

if TYPE_CHECKING:
    from warmstart.app import StoreCheck
    from warmstart.model import Session

_STORE = click.option("--store", metavar="PATH|URL",
                      help="The store: a file or a postgresql:// address; else the one in the "
                      "workspace.")  # fmt: skip


@click.command("search")
@click.argument("query")
@_STORE
@click.option("--role", "roles", multiple=True, metavar="ROLE", help="Only messages of this role.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
              help="Show the N best.")  # fmt: skip
@JSON
def search_messages(
    *, query: str, store: str | None, roles: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """Find messages of the live store by their words.

    Any text is a query: words are all wanted, "words in quotes" side by side, word* by its
    beginning; OR and NOT work between two words.
    """
    from warmstart.app import Workspace  # noqa: PLC0415 - keeps --help light
    from warmstart.present import search_document  # noqa: PLC0415 - same

    with Workspace.open().open_store(store, read_only=True) as db:
        found = db.search_messages(query, role_filter=list(roles) or None, limit=limit)
    put_out(search_document(query, found), as_json=as_json)
    note(f"{count(len(found), 'hit')} for {query!r}", quiet=as_json)


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_STORE
@session_filters
@JSON
@QUIET
def import_sessions(
    *, paths: tuple[str, ...], store: str | None, as_json: bool, quiet: bool, **filters: Any
) -> None:
    """Take sessions of any format into the live store; importing twice changes nothing."""
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        ReadLog,
        Workspace,
    )
    from warmstart.app import store as use_cases  # noqa: PLC0415 - same
    from warmstart.model import Selection  # noqa: PLC0415 - same
    from warmstart.present import follow, import_document  # noqa: PLC0415 - same

    def watch(sessions: Iterator[Session]) -> Iterable[Session]:
        return follow(sessions, "sessions", quiet=quiet)

    log, selection = ReadLog(), Selection(paths=paths, **filters)
    report = use_cases.import_sessions(Workspace.open(), selection, log, watch, store)
    report_skips(log, quiet=quiet)
    put_out(import_document(report), as_json=as_json)


@click.command("prune")
@_STORE
@click.option("--older-than", "days", type=click.FloatRange(min=0), default=90.0, metavar="DAYS",
              show_default=True, help="Only sessions begun longer ago.")  # fmt: skip
@click.option("--source", metavar="NAME", help="Only sessions of this source.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@JSON
def prune_sessions(
    *, store: str | None, days: float, source: str | None, yes: bool, as_json: bool
) -> None:
    """Delete ended sessions of the live store that are older than DAYS."""
    from warmstart.app import Workspace  # noqa: PLC0415 - keeps --help light
    from warmstart.present import pruned_document  # noqa: PLC0415 - same

    if not yes:
        click.confirm(f"Delete ended sessions older than {days:g} days?", abort=True, err=True)
    with Workspace.open().open_store(store) as db:
        deleted = db.prune_sessions(days, source)
    put_out(pruned_document(deleted), as_json=as_json)


@click.command("verify")
@_STORE
@click.option("--repair", is_flag=True, help="Rebuild a damaged store from what can be read.")
@JSON
def verify_store(*, store: str | None, repair: bool, as_json: bool) -> None:
    """Check the live store, and rebuild a damaged one; exit 1 if anything is wrong.

    Every hash and counter is derived again. Of a damaged file it is shown what can still be read;
    --repair puts that into a new file in its place and keeps the damaged one beside it. Stop what
    writes to the store first.
    """
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        Workspace,
        check_store,
    )
    from warmstart.present import checked_document  # noqa: PLC0415 - same

    check = check_store(Workspace.open(), store, repair=repair)
    put_out(checked_document(check), as_json=as_json)
    _refuse_wrong(check)


@click.command("backup")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@_STORE
@JSON
def backup_store(*, target: Path, store: str | None, as_json: bool) -> None:
    """Copy the live store to a new file while it is in use."""
    from warmstart.app import Workspace  # noqa: PLC0415 - keeps --help light
    from warmstart.present import backup_document  # noqa: PLC0415 - same

    with Workspace.open().open_store(store, read_only=True) as db:
        path = db.backup(target)
    put_out(backup_document(path), as_json=as_json)


STORE_COMMANDS = (search_messages, import_sessions, prune_sessions, verify_store, backup_store)


def _refuse_wrong(check: StoreCheck) -> None:
    """End with an error where the store is not as it should be.

    Raises:
        InternalError: its contents differ from what was derived, or it is damaged.
    """
    from warmstart.present import count_both  # noqa: PLC0415 - keeps --help light

    if check.report is not None and check.report.problems:
        raise InternalError(
            f"{count(len(check.report.problems), 'thing')} in the store differ from what was"
            " derived",
            hint="keep what is readable: warmstart sessions export --as warmstart -o FILE",
        )
    damage = check.damage
    if damage is not None and check.repair is None:
        both = count_both(damage.count("sessions"), damage.count("messages"))
        raise InternalError(
            f"the store {str(check.path)!r} is damaged; {both} can still be read",
            hint="put what can be read into a new file, and keep this one: "
            f"warmstart sessions verify --repair --store {quote(str(check.path))}",
        )
