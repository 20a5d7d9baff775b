"""Python's cycle collector, set aside where hundreds of thousands of small things are made.

Facts hold no cycles; looking for some cost a tenth of making them and 40 % of reading those of
10,985 sessions.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["gc_paused"]


@contextmanager
def gc_paused() -> Iterator[None]:
    """Nothing is collected inside; afterwards the collector is as it was."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
