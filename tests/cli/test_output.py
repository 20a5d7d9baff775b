"""Notes and colors: only for a person who is watching."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from warmstart.cli import _output
from warmstart.present import open_console

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    _output.note("hello", quiet=True)
    assert terminal.getvalue() == ""


def test_color_is_for_terminals_and_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    monkeypatch.delenv("NO_COLOR", raising=False)
    open_console(stderr=True).print("x", style="red")
    monkeypatch.setenv("NO_COLOR", "1")
    open_console(stderr=True).print("y", style="red")
    assert terminal.getvalue() == "\x1b[31mx\x1b[0m\ny\n"
