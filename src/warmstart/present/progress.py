"""One progress bar: on a terminal's stderr, once there is something to wait for.

Everywhere else nothing is shown and nothing is loaded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["follow", "show_progress"]

PATIENCE_SECONDS = 1.0
"""Progress appears only when the work takes longer than this."""
Report = Callable[[int, int], None]
"""Takes how much of how much is done; a total of 0 means that it is not known."""
_Item = TypeVar("_Item")


@contextmanager
def show_progress(
    noun: str = "reading sessions", *, quiet: bool = False
) -> Iterator[Report | None]:
    """A function to report to; None where nobody is watching."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (  # noqa: PLC0415 - 20 ms that only a terminal pays
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
    )

    from warmstart.present.terminal import open_console  # noqa: PLC0415 - loads rich

    columns = (TextColumn(noun), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=open_console(stderr=True), transient=True)
    task = bar.add_task("", total=None)
    started = time.monotonic()

    def report(done: int, total: int) -> None:
        if not bar.live.is_started and time.monotonic() - started > PATIENCE_SECONDS:
            bar.start()
        bar.update(task, completed=done, total=total or None)

    try:
        yield report
    finally:
        bar.stop()


def follow(items: Iterable[_Item], noun: str, *, quiet: bool = False) -> Iterator[_Item]:
    """The items, counted on a terminal while they pass."""
    with show_progress(f"{noun} read", quiet=quiet) as report:
        for number, item in enumerate(items, 1):
            yield item
            if report is not None:
                report(number, 0)
