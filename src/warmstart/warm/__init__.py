"""Warm starts: choosing a template, cutting it to a budget, putting it in front of an agent.

    from openai import OpenAI
    from warmstart import warm

    ask = [{"role": "user", "content": "Why does the checkout fail?"}]
    start = warm.start(ask[0]["content"], model="gpt-5")
    reply = OpenAI().chat.completions.create(model="gpt-5", **start.openai(ask))

The parts are pure and can be used alone: ``choose``, ``build_warmup``, ``render``, ``inject``,
``estimate_tokens``. ``start`` joins them with the library and the store; it lives in the workspace,
where stages and storage meet, and is only named here. Names are fetched on use, so that importing
this package loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "Entry": "warmstart.warm.select",
    "Index": "warmstart.warm.select",
    "Limits": "warmstart.warm.limits",
    "Rules": "warmstart.warm.select",
    "Target": "warmstart.warm.target",
    "build_warmup": "warmstart.warm.build",
    "choose": "warmstart.warm.select",
    "estimate_tokens": "warmstart.warm.tokens",
    "guess_task_type": "warmstart.warm.task_type",
    "start": "warmstart.app.start",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES])
