"""What the demo tells, computed from the sample sessions by the code every command runs.

Pure but for reading the samples: nothing here prints, so the story and its JSON cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warmstart.cli._listing import Tally
from warmstart.model import Call, ErrorClass, Session, Status
from warmstart.sources import READERS, ReadLog, read_sessions

NAIVE_WORDS = ("error", "failed")
MAX_EXAMPLES = 3
MAX_REPAIR_DISTANCE = 3
"""In calls: a success further away was hardly the answer to the failure."""
TARGET_ARGUMENTS = ("file_path", "path")


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleStore:
    """The sessions of one agent, and where they lie."""

    agent: str
    path: Path
    sessions: tuple[Session, ...]

    @property
    def tally(self) -> Tally:
        """Its calls by how they ended."""
        return Tally.of(list_calls(self.sessions))


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A call that the keyword test and the judge see differently."""

    session: Session
    call: Call
    naive_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A failed call, and the calls up to the one that did what it should have done."""

    session: Session
    calls: tuple[Call, ...]


def read_samples(folder: Path, log: ReadLog) -> list[SampleStore]:
    """Every store in a folder that holds one per agent, in the order readers are asked."""
    return [
        SampleStore(
            agent=name,
            path=folder / name,
            sessions=tuple(read_sessions(folder / name, log)),
        )
        for name in READERS
        if (folder / name).is_dir()
    ]


def list_calls(sessions: Sequence[Session]) -> list[Call]:
    """The counted calls of all sessions."""
    return [call for session in sessions for call in session.calls]


def says_error(call: Call) -> bool:
    """The naive test: any of the words anywhere in the result, in capitals or not."""
    text = result_text(call).lower()
    return any(word in text for word in NAIVE_WORDS)


def result_text(call: Call) -> str:
    """What came back; empty where nothing did."""
    return call.result.text if call.result else ""


def find_disagreements(sessions: Sequence[Session]) -> list[Disagreement]:
    """Calls that the keyword test takes for failed and the judge does not, or the reverse."""
    return [
        Disagreement(session=session, call=call, naive_error=naive)
        for session in sessions
        for call in session.calls
        if (naive := says_error(call)) != (call.outcome.status is Status.ERROR)
    ]


def choose_examples(found: Sequence[Disagreement]) -> list[Disagreement]:
    """The few that teach most: a false alarm, a missed failure, then whatever else is common.

    No two rest on the same rule, and each is the shortest of its kind.
    """
    kinds: dict[tuple[bool, str], list[Disagreement]] = {}
    for one in found:
        kinds.setdefault((one.naive_error, one.call.outcome.evidence), []).append(one)
    largest = sorted(kinds, key=lambda kind: -len(kinds[kind]))
    alarms = [kind for kind in largest if kind[0]]
    misses = [kind for kind in largest if not kind[0]]
    order = dict.fromkeys([*alarms[:1], *misses[:1], *largest])
    return [min(kinds[kind], key=_text_length) for kind in list(order)[:MAX_EXAMPLES]]


def _text_length(one: Disagreement) -> int:
    return len(result_text(one.call))


def find_repairs(sessions: Sequence[Session]) -> list[Repair]:
    """Failures on a file that the same tool on the same file made good a few calls later."""
    return [repair for session in sessions for repair in _list_repairs(session)]


def choose_repair(repairs: Sequence[Repair]) -> Repair | None:
    """The clearest: the agent looked before it tried again, and the whole is short."""
    return min(repairs, key=lambda repair: (len(repair.calls) < 3, _size(repair)), default=None)


def _list_repairs(session: Session) -> Iterator[Repair]:
    """Test failures are left out: a test that fails until the code is fixed is work."""
    for index, call in enumerate(session.calls):
        failed = call.outcome.status is Status.ERROR and _target(call)
        if not failed or call.outcome.error_class is ErrorClass.TEST_FAILURE:
            continue
        for later in session.calls[index + 1 : index + 1 + MAX_REPAIR_DISTANCE]:
            if _repairs(call, later):
                yield Repair(session=session, calls=session.calls[index : later.position + 1])
                break


def _repairs(failed: Call, later: Call) -> bool:
    same = failed.tool == later.tool and _target(failed) == _target(later)
    return same and later.outcome.status is Status.OK


def _target(call: Call) -> str:
    values = (call.request.arguments.get(name) for name in TARGET_ARGUMENTS)
    return next((value for value in values if isinstance(value, str)), "")


def _size(repair: Repair) -> int:
    return sum(len(str(call.request.arguments)) + len(result_text(call)) for call in repair.calls)
