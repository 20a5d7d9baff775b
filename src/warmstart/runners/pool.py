"""Trials side by side in threads, recorded one after another by the thread that asked.

Trials start in the order of the schedule. Whatever ends the run early (an answer, an interrupt, an
endpoint that is gone) lets no finished trial go unrecorded and starts no further one.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from warmstart.errors import InternalError, WarmstartError
from warmstart.experiment import Slot, Trial
from warmstart.runners.endpoint import Conversation
from warmstart.runners.transport import EndpointError, Failure

GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A trial that is over."""

    trial: Trial
    conversation: Conversation
    is_elsewhere: bool = False
    """Its session stands in the agent's own store already."""


Work = Callable[[Slot], Done]
_Ended = Done | WarmstartError | OSError | None


class Pool:
    """A few workers; iterate over ``run`` to get trials as they are over."""

    def __init__(self, work: Work, jobs: int, stop: threading.Event) -> None:
        self._work = work
        self._jobs = max(jobs, 1)
        self._stop = stop
        self._waiting: queue.Queue[Slot | None] = queue.Queue()
        self._ended: queue.Queue[_Ended] = queue.Queue()
        self._halted = False

    def halt(self) -> None:
        """Start nothing more; what runs is finished."""
        self._halted = True

    def run(self, slots: Iterable[Slot]) -> Iterator[Done]:
        """Trials in the order they end.

        Raises:
            WarmstartError: the first that a trial raised, after the others have ended.
        """
        upcoming = iter(slots)
        workers = [threading.Thread(target=self._serve, daemon=True) for _ in range(self._jobs)]
        for worker in workers:
            worker.start()
        try:
            yield from self._follow(upcoming)
        except BaseException:
            self._stop.set()
            raise
        finally:
            for _ in workers:
                self._waiting.put(None)
            for worker in workers:
                # A worker in mid-request is left behind; it records nothing.
                worker.join(GRACE_SECONDS)

    def _follow(self, upcoming: Iterator[Slot]) -> Iterator[Done]:
        running = sum(self._start(upcoming) for _ in range(self._jobs))
        problem: WarmstartError | OSError | None = None
        while running:
            ended = self._ended.get()
            running -= 1
            if isinstance(ended, Done):
                yield ended
            elif problem is None or _is_stop(problem):
                problem = ended or InternalError("a trial ended in a way nobody foresaw")
                self._stop.set()
            if problem is None and not self._halted:
                running += self._start(upcoming)
        if problem is not None:
            raise problem

    def _start(self, upcoming: Iterator[Slot]) -> bool:
        slot = next(upcoming, None)
        if slot is None:
            return False
        self._waiting.put(slot)
        return True

    def _serve(self) -> None:
        while (slot := self._waiting.get()) is not None:
            ended: _Ended = None
            try:
                ended = self._work(slot)
            except (WarmstartError, OSError) as error:
                ended = error
            finally:
                self._ended.put(ended)


def _is_stop(error: WarmstartError | OSError) -> bool:
    return isinstance(error, EndpointError) and error.failure is Failure.STOPPED
