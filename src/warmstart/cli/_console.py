"""The console that tables and pages are printed on; importing it loads rich."""

from __future__ import annotations

import os
import sys

from rich.console import Console

PIPE_WIDTH = 120


class _Console(Console):
    """Leaves a closed pipe to the command, which knows the exit code for it."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def make_console(*, stderr: bool = False) -> Console:
    """A console that never interprets what it prints."""
    stream = sys.stderr if stderr else sys.stdout
    wide = None if stream.isatty() or os.environ.get("COLUMNS") else PIPE_WIDTH
    return _Console(file=stream, width=wide, markup=False, highlight=False, emoji=False)
