"""The JSON Schema of a template file, made from the checks that read one.

``schema.json`` beside this module is its text, for other programs; a test keeps the two equal.
Depth, bytes and numbers that contradict each other are checked beyond it.
"""

from __future__ import annotations

from typing import Any

from warmstart.template.checks import value_schema
from warmstart.template.parse import DEFAULT_LIMITS
from warmstart.template.validate import TEMPLATE

SCHEMA_FILE = "schema.json"


def make_schema() -> dict[str, Any]:
    """The schema, draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "warmstart template",
        "description": "Patterns mined from agent sessions that went well, and their provenance.",
        **TEMPLATE.schema(DEFAULT_LIMITS),
        "$defs": {"value": value_schema(DEFAULT_LIMITS)},
    }
