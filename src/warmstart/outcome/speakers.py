"""Whose words a command's output holds, and so which rules on complaints may speak of them.

What ``cat`` prints is somebody else's text; what the shell says above it is about the call.
"""

from __future__ import annotations

from warmstart.outcome.case import Case

_PRINTERS = frozenset({
    "cat", "head", "tail", "sed", "awk", "gawk", "less", "more", "nl", "grep", "egrep", "fgrep",
    "rg", "ag", "find", "ls", "tree", "wc", "sort", "uniq", "cut", "jq", "strings", "echo",
    "printf", "journalctl", "xxd", "env", "base64", "column", "diff", "cd", "pwd", "true", "tee",
    "xargs",
})  # fmt: skip
"""Programs whose output is content: it may hold any words at all."""
_FETCHERS = frozenset({
    "curl", "wget", "gh", "git show", "git log", "git diff", "git blame", "git grep",
    "git status", "git branch", "git ls-files", "docker logs", "kubectl logs",
})  # fmt: skip
"""Programs that print content too, but open with a complaint of their own when they fail."""
_BY_SHELL = frozenset({"shell_refuses", "shell_complains"})
_BY_FETCHERS = frozenset({"opens_with_error", "checks_fail"})
_IF_CAUGHT = {
    "except": frozenset({"ends_in_exception", "closes_with_error", "opens_with_error"}),
    "traceback": frozenset({"ends_in_traceback"}),
}
"""An inline script that catches its errors prints them as results; these rules then keep silent."""


def may_speak(rule: str, case: Case) -> bool:
    """Whether a rule counts, by the programs whose words may end the output."""
    line = case.line
    if not line or rule in _BY_SHELL:
        return True
    for word, rules in _IF_CAUGHT.items():
        if rule in rules and word in line:
            return False
    speakers = case.command().speakers
    if not speakers:
        return True
    return not only_fetch(speakers) if rule not in _BY_FETCHERS else not _only_print(speakers)


def _only_print(speakers: tuple[str, ...]) -> bool:
    return _PRINTERS.issuperset(speakers)


def only_fetch(speakers: tuple[str, ...]) -> bool:
    """Whether all print content, of their own or from elsewhere."""
    for name in speakers:
        if name not in _PRINTERS and name not in _FETCHERS and name[:3] != "gh ":
            return False
    return True
