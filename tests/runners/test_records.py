from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.errors import UsageError
from warmstart.experiment.trial import Trial, TrialCall, TrialStatus
from warmstart.runners.records import (
    LOCK_FILE,
    TRIALS_FILE,
    RunLock,
    TrialFile,
    count_unreadable,
    format_trial,
    parse_trial,
    read_trials,
)

HOLD = """
import sys, pathlib
from warmstart.runners import RunLock
with RunLock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def _trial(number: int = 0, **fields: object) -> Trial:
    calls = (TrialCall("read_file", error=True, retry=False),)
    return Trial(experiment="e", task="t", arm="cold", number=number, calls=calls, **fields)  # type: ignore[arg-type] # fields of every kind


@given(
    st.text(max_size=20), st.integers(0, 9), st.sampled_from(TrialStatus), st.none() | st.booleans()
)
def test_a_trial_survives_its_line(
    task: str,
    number: int,
    status: TrialStatus,
    success: bool | None,  # noqa: FBT001 - drawn
) -> None:
    trial = Trial(
        experiment="e", task=task, arm="warm:x", number=number, status=status, success=success,
        calls=(TrialCall("a", error=True, retry=True),), seconds=1.5, cost_usd=0.25,
    )  # fmt: skip
    assert parse_trial(json.loads(json.dumps(format_trial(trial, "p")))) == trial


@pytest.mark.parametrize(
    "data", [None, [], {}, {"status": "x"}, {"status": "finished", "calls": [[1]]},
             {**format_trial(_trial(), "p"), "number": "0"}, {**format_trial(_trial(), "p"), "calls": 3}],
)  # fmt: skip
def test_what_is_no_trial_is_none(data: object) -> None:
    assert parse_trial(data) is None


def test_a_trial_is_added_once(tmp_path: Path) -> None:
    with TrialFile(tmp_path) as file:
        assert file.add(_trial(), "p")
        assert not file.add(_trial(), "p")
        assert (len(file), _trial().key in file) == (1, True)
    with TrialFile(tmp_path) as file:
        assert not file.add(_trial(success=True), "p")
    assert [record.trial for record in read_trials(tmp_path)] == [_trial()]
    assert (tmp_path / TRIALS_FILE).stat().st_mode & 0o077 == 0


@given(st.integers(1, 10_000))
def test_a_line_cut_anywhere_costs_its_trial_alone(tmp_path: Path, cut: int) -> None:
    path = tmp_path / TRIALS_FILE
    path.unlink(missing_ok=True)
    with TrialFile(tmp_path) as file:
        file.add(_trial(0), "p")
        whole = path.stat().st_size
        file.add(_trial(1), "p")
    size = path.stat().st_size
    os.truncate(path, whole + cut % (size - whole))
    assert [record.trial.number for record in read_trials(tmp_path)] == [0]
    with TrialFile(tmp_path) as file:
        file.add(_trial(2), "p")
    assert [record.trial.number for record in read_trials(tmp_path)] == [0, 2]
    assert count_unreadable(tmp_path) == 0


def test_lines_that_are_no_trials_are_counted(tmp_path: Path) -> None:
    assert count_unreadable(tmp_path) == 0
    assert read_trials(tmp_path) == []
    with TrialFile(tmp_path) as file:
        file.add(_trial(), "p")
    with (tmp_path / TRIALS_FILE).open("ab") as damaged:
        damaged.write(b"{}\nnonsense\n\n")
    assert count_unreadable(tmp_path) == 2
    assert len(read_trials(tmp_path)) == 1


def test_two_runs_cannot_mix_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(UsageError, match="another process"), RunLock(tmp_path):
        pass
    other.kill()
    other.communicate()
    with RunLock(tmp_path):
        assert (tmp_path / LOCK_FILE).exists()
    with RunLock(tmp_path):
        pass
