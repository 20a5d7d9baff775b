"""From a model's arguments to a JSON answer; whatever goes wrong is part of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from warmstart.app import Workspace, encode_json, redact
from warmstart.errors import WarmstartError
from warmstart.tool.request import read_request

SCHEMA_VERSION = 2


def run_tool(
    arguments: Mapping[str, Any] | str | bytes, workspace: Workspace | None = None
) -> dict[str, Any]:
    """Do what the arguments ask for; the answer holds plain JSON values alone."""
    answer: dict[str, Any] = orjson.loads(run_tool_text(arguments, workspace))
    return answer


def run_tool_text(
    arguments: Mapping[str, Any] | str | bytes, workspace: Workspace | None = None
) -> str:
    """The answer as JSON text, which is what most agents hand back to their model."""
    try:
        request = read_request(arguments)
        from warmstart.tool.actions import ACTION_TABLE  # noqa: PLC0415 - keeps schemas light

        answer = ACTION_TABLE[request.action](workspace or Workspace.open(), request)
        text = encode_json({"success": True, "schema_version": SCHEMA_VERSION, **answer})
    except WarmstartError as error:
        text = encode_json(_refuse(error.message, error.hint))
    except OSError as error:
        text = encode_json(_refuse(error.strerror or type(error).__name__, None))
    return text.decode()


def _refuse(message: str, hint: str | None) -> dict[str, Any]:
    """An error repeats names that a model made up or was handed, and one may be a secret."""
    answer: dict[str, Any] = {"success": False, "error": redact(message).text}
    return {**answer, "hint": redact(hint).text} if hint else answer
