from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from support.sessions import make_session, write_export

Run = Callable[..., Result]


def test_the_index_is_made_by_listing_and_remade_on_request(run: Run, home: Path) -> None:
    path = write_export(home / "a.jsonl", make_session())
    assert json.loads(run("facts", "status", "--json").stdout)["exists"] is False
    assert "no index yet" in run("facts", "status").stdout
    assert run("sessions", "list", path, "-q").exit_code == 0
    status = json.loads(run("facts", "status", "--json").stdout)
    assert (status["sessions"], status["calls"], status["units"]) == (1, 3, 1)
    assert "1 session, 3 calls from 1 source" in run("facts", "status").stdout
    again = run("facts", "rebuild", path, "--json")
    assert json.loads(again.stdout)["sessions"] == 1
    assert "rebuilt: 1 session" in again.stderr


def test_a_bad_line_is_told_each_time(run: Run, home: Path) -> None:
    path = write_export(home / "a.jsonl", make_session())
    path.write_bytes(path.read_bytes() + b"not json\n")
    for _ in range(2):
        listed = run("sessions", "list", path)
        assert "line is not valid JSON" in listed.stderr
        assert "1 session" in listed.stderr
