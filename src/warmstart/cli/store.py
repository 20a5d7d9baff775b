"""``warmstart sessions search, import, prune, verify, backup``: the live store from outside.

Commands only unpack their options; what they do is in ``_storing``, imported when a command runs
so that ``--help`` stays light.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from warmstart.cli._filters import session_filters

_STORE = click.option("--store", metavar="PATH|URL", envvar="WARMSTART_STORE",
                      help="The store: a file or a postgresql:// address; else the one in the "
                      "workspace.")  # fmt: skip
_QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors.")
_JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")


@click.command("search")
@click.argument("query")
@_STORE
@click.option("--role", "roles", multiple=True, metavar="ROLE", help="Only messages of this role.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
              help="Show the N best.")  # fmt: skip
@_JSON
def search_messages(
    *, query: str, store: str | None, roles: tuple[str, ...], limit: int, as_json: bool
) -> None:
    """Find messages of the live store by their words.

    Any text is a query: words are all wanted, "words in quotes" side by side, word* by its
    beginning; OR and NOT work between two words.
    """
    from warmstart.cli._storing import print_matches  # noqa: PLC0415 - keeps --help light

    print_matches(store, query, roles=list(roles), limit=limit, as_json=as_json)


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_STORE
@session_filters
@_JSON
@_QUIET
def import_sessions(
    *, paths: tuple[str, ...], store: str | None, as_json: bool, quiet: bool, **filters: Any
) -> None:
    """Take sessions of any format into the live store; importing twice changes nothing."""
    from warmstart.cli._storing import run_import  # noqa: PLC0415 - keeps --help light
    from warmstart.model import Selection  # noqa: PLC0415 - same

    run_import(store, Selection(paths=paths, **filters), as_json=as_json, quiet=quiet)


@click.command("prune")
@_STORE
@click.option("--older-than", "days", type=click.FloatRange(min=0), default=90.0, metavar="DAYS",
              show_default=True, help="Only sessions begun longer ago.")  # fmt: skip
@click.option("--source", metavar="NAME", help="Only sessions of this source.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@_JSON
def prune_sessions(
    *, store: str | None, days: float, source: str | None, yes: bool, as_json: bool
) -> None:
    """Delete ended sessions of the live store that are older than DAYS."""
    from warmstart.cli._storing import run_prune  # noqa: PLC0415 - keeps --help light

    if not yes:
        click.confirm(f"Delete ended sessions older than {days:g} days?", abort=True, err=True)
    run_prune(store, days, source, as_json=as_json)


@click.command("verify")
@_STORE
@click.option("--repair", is_flag=True, help="Rebuild a damaged store from what can be read.")
@_JSON
def verify_store(*, store: str | None, repair: bool, as_json: bool) -> None:
    """Check the live store, and rebuild a damaged one; exit 1 if anything is wrong.

    Every hash and counter is derived again. Of a damaged file it is shown what can still be read;
    --repair puts that into a new file in its place and keeps the damaged one beside it. Stop what
    writes to the store first.
    """
    from warmstart.cli._verifying import run_verify  # noqa: PLC0415 - keeps --help light

    run_verify(store, repair=repair, as_json=as_json)


@click.command("backup")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@_STORE
@_JSON
def backup_store(*, target: Path, store: str | None, as_json: bool) -> None:
    """Copy the live store to a new file while it is in use."""
    from warmstart.cli._storing import run_backup  # noqa: PLC0415 - keeps --help light

    run_backup(store, target, as_json=as_json)


STORE_COMMANDS = (search_messages, import_sessions, prune_sessions, verify_store, backup_store)
