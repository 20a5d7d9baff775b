"""Reading in a process of its own, so that a hang or a flood of memory ends the test and not more.

The processor time a child may take is a guard against never ending, far above what it needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

CPU_SECONDS = 30
CODE = """
import json, sys
from pathlib import Path
import resource
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
from warmstart.errors import SourceError
from warmstart.sources import ReadLog, read_sessions
log = ReadLog()
sessions, error = [], None
try:
    for session in read_sessions(Path(sys.argv[1]), log):
        sessions.append((session.id, len(session.messages), len(session.calls)))
except SourceError as failure:
    error = failure.message
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
json.dump([sessions, log.sentences(), error, peak], sys.stdout)
"""


class Reading(NamedTuple):
    """What a child read."""

    sessions: list[tuple[str, int, int]]
    """Id, messages and calls of each."""
    skipped: list[str]
    error: str | None
    peak_megabytes: float


def read_limited(path: Path) -> Reading:
    """Everything at a path, read by a child that is ended when it takes too long."""
    pytest.importorskip("resource")
    command = [sys.executable, "-c", CODE, str(path), str(CPU_SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    found: Any = json.loads(done.stdout)
    # Kilobytes on Linux, bytes on macOS.
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Reading([tuple(one) for one in found[0]], found[1], found[2], found[3] / scale)
