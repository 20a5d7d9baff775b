"""The one place that catches any exception: one bad transcript or reader must not end a scan.

What was caught is always reported; nothing is left out in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["go_on_after"]


@contextmanager
def go_on_after(report: Callable[[Exception], None]) -> Iterator[None]:
    """Hand whatever goes wrong inside to ``report``, which counts it or raises it again."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - readers meet whatever a file or a package holds
        report(error)
