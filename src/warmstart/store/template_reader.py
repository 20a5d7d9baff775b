"""What the store knows of templates, opened for a look: the same rows without the rest of it.

A listing is asked for many times a day and needs one table; the whole ``SessionDB`` would cost it
more than its answer.
"""

from __future__ import annotations

from pathlib import Path

from warmstart.store.opening import open_for_templates
from warmstart.store.templates import Templates


class TemplateReader(Templates):
    """Rows about templates, and the store they hold open."""

    def close(self) -> None:
        """Let go of the store; closing twice is nothing."""
        self._backend.close()


def open_template_reader(location: Path | str) -> TemplateReader | None:
    """The rows of the store at a path or address; None if it is from before templates.

    Raises:
        StoreError: it cannot be read, or is newer than this warmstart.
    """
    backend = open_for_templates(location)
    return None if backend is None else TemplateReader(backend)
