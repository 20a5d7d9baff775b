"""Warm starts: choosing a template, cutting it to a budget, putting it in front of an agent.

    from openai import OpenAI
    from warmstart import warm

    ask = [{"role": "user", "content": "Why does the checkout fail?"}]
    start = warm.start(ask[0]["content"], model="gpt-5")
    reply = OpenAI().chat.completions.create(model="gpt-5", **start.openai(ask))

The parts are pure and can be used alone: ``choose``, ``build_warmup``, ``render``, ``inject``,
``estimate_tokens``. ``start`` joins them with the library and the store; it lives in ``app``, where
stages and storage meet, and is only named here. Names are fetched on use, so that importing this
package loads nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warmstart.warm.bm25 import Bm25, list_terms
    from warmstart.warm.build import FRAME, build_warmup
    from warmstart.warm.conversation import inject, is_warm, list_messages
    from warmstart.warm.forms import ANYWHERE, FormKind, Rendered, Target
    from warmstart.warm.limits import DEFAULT_BUDGET, DEFAULT_LIMITS, Limits
    from warmstart.warm.renderers import RENDERERS, render
    from warmstart.warm.select import (
        DEFAULT_HOLDOUT,
        DEFAULT_THRESHOLD,
        Choice,
        Entry,
        Index,
        Policy,
        Ranked,
        Rules,
        choose,
        join_text,
    )
    from warmstart.warm.shorten import shorten_line
    from warmstart.warm.task_type import guess_task_type
    from warmstart.warm.tokens import estimate_tokens
else:
    from warmstart._lazy import load_on_use

    _get = load_on_use(
        __name__,
        {
            "bm25": ("Bm25", "list_terms"),
            "build": ("FRAME", "build_warmup"),
            "conversation": ("inject", "is_warm", "list_messages"),
            "forms": ("ANYWHERE", "FormKind", "Rendered", "Target"),
            "limits": ("DEFAULT_BUDGET", "DEFAULT_LIMITS", "Limits"),
            "renderers": ("RENDERERS", "render"),
            "select": (
                "DEFAULT_HOLDOUT",
                "DEFAULT_THRESHOLD",
                "Choice",
                "Entry",
                "Index",
                "Policy",
                "Ranked",
                "Rules",
                "choose",
                "join_text",
            ),
            "shorten": ("shorten_line",),
            "task_type": ("guess_task_type",),
            "tokens": ("estimate_tokens",),
        },
    )

    def __getattr__(name: str) -> Any:
        return import_module("warmstart.app.warming").start if name == "start" else _get(name)


if TYPE_CHECKING:
    from warmstart.app.warming import start


__all__ = [
    "ANYWHERE",
    "DEFAULT_BUDGET",
    "DEFAULT_HOLDOUT",
    "DEFAULT_LIMITS",
    "DEFAULT_THRESHOLD",
    "FRAME",
    "RENDERERS",
    "Bm25",
    "Choice",
    "Entry",
    "FormKind",
    "Index",
    "Limits",
    "Policy",
    "Ranked",
    "Rendered",
    "Rules",
    "Target",
    "build_warmup",
    "choose",
    "estimate_tokens",
    "guess_task_type",
    "inject",
    "is_warm",
    "join_text",
    "list_messages",
    "list_terms",
    "render",
    "shorten_line",
    "start",
]


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
