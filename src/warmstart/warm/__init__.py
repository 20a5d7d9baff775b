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
    from warmstart.warm.build import FRAME, build_warmup
    from warmstart.warm.conversation import READY, inject, is_warm, list_messages
    from warmstart.warm.episodes import (
        DEFAULT_BUDGET,
        DEFAULT_LIMITS,
        WarmUpLimits,
        shorten_line,
    )
    from warmstart.warm.forms import ANYWHERE, FormKind, Rendered, Target
    from warmstart.warm.renderers import RENDERERS, render
    from warmstart.warm.search import Bm25, guess_task_type, list_terms
    from warmstart.warm.select import (
        DEFAULT_HOLDOUT,
        DEFAULT_THRESHOLD,
        Policy,
        Ranked,
        SelectionRules,
        TemplateChoice,
        TemplateEntry,
        TemplateIndex,
        choose,
        join_text,
    )
    from warmstart.warm.tokens import estimate_tokens
else:
    from warmstart._lazy import load_on_use

    _get = load_on_use(
        __name__,
        {
            "build": ("FRAME", "build_warmup"),
            "conversation": ("READY", "inject", "is_warm", "list_messages"),
            "forms": ("ANYWHERE", "FormKind", "Rendered", "Target"),
            "episodes": ("DEFAULT_BUDGET", "DEFAULT_LIMITS", "WarmUpLimits", "shorten_line"),
            "search": ("Bm25", "guess_task_type", "list_terms"),
            "renderers": ("RENDERERS", "render"),
            "select": (
                "DEFAULT_HOLDOUT", "DEFAULT_THRESHOLD", "Policy", "Ranked", "SelectionRules",
                "TemplateChoice", "TemplateEntry", "TemplateIndex", "choose", "join_text",
            ),
            "tokens": ("estimate_tokens",),
        },
    )  # fmt: skip

    def __getattr__(name: str) -> Any:
        return import_module("warmstart.app.warm_start").start if name == "start" else _get(name)


if TYPE_CHECKING:
    from warmstart.app.warm_start import start


__all__ = [
    "ANYWHERE", "DEFAULT_BUDGET", "DEFAULT_HOLDOUT", "DEFAULT_LIMITS", "DEFAULT_THRESHOLD", "FRAME",
    "READY", "RENDERERS", "Bm25", "FormKind", "Policy", "Ranked", "Rendered", "SelectionRules",
    "Target", "TemplateChoice", "TemplateEntry", "TemplateIndex", "WarmUpLimits", "build_warmup",
    "choose", "estimate_tokens", "guess_task_type", "inject", "is_warm", "join_text",
    "list_messages", "list_terms", "render", "shorten_line", "start",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
