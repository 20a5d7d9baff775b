"""Sample sessions for the demo: invented work in the real formats, written by ``make samples``.

Every person, project and credential in them is made up.
"""

from __future__ import annotations

from pathlib import Path


def samples_path() -> Path:
    """The folder that holds one store per agent."""
    return Path(__file__).resolve().parent
