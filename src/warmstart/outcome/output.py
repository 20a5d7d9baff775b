"""The ends of what a command printed: the only lines whose words say how it went."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_HEADER_OPENINGS = frozenset({"<out", "<ret", "Exit", "Chun", "Wall", "Proc"})
HEADER_LETTERS = frozenset("<ECWP")
"""First characters of what harnesses put above an output."""
_FOOTER_ENDINGS = (">", "]")
_CLOSING_TAG = "</output>"
_FOOTERS = ("<shellId: ", "[The command ", "[Command ")
_NEAR_LINES = 10


class Output:
    """First and last lines, with what harnesses put around a command's output peeled off."""

    __slots__ = ("_last", "final", "first", "head", "is_short", "tail")

    def __init__(self, head: str, tail: str) -> None:
        is_short = head is tail
        if head and head[0] in HEADER_LETTERS and head[:4] in _HEADER_OPENINGS:
            start = _header_length(head)
            head = head[start:]
            tail = tail[start:] if is_short else tail
        tail = tail.rstrip()
        if tail and tail[-1] in _FOOTER_ENDINGS:
            tail = _peel_footer(tail)
        if is_short:
            head = tail
        if "\x1b" in tail:
            tail = _COLOUR.sub("", tail)
            head = tail if is_short else _COLOUR.sub("", head)
        self.head = head
        self.tail = tail
        self.is_short = is_short
        """The windows hold the whole output."""
        self.final = tail.rpartition("\n")[2]
        """The last line."""
        self.first = head.lstrip("\r\n").partition("\n")[0]
        """The first line."""
        self._last: list[str] | None = None

    def last_lines(self) -> list[str]:
        """The last few lines that are not blank."""
        if self._last is None:
            lines = self.tail.splitlines()
            last = _drop_blank(lines[-_NEAR_LINES:])
            if len(last) < _NEAR_LINES < len(lines):
                last = _drop_blank(lines)[-_NEAR_LINES:]
            self._last = last
        return self._last

    def outer_lines(self) -> list[str]:
        """The last few lines and the first few that are not blank."""
        last = self.last_lines()
        if self.is_short and len(last) < _NEAR_LINES:
            return last  # these are all
        return [*last, *_drop_blank(self.head.splitlines())[:_NEAR_LINES]]

    def is_brief(self) -> bool:
        """The whole output is but a few lines."""
        return self.is_short and self.tail.count("\n") <= _NEAR_LINES


def _drop_blank(lines: list[str]) -> list[str]:
    return list(filter(str.strip, lines))


def _header_length(head: str) -> int:
    """How much of the head is a harness's own: an opening tag, or lines above ``Output:``."""
    if head.startswith(("<output>", "<returncode>")):
        return head.find("<output>") + len("<output>")
    if head.startswith("Exit code ") and "\n" in head:
        return head.find("\n") + 1
    if head.startswith(("Chunk ID:", "Wall time", "Process exited", "Exit code:")):
        return head.find("Output:\n") + len("Output:\n") if "Output:\n" in head else 0
    return 0


def _peel_footer(tail: str) -> str:
    """The tail without a closing tag or a line about the exit below the output."""
    if tail.endswith(_CLOSING_TAG):
        return tail[: -len(_CLOSING_TAG)].rstrip()
    line = tail.rfind("\n") + 1
    return tail[:line].rstrip() if tail.startswith(_FOOTERS, line) else tail
