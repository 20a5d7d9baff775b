"""From the bytes of an untrusted file to plain JSON values, within limits.

Everything that two programs could read differently is refused: a name that stands twice, NaN and
infinity, numbers beyond what doubles hold, half surrogates, anything that is not UTF-8. Depth is
counted before anything is built, so nesting never reaches the interpreter's own limit.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from warmstart.template.canonical import MAX_INTEGER
from warmstart.template.errors import TemplateError, show_key

_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
"""A text that does not end is one token too: nothing is looked at twice."""
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a template may be at most."""

    file_bytes: int = 8_000_000
    """Of a file as it comes: earlier programs kept whole results."""
    depth: int = 32
    text: int = 20_000
    """Characters of one text."""
    short_text: int = 2_000
    """Characters of a line of guidance, an anchor, a marker."""
    label: int = 200
    """Characters of the name of a tool, a model, a tag."""
    items: int = 500
    """Entries of one list or mapping."""
    sources: int = 5_000
    """Sessions and tasks that provenance may name."""
    content_bytes: int = 512_000
    """The whole content in its canonical form."""


DEFAULT_LIMITS = Limits()


def parse_document(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Any:
    """The JSON value in a file.

    Raises:
        TemplateError: it is too large or too deep, or not JSON that everyone reads the same way.
    """
    if len(data) > limits.file_bytes:
        raise TemplateError(f"larger than {limits.file_bytes:,} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise TemplateError(f"byte {error.start} is not UTF-8") from error
    _check_depth(text, limits.depth)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_constant=_refuse_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        raise TemplateError(
            f"it is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    if not text.isascii() or "\\u" in text:
        _check_texts(value)
    return value


def _check_depth(text: str, most: int) -> None:
    depth = 0
    for match in _TOKENS.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            if depth > most:
                raise TemplateError(f"nested deeper than {most}")
        elif mark in "]}":
            depth -= 1


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise TemplateError(f"the name {show_key(name)} stands twice in one object")
            seen.add(name)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise TemplateError(f"{name} is not a JSON number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise TemplateError("a number too large for a double")
    return value


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        raise TemplateError("an integer beyond 2^53")
    return int(text)


def _check_texts(value: Any) -> None:
    """No half surrogates, in names or values; depth is known to be small by now."""
    if isinstance(value, str):
        if _SURROGATES.search(value):
            raise TemplateError("a text with half a surrogate pair")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_texts(key)
            _check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_texts(inner)
