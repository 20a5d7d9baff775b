"""Start every agent session as good as your best one, and prove it.

Importing this package loads nothing heavy and has no effects; ``warm`` is fetched on use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warmstart._version import __version__

if TYPE_CHECKING:
    from warmstart import warm

__all__ = ["__version__", "warm"]


def __getattr__(name: str) -> Any:
    if name == "warm":
        return import_module("warmstart.warm")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
