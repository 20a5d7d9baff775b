"""Start every agent session as good as your best one, and prove it.

    import warmstart

    start = warmstart.start("Why does the checkout fail?", model="gpt-5")
    reply = client.chat.completions.create(model="gpt-5", **start.openai(messages))
    start.finish(messages)

    for session in warmstart.open_workspace().sessions(project="shop", errors_only=True):
        print(session.id, len(session.calls))

Importing this package loads nothing heavy and has no effects; its names are fetched on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmstart._lazy import load_on_use
from warmstart._version import __version__

if TYPE_CHECKING:
    from warmstart import warm
    from warmstart.app import Workspace, open_workspace
    from warmstart.app.warm_start import WarmStart, start
    from warmstart.errors import WarmstartError
    from warmstart.experiment import Verdict
    from warmstart.model import Selection, Session, Template
    from warmstart.profile import Profile, profile_messages
    from warmstart.redact import redact_text

__all__ = [
    "Profile", "Selection", "Session", "Template", "Verdict", "WarmStart", "WarmstartError",
    "Workspace", "__version__", "open_workspace", "profile_messages", "redact_text", "start",
    "warm",
]  # fmt: skip

_get = load_on_use(
    __name__,
    {
        "warmstart.app": ("Workspace", "open_workspace"),
        "warmstart.app.warm_start": ("WarmStart", "start"),
        "warmstart.errors": ("WarmstartError",),
        "warmstart.experiment": ("Verdict",),
        "warmstart.model": ("Selection", "Session", "Template"),
        "warmstart.profile": ("Profile", "profile_messages"),
        "warmstart.redact": ("redact_text",),
    },
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "warm":
        from importlib import import_module  # noqa: PLC0415 - only for this name

        return import_module("warmstart.warm")
    return _get(name)
