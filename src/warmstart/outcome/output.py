"""The ends of what a command printed: the only lines whose words say how it went."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CLOSING_TAGS = ("</output>",)
_FOOTERS = ("<shellId: ", "[The command ", "[Command ")
_NEAR_LINES = 10


class Output:
    """First and last lines, with what harnesses put around a command's output peeled off."""

    __slots__ = ("_last", "final", "first", "head", "is_short", "tail")

    def __init__(self, head: str, tail: str, *, is_short: bool) -> None:
        head, tail = _peel(head, tail, is_short=is_short)
        if "\x1b" in tail or "\x1b" in head:
            head, tail = _COLOUR.sub("", head), _COLOUR.sub("", tail)
        self.head = head
        self.tail = tail
        self.is_short = is_short
        """The windows hold the whole output."""
        stripped = tail.rstrip()
        self.final = stripped[stripped.rfind("\n") + 1 :]
        """The last line."""
        stripped = head.lstrip("\r\n")
        self.first = stripped.partition("\n")[0]
        """The first line."""
        self._last: list[str] | None = None

    @property
    def last_lines(self) -> list[str]:
        """The last few lines that are not blank."""
        if self._last is None:
            lines = [line for line in self.tail.splitlines() if line and not line.isspace()]
            self._last = lines[-_NEAR_LINES:]
        return self._last

    @property
    def first_lines(self) -> list[str]:
        """The first few lines that are not blank."""
        lines = [line for line in self.head.splitlines() if line and not line.isspace()]
        return lines[:_NEAR_LINES]

    @property
    def is_brief(self) -> bool:
        """The whole output is but a few lines."""
        return self.is_short and self.tail.count("\n") <= _NEAR_LINES


def _peel(head: str, tail: str, *, is_short: bool) -> tuple[str, str]:
    """Head and tail without a header above and a tag or footer below the output."""
    start = _header_length(head)
    if start:
        head = head[start:]
        tail = tail[start:] if is_short else tail
    end = _footer_start(tail)
    if end is not None:
        tail = tail[:end]
        head = head[:end] if is_short else head
    return head, tail


def _header_length(head: str) -> int:
    if head.startswith(("<output>", "<returncode>")):
        return head.find("<output>") + len("<output>")
    if head.startswith(("Chunk ID:", "Wall time", "Process exited", "Exit code:")):
        return head.find("Output:\n") + len("Output:\n") if "Output:\n" in head else 0
    return 0


def _footer_start(tail: str) -> int | None:
    end = tail.rstrip()
    if end.endswith(_CLOSING_TAGS):
        return len(end) - len(_CLOSING_TAGS[0])
    if end.endswith((">", "]")):
        line = end.rfind("\n") + 1
        return line if end.startswith(_FOOTERS, line) else None
    return None
