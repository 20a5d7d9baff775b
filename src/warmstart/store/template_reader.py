"""What the store knows of templates, opened for a look: the same rows without the rest of it.

A listing is asked for many times a day and needs one table; the whole ``SessionDB`` would cost it
more than its answer.
"""

from __future__ import annotations

from pathlib import Path

from warmstart.store.backend import Options
from warmstart.store.migrations import check_version
from warmstart.store.opening import connect, find_location
from warmstart.store.templates import Templates

FIRST_SCHEMA = 4
"""The store knows templates from this version of its schema on."""


class TemplateReader(Templates):
    """Rows about templates; whatever would write is refused by the database."""

    def close(self) -> None:
        """Let go of the store; closing twice is nothing."""
        self._backend.close()


def open_template_reader(location: Path | str) -> TemplateReader | None:
    """The rows of the store at a path or address; None if it is from before templates.

    Raises:
        StoreError: it cannot be read, or is newer than this warmstart.
    """
    backend = connect(find_location(location), Options(read_only=True))
    try:
        version = check_version(backend)
    except BaseException:
        backend.close()
        raise
    if version >= FIRST_SCHEMA:
        return TemplateReader(backend)
    backend.close()
    return None
