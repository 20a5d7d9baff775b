"""Progress and notes: only for a person who is waiting."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from warmstart.cli import _output

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch, patience: float = -1.0) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_output, "PATIENCE_SECONDS", patience)
    return stream


def test_a_short_wait_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch, patience=60.0)
    assert list(_output.follow(range(3), "sessions")) == [0, 1, 2]
    assert terminal.getvalue() == ""


def test_a_long_wait_counts_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    assert list(_output.follow(range(3), "sessions")) == [0, 1, 2]
    assert "sessions read" in terminal.getvalue()


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    assert list(_output.follow(range(3), "sessions", quiet=True)) == [0, 1, 2]
    _output.note("hello", quiet=True)
    assert terminal.getvalue() == ""


def test_colour_is_for_terminals_and_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = use_terminal(monkeypatch)
    monkeypatch.delenv("NO_COLOR", raising=False)
    _output.open_console(stderr=True).print("x", style="red")
    monkeypatch.setenv("NO_COLOR", "1")
    _output.open_console(stderr=True).print("y", style="red")
    assert terminal.getvalue() == "\x1b[31mx\x1b[0m\ny\n"
