"""Opening a home's library, without anything that only building or sharing needs.

The store is the home's own, or the one ``WARMSTART_STORE`` names. Reading creates nothing: where
there is no store yet, or one from before templates, every file counts as quarantined.
"""

from __future__ import annotations

from pathlib import Path

from warmstart.library.catalogue import TEMPLATES_FOLDER, find_store
from warmstart.library.library import Library
from warmstart.store import open_template_db

__all__ = ["TEMPLATES_FOLDER", "find_store", "open_for_reading"]


def open_for_reading(home: Path, store: str | None = None) -> Library:
    """The library, to be looked at only."""
    folder = home / TEMPLATES_FOLDER
    location = find_store(home, store)
    if "://" not in location and not Path(location).exists():
        return Library(folder)
    return Library(folder, open_template_db(location))
