"""Names that a shell completes: sessions, templates and experiments of this user.

Completion never fails and never waits long: where something cannot be read there are no names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

MAX_NAMES = 200


def complete_sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Short ids of the newest sessions that begin with what was typed."""
    del ctx, param
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        Workspace,
        list_sessions,
    )
    from warmstart.errors import WarmstartError  # noqa: PLC0415 - same
    from warmstart.model import Selection  # noqa: PLC0415 - same

    try:
        found = list_sessions(Workspace.open(), Selection(), limit=MAX_NAMES)
    except (WarmstartError, OSError):
        return []
    return [short for short in found.ids.values() if short.startswith(incomplete)]


def complete_templates(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names of templates that begin with what was typed."""
    del ctx, param
    from warmstart.app import Workspace, open_library  # noqa: PLC0415 - only when asked
    from warmstart.errors import WarmstartError  # noqa: PLC0415 - same

    try:
        with open_library(Workspace.open(), read_only=True) as library:
            names = {row.name for row in library.list()}
    except (WarmstartError, OSError):
        return []
    return sorted(name for name in names if name.startswith(incomplete))


def complete_experiments(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names of experiments that begin with what was typed."""
    del ctx, param
    from warmstart.app import (  # noqa: PLC0415 - same
        FOLDER,
        PLAN_FILE,
        Workspace,
    )
    from warmstart.errors import WarmstartError  # noqa: PLC0415 - same

    try:
        folders = (Workspace.open().home / FOLDER).glob(f"*/{PLAN_FILE}")
        names = [path.parent.name for path in folders]
    except (WarmstartError, OSError):
        return []
    return sorted(name for name in names if name.startswith(incomplete))
