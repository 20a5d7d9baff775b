"""Work on a large database in two processes where two cores are free.

Children are forked, so what they need is already there; each opens connections of its own and
sends back what it has built, a batch at a time. Nothing is shared and nothing outlives the call or
this process: a worker watches a pipe to it, as the supervisor of ``children`` does for commands.
There is no CPU limit, as a store may be of any size.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from warmstart.facts.collector import gc_paused

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MAX_WORKERS = 2
BATCH = 128
_Item = TypeVar("_Item")
_Done = TypeVar("_Done")


def can_fork() -> bool:
    """Whether a second process would help and is safe: a second core, and no other thread."""
    return hasattr(os, "fork") and threading.active_count() == 1 and count_cores() > 1


def count_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_shares(
    work: Callable[[Sequence[_Item]], Iterable[_Done]], shares: Sequence[Sequence[_Item]]
) -> Generator[_Done, None, None]:
    """What ``work`` makes of each share, as it comes.

    Raises:
        ChildProcessError: a worker ended before its share was done.
    """
    import multiprocessing  # noqa: PLC0415 - few builds need it

    context = multiprocessing.get_context("fork")
    ends: list[Connection] = []
    children = []
    lifeline = os.pipe()
    try:
        for share in shares:
            receiver, sender = context.Pipe(duplex=False)
            ends.append(receiver)
            arguments = (work, share, sender, ends, lifeline)
            child = context.Process(target=_serve, args=arguments, daemon=True)
            child.start()
            sender.close()
            children.append(child)
        yield from _receive(ends)
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.join()
        for end in lifeline:
            os.close(end)


def _receive(ends: list[Connection]) -> Iterator[Any]:
    from multiprocessing.connection import wait  # noqa: PLC0415 - few builds need it

    while ends:
        for end in wait(ends):
            receiver = cast("Connection", end)
            try:
                batch = receiver.recv()
            except EOFError:
                raise ChildProcessError("a worker stopped before it was done") from None
            if batch is None:
                ends.remove(receiver)
            else:
                yield from batch


def _serve(
    work: Callable[[Sequence[_Item]], Iterable[_Done]],
    share: Sequence[_Item],
    sender: Connection,
    inherited: Iterable[Connection],
    lifeline: tuple[int, int],
) -> None:
    threading.Thread(target=_end_with_parent, args=lifeline, daemon=True).start()
    # With an end for reading of its own, a worker would wait for ever once its parent is gone.
    for end in inherited:
        end.close()
    batch: list[_Done] = []
    try:
        with gc_paused():
            for done in work(share):
                batch.append(done)
                if len(batch) >= BATCH:
                    sender.send(batch)
                    batch = []
        sender.send(batch)
        sender.send(None)
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(1)


def _end_with_parent(watched: int, watch: int) -> None:
    """End this worker at once when the parent's end of the pipe is closed."""
    os.close(watch)
    os.read(watched, 1)
    os._exit(1)
