"""A progress bar on a terminal's stderr, once reading takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from warmstart.cli._output import PATIENCE_SECONDS, open_console

__all__ = ["show_progress"]


@contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Something to report to: how much of how much has been read; None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress  # noqa: PLC0415 - 20 ms that only a terminal pays

    started = time.monotonic()
    bar = Progress(console=open_console(stderr=True), transient=True)
    task = bar.add_task("reading", total=None)

    def report(done: int, total: int) -> None:
        if not bar.live.is_started and time.monotonic() - started > PATIENCE_SECONDS:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        bar.stop()
