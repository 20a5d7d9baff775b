"""Start every agent session as good as your best one, and prove it.

    import warmstart

    start = warmstart.start("Why does the checkout fail?", model="gpt-5")
    reply = client.chat.completions.create(model="gpt-5", **start.openai(messages))
    start.finish(messages)

Importing this package loads nothing heavy and has no effects; its names are fetched on use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from warmstart._version import __version__

if TYPE_CHECKING:
    from warmstart import warm
    from warmstart.app import Workspace
    from warmstart.app.start import WarmStart, start
    from warmstart.errors import WarmstartError
    from warmstart.model import Template

__all__ = [
    "Template",
    "WarmStart",
    "WarmstartError",
    "Workspace",
    "__version__",
    "start",
    "warm",
]

_HOMES = {
    "Template": "warmstart.model.template",
    "WarmStart": "warmstart.app.start",
    "WarmstartError": "warmstart.errors",
    "Workspace": "warmstart.app",
    "start": "warmstart.app.start",
}


def __getattr__(name: str) -> Any:
    if name == "warm":
        return import_module("warmstart.warm")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
