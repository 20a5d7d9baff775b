"""Shorter forms of a template, as arms of an experiment write them behind its name.

    warm:NAME/no-guidance          the template without one of its parts
    warm:NAME/examples-2           with at most two episodes
    warm:NAME/budget-500           within 500 tokens
    warm:NAME/head-tail            the beginning and the end of its sessions only
    warm:NAME/whole                everything, without the usual caps

Several words are joined by ``+``. The same template and words give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from warmstart.errors import UsageError
from warmstart.model import PatternType, Template
from warmstart.warm import DEFAULT_LIMITS, WarmUpLimits

__all__ = ["PARTS", "STRATEGIES", "Form", "check_variant", "shape_template"]

PARTS = ("guidance", "examples", "recoveries", "markers")
"""What can be left out."""
SHORT_RESULT_CHARS = 120
WHOLE_LIMITS = replace(DEFAULT_LIMITS, examples=60, per_tool=60, result_chars=4000)
_NUMBERED = re.compile(r"(examples|budget)-([1-9][0-9]{0,6})")


class Form(NamedTuple):
    """A template as it will be built."""

    template: Template
    budget: int
    limits: WarmUpLimits = DEFAULT_LIMITS


def _keep_ends(form: Form) -> Form:
    """Examples from where sessions began and ended; the first and last where none is marked so."""
    examples = form.template.examples
    ends = tuple(e for e in examples if e.pattern_type in (PatternType.INIT, PatternType.FINAL))
    if not ends or len(ends) == len(examples):
        ends = (*examples[:1], *examples[1:][-1:])
    return form._replace(template=replace(form.template, examples=ends, recoveries=()))


def _keep_examples(form: Form) -> Form:
    bare = replace(form.template, guidance=(), recoveries=(), markers=(), system_context="")
    return form._replace(template=bare)


def _keep_guidance(form: Form) -> Form:
    bare = replace(form.template, examples=(), recoveries=(), markers=(), system_context="")
    return form._replace(template=bare)


def _shorten_results(form: Form) -> Form:
    return form._replace(limits=replace(form.limits, result_chars=SHORT_RESULT_CHARS))


def _keep_whole(form: Form) -> Form:
    return form._replace(limits=WHOLE_LIMITS)


def _leave_out(part: str) -> Callable[[Form], Form]:
    nothing: Any = {part: ()}

    def shape(form: Form) -> Form:
        return form._replace(template=replace(form.template, **nothing))

    return shape


STRATEGIES: dict[str, Callable[[Form], Form]] = {
    "head-tail": _keep_ends,
    "examples-only": _keep_examples,
    "guidance-only": _keep_guidance,
    "short-results": _shorten_results,
}
"""Ways to shorten what a template holds."""
_WORDS: dict[str, Callable[[Form], Form]] = {
    **STRATEGIES,
    "whole": _keep_whole,
    **{f"no-{part}": _leave_out(part) for part in PARTS},
}


def check_variant(variant: str) -> str:
    """The variant, if every word of it is one.

    Raises:
        UsageError: one is not.
    """
    for word in variant.split("+"):
        if word not in _WORDS and _NUMBERED.fullmatch(word) is None:
            raise UsageError(
                f"no such form of a template: {word!r}",
                hint=f"{', '.join(_WORDS)}, examples-N or budget-N",
            )
    return variant


def shape_template(template: Template, variant: str, budget: int) -> Form:
    """What a variant makes of a template; without one, the usual."""
    form = Form(template, budget)
    # "whole" sets the caps that the others then lower, so it comes first.
    words = sorted(filter(None, variant.split("+")), key=lambda word: word != "whole")
    for word in words:
        form = _apply(form, word)
    return form


def _apply(form: Form, word: str) -> Form:
    numbered = _NUMBERED.fullmatch(word)
    if numbered is None:
        return _WORDS[word](form)
    number = int(numbered[2])
    if numbered[1] == "budget":
        return form._replace(budget=min(number, form.budget))
    return form._replace(limits=replace(form.limits, examples=number))
