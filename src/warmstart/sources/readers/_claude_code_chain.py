"""How the lines of a Claude Code conversation follow each other, and which ways were left.

Every line names its parent, so a conversation is a tree. Most of its forks are harmless: results
of parallel calls hang beside the line that leads on. Only one kind is a rewind: the user goes
back and writes another prompt below the same parent. A second tree in the same file is not a
rewind: its first line has no parent because the context was cleared, and what stands before it
was done.
What must stay true: when in doubt, it counts; and time grows with the number of lines, however
they hang together.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

_UNSEEN = object()


class _Above(NamedTuple):
    """What a line follows, lines without a message passed over."""

    message: str | None
    """The message, or None."""
    top: str
    """The last line that was passed on the way up, or the line itself."""


class Chain:
    """The tree of one conversation. Ask only when every line has been added."""

    def __init__(self) -> None:
        self.lines: dict[str, Any] = {}
        """Message lines in file order: ``uuid`` to its parent's."""
        self._notes: dict[str, Any] = {}
        """The parents of the lines between them that carry no message."""
        self._prompts: list[str] = []
        """Lines that hold a prompt of the user."""
        self._above_notes: dict[str, _Above] = {}
        self._roots = 0

    def add_line(self, uuid: str | None, parent: Any) -> bool:
        """Chain a message line; False where the file already had this very line."""
        if uuid is not None:
            if self.lines.get(uuid, _UNSEEN) == parent:
                return False
            self.lines[uuid] = parent
            self._roots += not parent
        return True

    def add_note(self, uuid: str | None, parent: Any) -> None:
        """Chain a line that carries no message."""
        if uuid is not None:
            self._notes[uuid] = parent
            self._roots += not parent

    def add_prompt(self, uuid: str | None) -> None:
        """Remember a line that holds a prompt of the user and nothing else."""
        if uuid is not None:
            self._prompts.append(uuid)

    def find_abandoned(self) -> set[str]:
        """The lines that the user left by going back to an earlier prompt."""
        rivals = self._find_rivals()
        if not rivals:
            return set()
        order = list(self.lines)
        place = {uuid: index for index, uuid in enumerate(order)}
        sizes, ends = self._measure_branches(order, place)
        live = self._line_of_descent(order[-1])
        # +1 where a branch that was left begins, -1 after its end.
        marks = [0] * (len(order) + 1)
        for prompts in rivals:
            for one, two in pairwise(prompts) if prompts[-1] in live else ():
                start, end = place[one], place[two]
                # A side line that is still being written to is not a rewind: two processes may have
                # resumed the same session.
                if start < end and sizes[start] == end - start and ends[start] < end:
                    marks[start] += 1
                    marks[end] -= 1
        return {uuid for uuid, depth in zip(order, accumulate(marks), strict=False) if depth}

    def find_trees(self) -> dict[str, str]:
        """Each message line of a tree, mapped to the tree's first line; empty if there is one tree.

        A line that follows nothing and that nothing follows is not a tree: there are files whose
        lines do not name their parents. A line whose parent is not in the file belongs to none.
        """
        tree_of: dict[str, str] = {}
        for uuid in self.lines if self._roots > 1 else ():
            above = self._find_above(uuid)
            if above.message is None:
                tree_of[uuid] = above.top
            elif above.message in tree_of:
                tree_of[uuid] = tree_of[above.message]
        sizes = Counter(tree_of.values())
        return {uuid: tree for uuid, tree in tree_of.items() if sizes[tree] > 1}

    def _find_rivals(self) -> list[list[str]]:
        """Prompts that stand in each other's place, in file order."""
        places: dict[str, list[str]] = {}
        for uuid in self._prompts if len(self._prompts) > 1 else ():
            above = self._find_above(uuid)
            places.setdefault(above.message or above.top, []).append(uuid)
        return [prompts for prompts in places.values() if len(prompts) > 1]

    def _measure_branches(
        self, order: list[str], place: dict[str, int]
    ) -> tuple[list[int], list[int]]:
        """How many lines each line's branch has, itself included, and where the last one stands."""
        sizes, ends = [1] * len(order), list(range(len(order)))
        for index in range(len(order) - 1, 0, -1):
            parent = place.get(self._find_above(order[index]).message or "", index)
            if parent < index:
                sizes[parent] += sizes[index]
                ends[parent] = max(ends[parent], ends[index])
        return sizes, ends

    def _find_above(self, uuid: str) -> _Above:
        passed: dict[str, None] = {}
        above, top = self.lines.get(uuid), uuid
        while isinstance(above, str) and above in self._notes and above not in passed:
            if above in self._above_notes:
                found = self._above_notes[above]
                break
            passed[above] = None
            above, top = self._notes[above], above
        else:
            found = _Above(above if isinstance(above, str) else None, top)
        self._above_notes.update(dict.fromkeys(passed, found))
        return found

    def _line_of_descent(self, uuid: str | None) -> set[str]:
        found: set[str] = set()
        while uuid is not None and uuid not in found:
            found.add(uuid)
            uuid = self._find_above(uuid).message
        return found
