"""How the lines of a Claude Code conversation follow each other, and which ways were left.

Every line names its parent, so a conversation is a tree. Most of its forks are harmless: results
of parallel calls hang beside the line that leads on. Only one kind is a rewind: the user goes
back and speaks again where they had spoken before. What must stay true: when in doubt, it counts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

_UNSEEN = object()


class Chain:
    """The tree of one conversation."""

    def __init__(self) -> None:
        self.lines: dict[str, Any] = {}
        """Message lines in file order: ``uuid`` to its parent's."""
        self._notes: dict[str, Any] = {}
        """The same for the lines between them that carry no message."""
        self._prompts: dict[str | None, list[str]] = {}
        """Lines in which the user speaks, by the message they follow."""

    def add_line(self, uuid: str | None, parent: Any) -> bool:
        """Chain a message line; False where the file already had this very line."""
        if uuid is not None:
            if self.lines.get(uuid, _UNSEEN) == parent:
                return False
            self.lines[uuid] = parent
        return True

    def add_note(self, uuid: str | None, parent: Any) -> None:
        """Chain a line that carries no message."""
        if uuid is not None:
            self._notes[uuid] = parent

    def add_prompt(self, uuid: str | None) -> None:
        """Remember that in this line the user speaks, and nothing else is in it."""
        if uuid is not None:
            self._prompts.setdefault(self._message_above(uuid), []).append(uuid)

    def find_abandoned(self) -> set[str]:
        """The lines that the user left by going back to an earlier prompt."""
        gone: set[str] = set()
        rivals = [prompts for prompts in self._prompts.items() if len(prompts[1]) > 1]
        if not rivals:
            return gone
        order = list(self.lines)
        place = {uuid: index for index, uuid in enumerate(order)}
        live = self._line_of_descent(order[-1])
        for anchor, prompts in rivals:
            if prompts[-1] in live:
                for start, end in pairwise(prompts):
                    branch = self._branch(order[place[start] :], place[end] - place[start])
                    # Without a parent in common there must at least be a branch to leave.
                    if anchor is not None or len(branch) > 1:
                        gone |= branch
        return gone

    def _message_above(self, uuid: str) -> str | None:
        """The message that a line follows, notes between them passed over."""
        above = self.lines.get(uuid)
        seen = {uuid}
        while isinstance(above, str):
            if above in seen or above not in self._notes:
                return above
            seen.add(above)
            above = self._notes[above]
        return None

    def _line_of_descent(self, uuid: str | None) -> set[str]:
        found: set[str] = set()
        while uuid is not None and uuid not in found:
            found.add(uuid)
            uuid = self._message_above(uuid)
        return found

    def _branch(self, order: list[str], length: int) -> set[str]:
        """The first ``length`` lines, if they all descend from the first and nothing later does.

        A side line that is still being written to is no rewind: two processes may have resumed
        the same session.
        """
        branch = {order[0]} if length > 0 else set()
        for place, uuid in enumerate(order[1:], 1):
            descends = self._message_above(uuid) in branch
            if descends is not (place < length):
                return set()
            if descends:
                branch.add(uuid)
        return branch
