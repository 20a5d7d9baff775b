"""Where warmstart keeps what is its own: ``WARMSTART_HOME``, else where the platform says.

Nothing is created here; the first writer creates what it needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

STORE_FILE = "store.db"
"""The live store of the workspace."""


def find_home(environ: Mapping[str, str] | None = None) -> Path:
    """The folder, whether it exists or not; ``environ`` stands in for the process's own."""
    named = (os.environ if environ is None else environ).get("WARMSTART_HOME")
    if not named:
        from platformdirs import user_data_dir  # noqa: PLC0415 - only needed where none is named

        named = user_data_dir("warmstart")
    return Path(named).expanduser()


def find_store(home: Path, named: str | None = None) -> str:
    """The live store's path or address: the one named, ``WARMSTART_STORE``, or the home's own."""
    return named or os.environ.get("WARMSTART_STORE") or str(home / STORE_FILE)
