"""A digest of source files, by which anything kept notices that the code that made it changed.

What a fact says is decided by code: the readers, the judge's rules and tables, how facts are
derived and masked. All of it goes into the digest, byte for byte, so a changed rule can never leave
old answers behind, without a version number that has to be raised. It works where the package is a
folder (installed or editable, with sources or compiled files alone) and where it is in a zip file.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import warmstart
from warmstart._version import __version__

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["FACTS_CODE", "digest_code"]

FACTS_CODE = (
    "facts", "model", "outcome", "redact", "sources", "wire", "store/marks", "app/redaction",
)  # fmt: skip
"""Packages and modules that decide what a fact says."""
_COMPILED = "__pycache__"
_SUFFIXES = (".py", ".pyc")
"""A module is there as its source, or compiled where somebody took the sources away."""


@cache
def digest_code(*parts: str) -> str:
    """A digest of packages and modules of warmstart; takes a few milliseconds, once per process."""
    digest = blake2b(__version__.encode(), digest_size=16)
    for name, data in _list_files(parts):
        digest.update(b"%d %d %b " % (len(name), len(data), name.encode("utf-8", "replace")))
        digest.update(data)
    return digest.hexdigest()


def _list_files(parts: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Name and contents of every file; none where they cannot be listed."""
    try:
        root = _find_package()
        for part in parts:
            for name in (part, *(f"{part}{suffix}" for suffix in _SUFFIXES)):
                yield from _walk(name, root.joinpath(*name.split("/")))
    except (OSError, TypeError, ValueError):
        return  # the version alone tells this code from another


def _find_package() -> Traversable:
    folder = Path(warmstart.__file__).parent
    if folder.is_dir():
        return folder
    from importlib.resources import files  # noqa: PLC0415 - ten milliseconds that few need

    return files(warmstart)  # a zip file


def _walk(name: str, found: Traversable) -> Iterator[tuple[str, bytes]]:
    if found.is_file():
        yield name, found.read_bytes()
    elif found.is_dir():
        for inner in sorted(found.iterdir(), key=lambda one: one.name):
            if inner.name != _COMPILED:
                yield from _walk(f"{name}/{inner.name}", inner)
