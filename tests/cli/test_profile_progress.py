from __future__ import annotations

import io
from typing import TYPE_CHECKING

from warmstart.cli import _profile_progress
from warmstart.cli._profile_progress import show_progress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nobody_is_told_anything_without_a_terminal() -> None:
    with show_progress() as report:
        assert report is None


def test_a_terminal_sees_a_bar_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(_profile_progress, "PATIENCE_SECONDS", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as report:
        assert report is not None
        report(1, 4)
        report(4, 4)
    assert "reading" in screen.getvalue()


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress() as report:
        assert report is not None
        report(1, 1)
    assert "reading" not in screen.getvalue()
