"""What a template was flagged for, with the words, for the person who decides.

Flags that are kept and listed name a place and a kind only: hostile words belong on the page a
person reads before approving, and nowhere else.
"""

from __future__ import annotations

from warmstart.library.guard import MAX_PLACE, find_flags
from warmstart.model.template import Template
from warmstart.template.texts import list_scanned

__all__ = ["list_evidence"]


def list_evidence(template: Template) -> tuple[str, ...]:
    """Every flag, and behind it the words it was found by where they are still in the template."""
    from warmstart.redact import find_orders  # noqa: PLC0415 - not for every command

    words = {
        f"{where[:MAX_PLACE]}: {kind}": evidence
        for where, text in list_scanned(template)
        for kind, evidence in find_orders(text)
    }
    return tuple(
        f"{flag}: {words[flag]}" if words.get(flag) else flag for flag in find_flags(template)
    )
