"""``TemplateDB``: templates and starts, all of the store that choosing and starting need.

``SessionDB`` is one too; whoever is handed a library need not know which of them is under it.
"""

from __future__ import annotations

from pathlib import Path

from warmstart.store.opening import open_for_templates
from warmstart.store.starts import Starts
from warmstart.store.template_reader import TemplateReader


class TemplateDB(TemplateReader, Starts):
    """Rows about templates, and the sessions that were started with them."""


def open_template_db(location: Path | str) -> TemplateDB | None:
    """The rows of the store at a path or address, to be read; None if it is older than templates.

    Raises:
        StoreError: it cannot be read, or is newer than this warmstart.
    """
    backend = open_for_templates(location)
    return None if backend is None else TemplateDB(backend)
