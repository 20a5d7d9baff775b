"""Writers in processes of their own, and PostgreSQL servers that tests stop and start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmstart.store import SessionDB

if TYPE_CHECKING:
    import pytest

WRITER = Path(__file__).parents[1] / "store" / "writer_process.py"


def start_writer(
    address: str, session_id: str, count: int, batch: int = 1
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), address, session_id, str(count), str(batch)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def numbers(db: SessionDB, session_id: str) -> list[int]:
    return [int(row["content"].split()[-1]) for row in db.get_messages(session_id)]


def start_server(pgserver: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server in a folder of its own; a busy machine may need a second try."""
    for _ in range(3):
        try:
            return pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
        except subprocess.SubprocessError as error:
            failure = error
    raise failure


def start_again(server: Any) -> None:
    """A busy machine may need a second try; without the server all later tests would fail."""
    for _ in range(4):
        try:
            server.start()
        except subprocess.SubprocessError as error:
            failure = error
        else:
            return
    raise failure
