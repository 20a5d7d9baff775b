"""Templates on disk and in the store: versions, states, sharing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "library": ("Library",),
            "model": (
                "ExportReport",
                "ImportReport",
                "Listed",
                "Problem",
                "Record",
                "Retired",
                "Saved",
                "Signature",
                "Stored",
            ),
        },
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
