"""How a user writes, counted turn by turn; what style that amounts to is decided elsewhere."""

from __future__ import annotations

import re

from warmstart.model import UserStyleCounts
from warmstart.outcome import contains_any

LONG_WORDS = 60
SHORT_WORDS = 6
_HEAD_CHARS = 160
_IMPERATIVES = frozenset({
    "add", "adjust", "analyse", "analyze", "apply", "ask", "build", "bump", "call", "change",
    "check", "clean", "clone", "close", "commit", "compare", "configure", "convert", "copy",
    "create", "debug", "delete", "deploy", "describe", "disable", "do", "document", "download",
    "drop", "enable", "ensure", "execute", "explain", "export", "extend", "extract", "fetch",
    "find", "finish", "fix", "format", "generate", "get", "give", "go", "help", "implement",
    "import", "improve", "insert", "inspect", "install", "investigate", "keep", "launch", "let",
    "list", "load", "look", "make", "merge", "migrate", "move", "open", "optimise", "optimize",
    "print", "pull", "push", "put", "read", "rebase", "refactor", "release", "reload", "remove",
    "rename", "repeat", "replace", "report", "reproduce", "research", "restart", "retry", "return",
    "revert", "review", "rewrite", "run", "save", "search", "send", "set", "show", "simplify",
    "solve", "sort", "split", "start", "stop", "summarise", "summarize", "switch", "tell", "test",
    "trace", "translate", "try", "turn", "undo", "update", "upgrade", "use", "verify", "wait",
    "write",
})  # fmt: skip
_OPENERS = frozenset({"please", "now", "then", "ok", "okay", "so", "and", "just", "also", "pls"})
"""Words that may stand before the verb of a command."""
_CORRECTION = re.compile(
    r"(?:no|nope|wrong|incorrect|stop|undo|revert|still (?:not|fail|broken|wrong|the same))\b"
    r"|(?:that|this|it)(?:'s| is| was)? (?:not|n't|wrong|incorrect|broken|still)\b"
    r"|(?:that|this|it) (?:doesn't|does not|didn't|did not|isn't|won't)\b"
    r"|you (?:forgot|missed|broke|misunderstood|didn't|did not|were not|weren't|should have)\b"
    r"|(?:not what|i (?:said|meant|asked|told you)|i didn't ask|don't|do not)\b"
    r"|actually,? (?:no|don't|it|that|i)\b"
)
_POLITE = re.compile(r"\b(?:please|pls|thanks|thank you|thx|cheers|appreciate|kindly)\b")
_POLITE_STEMS = ("please", "pls", "thank", "thx", "cheers", "appreciate", "kindly")
"""Nearly all turns hold none of them, which takes a quarter of the time to find out."""
_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?=\s|\Z)")


class UserStyleCounter:
    """Collects a user's own turns."""

    __slots__ = (
        "commands", "corrections", "long", "messages", "polite", "questions", "short", "words",
    )  # fmt: skip

    def __init__(self) -> None:
        self.messages = self.words = self.questions = self.commands = 0
        self.corrections = self.long = self.short = self.polite = 0

    def add(self, text: str) -> None:
        """One turn."""
        words = text.split()
        number = len(words)
        self.messages += 1
        self.words += number
        if number >= LONG_WORDS:
            self.long += 1
        elif number <= SHORT_WORDS:
            self.short += 1
        if not number:
            return
        self._add_manner(text, words)

    def _add_manner(self, text: str, words: list[str]) -> None:
        lower = text.lower()
        head = lower[:_HEAD_CHARS].lstrip()
        if "?" in text:
            self.questions += 1
        if _is_command(head, words):
            self.commands += 1
        if _CORRECTION.match(head.lstrip("\"'*.,! ")):
            self.corrections += 1
        if contains_any(lower, _POLITE_STEMS) and _POLITE.search(lower):
            self.polite += 1

    def finish(self) -> UserStyleCounts:
        """The counts."""
        return UserStyleCounts(
            self.messages,
            self.words,
            self.questions,
            self.commands,
            self.corrections,
            self.long,
            self.short,
            self.polite,
        )


def _is_command(head: str, words: list[str]) -> bool:
    """Whether a turn begins with an imperative verb or a slash command."""
    if head[:1] == "/":
        return _SLASH_COMMAND.match(head) is not None
    for word in words[:3]:
        plain = word.lower().strip(",.:;!\"'*`")
        if plain in _IMPERATIVES:
            return True
        if plain not in _OPENERS:
            return False
    return False
