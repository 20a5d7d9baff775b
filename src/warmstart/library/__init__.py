"""Templates on disk and in the store: versions, states, sharing."""

from warmstart.library.library import Library
from warmstart.library.model import (
    ExportReport,
    ImportReport,
    Listed,
    Problem,
    Record,
    Retired,
    Saved,
    Signature,
    Stored,
)

__all__ = [
    "ExportReport",
    "ImportReport",
    "Library",
    "Listed",
    "Problem",
    "Record",
    "Retired",
    "Saved",
    "Signature",
    "Stored",
]
