"""Reading in a process of its own, so that a hang or a flood of memory ends the test and not more.

The processor time a child may take is a guard against never ending, far above what it needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

CPU_SECONDS = 30
LIMIT = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS}, {CPU_SECONDS}))
def measure_peak():
    # What getrusage says includes the process that this one was split off from.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
"""
READ = """
import json
from pathlib import Path
from warmstart.errors import SourceError
from warmstart.sources import ReadLog, read_sessions
log = ReadLog()
sessions, error = [], None
try:
    for session in read_sessions(Path(sys.argv[1]), log):
        sessions.append((session.id, len(session.messages), len(session.calls)))
except SourceError as failure:
    error = failure.message
json.dump([sessions, log.sentences(), error, measure_peak()], sys.stdout)
"""


class Reading(NamedTuple):
    """What a child read."""

    sessions: list[tuple[str, int, int]]
    """Id, messages and calls of each."""
    skipped: list[str]
    error: str | None
    peak_megabytes: float


def run_limited(code: str, *arguments: str, **environ: str) -> str:
    """What a child prints, both streams; it must end by itself and well."""
    if not Path("/proc/self/status").exists():
        pytest.skip("needs Linux to limit and measure a child")
    done = subprocess.run(
        [sys.executable, "-c", LIMIT + code, *arguments],
        capture_output=True, text=True, check=False, env=os.environ | environ,
    )  # fmt: skip
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout + done.stderr


def read_limited(path: Path) -> Reading:
    """Everything at a path, read by a child that is ended when it takes too long."""
    sessions, skipped, error, peak = json.loads(run_limited(READ, str(path)))
    return Reading([tuple(one) for one in sessions], skipped, error, peak / 1024)
