"""The formats a person can ask for, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warmstart.export.anthropic import export_anthropic
from warmstart.export.openai import export_openai
from warmstart.export.warmstart import export_warmstart
from warmstart.model import Session

EXPORTERS: dict[str, Callable[[Session], dict[str, Any]]] = {
    "openai": export_openai,
    "anthropic": export_anthropic,
    "warmstart": export_warmstart,
}
