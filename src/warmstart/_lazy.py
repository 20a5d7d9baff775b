"""Packages whose names are imported when they are used, not when the package is.

A package lists its names by module; what nobody asks for costs nothing at start. Type checkers
read the same names from imports under ``TYPE_CHECKING``; a test holds the two together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def load_on_use(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A module's ``__getattr__``: ``names`` has the names of each of the package's modules.

    A module with a dot in it belongs to another package, whose names this one passes on.
    """
    homes = {name: module for module, held in names.items() for name in held}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        value = getattr(import_module(home if "." in home else f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
