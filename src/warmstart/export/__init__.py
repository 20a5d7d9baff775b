"""Sessions as others read them: one pure function per format, model in, JSON objects out.

``EXPORTERS`` names them; ``encode_line`` turns what they return into one line of JSONL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warmstart.export.anthropic import export_anthropic
from warmstart.export.jsonl import encode_line
from warmstart.export.openai import export_openai
from warmstart.export.store import export_store
from warmstart.export.warmstart import export_warmstart
from warmstart.model import Session

EXPORTERS: dict[str, Callable[[Session], dict[str, Any]]] = {
    "openai": export_openai,
    "anthropic": export_anthropic,
    "warmstart": export_warmstart,
}

__all__ = [
    "EXPORTERS",
    "encode_line",
    "export_anthropic",
    "export_openai",
    "export_store",
    "export_warmstart",
]
