"""Names of templates: also the names of their folders, so nothing in them may lead elsewhere.

Lower case only, because some file systems treat ``A`` and ``a`` as the same name.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from warmstart.template.errors import TemplateError, show_key, show_name

NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,63}$"
MAX_NAME_LENGTH = 64
MAX_VERSION = 9999
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_OTHER = re.compile(r"[^a-z0-9._-]+")


class Spec(NamedTuple):
    """What a person types: a name, or a name and a version."""

    name: str
    version: int | None


def check_name(name: Any, field: str = "name") -> str:
    """The name, if it is one.

    Raises:
        TemplateError: it is not.
    """
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    shown = show_name(name) if isinstance(name, str) else type(name).__name__
    raise TemplateError(
        f"{shown} cannot be the name of a template",
        field=field,
        hint="a name has 1 to 64 of a-z 0-9 . _ - and begins with a letter or digit",
    )


def parse_spec(text: str) -> Spec:
    """``name`` or ``name@3``.

    Raises:
        TemplateError: it is neither.
    """
    name, at, version = text.partition("@")
    check_name(name)
    if not at:
        return Spec(name, None)
    digits = version.removeprefix("v")
    if not digits.isascii() or not digits.isdigit() or not 0 < int(digits[:5]) <= MAX_VERSION:
        raise TemplateError(
            f"{show_key(version)} is not a version", field=name, hint=f"write {name}@1"
        )
    return Spec(name, int(digits))


def make_name(text: str) -> str:
    """A name from any text, the same for the same text."""
    name = _OTHER.sub("-", text.lower()).strip("-._")[:MAX_NAME_LENGTH].strip("-._")
    if name:
        return name
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, and hardly a text comes to this

    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"template-{digest[:8]}"
