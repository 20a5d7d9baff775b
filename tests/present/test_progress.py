from __future__ import annotations

import io
from typing import TYPE_CHECKING

from warmstart.present import follow, progress, show_progress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_without_a_terminal() -> None:
    with show_progress() as report:
        assert report is None


def test_a_terminal_sees_a_bar_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", -1.0)
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


def test_items_are_counted_while_they_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    assert list(follow(range(3), "sessions")) == [0, 1, 2]
    assert "sessions read" in screen.getvalue()


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    assert list(follow(range(3), "sessions", quiet=True)) == [0, 1, 2]
    assert screen.getvalue() == ""
