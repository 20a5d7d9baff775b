from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from warmstart.errors import InternalError
from warmstart.experiment.arms import ArmStart, start_warm
from warmstart.experiment.schedule import Slot
from warmstart.experiment.tasks import Task, parse_tasks
from warmstart.experiment.trial import Trial, TrialCall, TrialStatus
from warmstart.model import Kind, Message, Request, Result, Role, Status, Tokens
from warmstart.model.template import Example, Template
from warmstart.runners import find_trials, store_trial
from warmstart.runners.endpoint import TrialTranscript
from warmstart.runners.scoring import Setting, score_trial
from warmstart.runners.tools import Sandbox
from warmstart.sources import ReadLog, read_sessions
from warmstart.store import NO_MARK, Mark, SessionDB, mark_ending, read_mark
from warmstart.warm import build_warmup

TEMPLATE = Template(
    name="reads",
    examples=(Example(tool="read_file", arguments={"path": "docs/old.txt"}, result="x", intent="Read.", closing="Done."),),
)  # fmt: skip
TASK = parse_tasks(['{"id": "t1", "prompt": "Read a.txt.", "files": {"a.txt": "Error: none"}, "check": {"answer": "none"}}'])[0]  # fmt: skip
CALLS = (
    (
        "read_file",
        {"path": "docs/old.txt"},
        Result(text='{"error": "no such file"}', is_error=True),
    ),
    ("read_file", {"path": "a.txt"}, Result(text="Error: none", is_error=False)),
    ("terminal", {"command": "grep x a.txt"}, Result(text="{}", is_error=True, exit_code=1)),
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "store.db") as opened:
        yield opened


def _start() -> ArmStart:
    return start_warm(build_warmup(TEMPLATE, template_id="0" * 64))


def _talk(start: ArmStart) -> TrialTranscript:
    messages = [*start.messages, Message(role=Role.USER, text=TASK.prompt)]
    for number, (tool, arguments, result) in enumerate(CALLS):
        call_id = f"own_{number}"
        request = Request(tool=tool, id=call_id, arguments=arguments)
        answer = Result(
            text=result.text, call_id=call_id, tool=tool, is_error=result.is_error,
            exit_code=result.exit_code,
        )  # fmt: skip
        messages.append(Message(role=Role.ASSISTANT, requests=(request,), reasoning="Hm."))
        messages.append(Message(role=Role.TOOL, results=(answer,)))
    messages.append(Message(role=Role.ASSISTANT, text="It says none."))
    return TrialTranscript(
        system="S", messages=tuple(messages), answer="It says none.", turns=4,
        tokens=Tokens(input=10, output=5), started_at=1000.0, seconds=2.0, model="m",
    )  # fmt: skip


def _score(tmp_path: Path, conversation: TrialTranscript, task: Task = TASK) -> Trial:
    slot = Slot(7, task.id, "warm:reads", 1)
    setting = Setting(experiment="first", setup="s", slot=slot, start=_start())
    with Sandbox(task.files, tmp_path) as sandbox:
        return score_trial(setting, task, conversation, sandbox)


def test_a_trial_counts_its_own_calls_alone(tmp_path: Path) -> None:
    trial = _score(tmp_path, _talk(_start()))
    assert trial.calls == (
        TrialCall("read_file", error=True, retry=False),
        TrialCall("read_file", error=False, retry=True),
        TrialCall("terminal", error=False, retry=False),
    )
    assert (trial.success, trial.warmup_calls, trial.order) == (True, 1, 7)
    assert trial.warmup_tokens > 0
    assert (trial.tokens, trial.turns, trial.seconds) == (15, 4, 2.0)


def test_a_value_copied_from_an_example_is_counted(tmp_path: Path) -> None:
    assert _score(tmp_path, _talk(_start())).copied == 1


def test_a_value_copied_from_inside_a_list_is_counted_too(tmp_path: Path) -> None:
    request = Request(tool="x", id="c", arguments={"many": [{"path": "docs/old.txt"}, 3]})
    talk = TrialTranscript(messages=(Message(role=Role.ASSISTANT, requests=(request,)),))
    assert _score(tmp_path, talk).copied == 1


def test_a_command_checks_what_the_trial_left(tmp_path: Path) -> None:
    checked = {
        "id": "t",
        "prompt": "p",
        "files": {"a.txt": "x"},
        "check": {"command": "test -f a.txt"},
    }
    [task] = parse_tasks([json.dumps(checked)])
    assert _score(tmp_path, TrialTranscript(), task).success
    [failing] = parse_tasks([json.dumps({**checked, "check": {"command": "echo bad; exit 2"}})])
    trial = _score(tmp_path, TrialTranscript(), failing)
    assert (trial.success, "exited 2: 'bad'" in trial.detail) == (False, True)


def test_a_crash_is_a_failure_where_success_can_be_told(tmp_path: Path) -> None:
    crashed = TrialTranscript(status=TrialStatus.CRASHED, detail="gone", messages=())
    assert (_score(tmp_path, crashed).success, _score(tmp_path, crashed).detail) == (False, "gone")
    assert _score(tmp_path, crashed, Task(id="t", prompt="p")).success is None


def test_a_stored_trial_reads_as_a_session_that_is_judged_the_same(
    tmp_path: Path, db: SessionDB
) -> None:
    conversation = _talk(_start())
    trial = store_trial(db, _score(tmp_path, conversation), conversation, "plan")
    [session] = read_sessions(tmp_path / "store.db", ReadLog())
    assert session.id == trial.session
    statuses = [call.outcome.status for call in session.calls]
    assert statuses == [Status.ERROR, Status.OK, Status.OK]
    warm = [message for message in session.messages if message.kind is Kind.WARMUP]
    assert len(warm) == len(_start().messages)
    assert {message.role for message in warm} >= {Role.TOOL, Role.ASSISTANT}
    assert (session.task, session.reward, session.model) == ("t1", 1.0, "m")
    assert (session.tokens.total, session.end_reason) == (15, "finished")


def test_the_store_gives_its_trials_back(tmp_path: Path, db: SessionDB) -> None:
    conversation = _talk(_start())
    trial = store_trial(db, _score(tmp_path, conversation), conversation, "plan")
    assert list(find_trials(db, "first")) == [(trial, "plan")]
    assert list(find_trials(db, "fir")) == []


def test_storing_again_changes_nothing_and_another_talk_is_refused(
    tmp_path: Path, db: SessionDB
) -> None:
    conversation = _talk(_start())
    scored = _score(tmp_path, conversation)
    store_trial(db, scored, conversation, "plan")
    store_trial(db, scored, conversation, "plan")
    assert db.session_count() == 1
    with pytest.raises(InternalError, match="could not be stored"):
        store_trial(db, scored, TrialTranscript(messages=conversation.messages[::-1]), "plan")


def test_marks_of_others_say_nothing() -> None:
    assert read_mark("none") == read_mark(None) == read_mark(3) == NO_MARK
    assert read_mark(mark_ending(is_error=True, exit_code=3)) == Mark(is_error=True, exit_code=3)
    assert read_mark(mark_ending(is_error=False)) == Mark(is_error=False)
    assert read_mark("warmup").is_warmup
