"""Blocks of Anthropic's Messages API, the same in files and in a program's memory."""

from __future__ import annotations

from itertools import islice
from typing import Any

from warmstart.model import Result
from warmstart.sources.fields import as_dict, as_dicts, as_id, as_int, as_text, content_text
from warmstart.sources.json_text import dump

USAGE_NAMES = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}
MAX_PAGES = 100
"""Found pages that a result's text names."""


def is_use(block: dict[str, Any]) -> bool:
    """Whether a block is a call, of a tool of the program or of one that runs on the server."""
    return (as_text(block.get("type")) or "").endswith("tool_use")


def is_result(block: dict[str, Any]) -> bool:
    """Whether it is what such a call gave."""
    return (as_text(block.get("type")) or "").endswith("tool_result")


def read_result(block: dict[str, Any]) -> Result:
    """A result; those of server tools report failure by an ``error_code`` inside."""
    content = block.get("content")
    inner = as_dict(content)
    error_code = as_text(inner.get("error_code"))
    return Result(
        text=error_code or _result_text(content),
        call_id=as_id(block.get("tool_use_id")),
        # The API documents the field's default as false.
        is_error=block.get("is_error") is True or error_code is not None,
        exit_code=as_int(inner.get("return_code")),
    )


def _result_text(content: Any) -> str:
    """What the model saw: text, found pages, or a program's output."""
    if isinstance(content, dict) and "stdout" in content:
        streams = (as_text(content.get("stdout")), as_text(content.get("stderr")))
        return "\n".join(filter(None, streams))
    pages = [page for page in as_dicts(content) if "url" in page]
    if pages:
        named = (f"{page.get('title')} {page.get('url')}" for page in islice(pages, MAX_PAGES))
        return "\n".join(named)
    return content_text(content) or ("" if content is None or content == [] else dump(content))
