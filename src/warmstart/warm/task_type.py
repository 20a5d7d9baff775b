"""What kind of work a message asks for, guessed from its words.

The kinds are those a template can have (``code``, ``file``, ``research``, ``terminal``,
``browser``); a message that does not say is of the kind the user's sessions mostly were, else
``mixed``, which fits and misfits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from warmstart.warm.bm25 import list_terms

MIXED = "mixed"
CLUES = {
    "code": "bug function class method refactor implement compile typescript python javascript"
    " rust golang script algorithm exception traceback type lint query sql notebook calculate",
    "file": "file folder directory rename edit write read replace document readme config yaml"
    " json csv markdown line paragraph section",
    "research": "research search find paper article compare summarize summarise latest news source"
    " investigate information documentation web explain",
    "terminal": "run install build deploy server docker container kubernetes service log disk"
    " process command shell bash git branch commit test ci package upgrade restart",
    "browser": "browser click page website login form screenshot tab navigate scroll button url"
    " checkout booking",
}
MIN_LEAD = 1
"""How many more clues the first kind must have than the second."""
_KINDS_BY_TERM: dict[str, set[str]] = {}
for _kind, _words in CLUES.items():
    for _term in list_terms(_words):
        _KINDS_BY_TERM.setdefault(_term, set()).add(_kind)


def guess_task_type(message: str, history: Mapping[str, int] | None = None) -> str:
    """The kind of work, from the message, else from how many past sessions were of each kind."""
    votes = dict.fromkeys(CLUES, 0)
    for term in dict.fromkeys(list_terms(message)):
        for kind in _KINDS_BY_TERM.get(term, ()):
            votes[kind] += 1
    ranked = sorted(votes, key=lambda kind: -votes[kind])
    if votes[ranked[0]] >= votes[ranked[1]] + MIN_LEAD:
        return ranked[0]
    known = {kind: count for kind, count in (history or {}).items() if kind in CLUES}
    total = sum((history or {}).values())
    usual = max(sorted(known), key=known.__getitem__, default=MIXED)
    return usual if known and known[usual] * 2 > total else MIXED


__all__ = ["CLUES", "MIXED", "guess_task_type"]
