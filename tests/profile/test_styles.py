from __future__ import annotations

import pytest

from warmstart.model import Marker, MarkerKind, UserStyleCounts
from warmstart.profile.styles import find_domains, find_feedback, find_style


@pytest.mark.parametrize(
    ("counts", "style"),
    [
        (UserStyleCounts(), None),
        (UserStyleCounts(messages=5, words=20, commands=4), "command-driven"),
        (UserStyleCounts(messages=5, words=20), "terse"),
        (UserStyleCounts(messages=2, words=200), "detailed"),
        (UserStyleCounts(messages=5, words=100, long=2), "detailed"),
        (UserStyleCounts(messages=4, words=60, questions=3), "conversational"),
        (UserStyleCounts(messages=4, words=60, polite=3), "conversational"),
        (UserStyleCounts(messages=4, words=60, commands=2), "direct"),
        (UserStyleCounts(messages=4, words=60), "balanced"),
    ],
)
def test_request_styles(counts: UserStyleCounts, style: str | None) -> None:
    assert find_style(counts) == style


@pytest.mark.parametrize(
    ("counts", "style"),
    [
        (UserStyleCounts(messages=1), None),
        (UserStyleCounts(messages=5, corrections=2), "corrections only"),
        (UserStyleCounts(messages=5, long=2), "detailed"),
        (UserStyleCounts(messages=5, short=2), "terse"),
        (UserStyleCounts(messages=5), "balanced"),
    ],
)
def test_feedback_styles(counts: UserStyleCounts, style: str | None) -> None:
    assert find_feedback(counts) == style


def test_domains_are_languages_and_hosts_by_use() -> None:
    markers = [
        Marker(MarkerKind.FILE, "a/b.py", 2),
        Marker(MarkerKind.FILE, "c.py", 3),
        Marker(MarkerKind.FILE, "Makefile", 9),
        Marker(MarkerKind.URL, "https://user@api.example/v1", 4),
        Marker(MarkerKind.COMMAND, "git log", 7),
    ]
    assert find_domains(markers) == [("python", 5), ("api.example", 4)]


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://api.example:8080/v1", "api.example:8080"),
        ("http://my_service?token=12345678:AAx", "my_service"),
        ("http://[::1]:3000/x", "[::1]:3000"),
        ("https://bob:pa/ss@api.example", None),
        ("https://12345678:AAHx", None),
        ("https:///x", None),
    ],
)
def test_a_piece_of_a_password_is_no_host(address: str, host: str | None) -> None:
    found = find_domains([Marker(MarkerKind.URL, address, 1)])
    assert found == ([(host, 1)] if host else [])
