"""Sessions as others read them: one pure function per format, model in, JSON objects out.

``EXPORTERS`` names them; ``encode_line`` turns what they return into one line of JSONL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.export.anthropic import export_anthropic
    from warmstart.export.exporters import EXPORTERS
    from warmstart.export.jsonl import encode_line
    from warmstart.export.openai import export_openai
    from warmstart.export.store import export_store
    from warmstart.export.warmstart import export_warmstart
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "anthropic": ("export_anthropic",),
            "exporters": ("EXPORTERS",),
            "jsonl": ("encode_line",),
            "openai": ("export_openai",),
            "store": ("export_store",),
            "warmstart": ("export_warmstart",),
        },
    )

__all__ = [
    "EXPORTERS",
    "encode_line",
    "export_anthropic",
    "export_openai",
    "export_store",
    "export_warmstart",
]
