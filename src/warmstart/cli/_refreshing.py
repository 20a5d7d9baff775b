"""Progress while facts are brought up to date: a bar on a terminal once it takes over a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from warmstart.cli._output import PATIENCE_SECONDS, open_console


@contextmanager
def watch_reading(*, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """What to tell how many things of how many were read; None where nobody is watching."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("reading sessions"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=open_console(stderr=True), transient=True)
    task = bar.add_task("", total=None)
    started = time.monotonic()

    def tell(done: int, total: int) -> None:
        if not bar.live.is_started and time.monotonic() - started > PATIENCE_SECONDS:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield tell
    finally:
        bar.stop()
