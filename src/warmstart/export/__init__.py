"""Sessions as others read them: one pure function per format, model in, JSON objects out.

``EXPORTERS`` names them; ``warmstart.wire.encode_line`` writes what they return as one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.export.sessions import EXPORTERS, NO_RESULT, export_anthropic, export_openai
    from warmstart.export.store import LIVE_STORE, export_store
    from warmstart.export.table import format_csv, protect_cell
    from warmstart.export.warmstart import export_warmstart
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "sessions": ("EXPORTERS", "NO_RESULT", "export_anthropic", "export_openai"),
            "store": ("LIVE_STORE", "export_store"),
            "table": ("format_csv", "protect_cell"),
            "warmstart": ("export_warmstart",),
        },
    )  # fmt: skip

__all__ = [
    "EXPORTERS",
    "LIVE_STORE",
    "NO_RESULT",
    "export_anthropic",
    "export_openai",
    "export_store",
    "export_warmstart",
    "format_csv",
    "protect_cell",
]
