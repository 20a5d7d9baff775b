"""Sentences by which a harness says that the call was never, or not fully, carried out.

They stand at the very start of a result, and are written by the harness, so an opening decides.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from warmstart.model import Status


class Refusal(NamedTuple):
    """A recognised refusal."""

    status: Status
    name: str
    reason: str


_REFUSALS = {
    "cascade": Refusal(Status.CANCELLED, "cascade", "another call of the same batch failed first"),
    "rejected": Refusal(Status.REJECTED, "user_rejected", "the user said no"),
    "blocked": Refusal(Status.REJECTED, "policy_rejected", "a policy or hook said no"),
    "interrupted": Refusal(Status.CANCELLED, "user_interrupted", "the user interrupted"),
}
_OPENING = re.compile(
    r"""[\W_]* (?=[abceioprstu]) (?:tool_use_error>|error:\ )?
    (?: (?P<cascade> sibling\ tool\ call\ errored | cancelled:\ parallel\ tool\ call )
      | (?P<rejected>
          (?:the\ )?user\ (?:doesn't\ want|does\ not\ want|rejected|denied|declined|dismissed
            |refused)
        | tool\ (?:use|call|execution)\ (?:was\ )?(?:rejected|denied|declined)
        | (?:exec|exec_command|command|patch|tool|operation)\b[^\n]{0,60}?
            \ (?:rejected|denied)\ by\ (?:the\ )?user )
      | (?P<blocked>
          permission\ to\ use\ [^\n]{0,250}?\ (?:has\ been|was)\ denied
        | blocked:\ | rejected:\ blocked\ by\ policy | permission\ denied\ and\ could\ not\ request
        | (?:pre|post)tooluse:\w+\ hook\ (?:blocking\ )?error
        | (?:command\ )?rejected\ by\ user\ approval
        | this\ command\ requires\ approval\b(?!\ \w) )
      | (?P<interrupted>
          (?:exit\ code\ \d+\s+\W*)? request\ interrupted\ by\ user | operation\ cancelled\b
        | tool\ execution\ (?:was\ )?(?:cancelled|interrupted|aborted) | operation\ interrupted
        | (?:command\ )?aborted\ by\ user | interrupted\ by\ user | cancelled\ by\ user
        | the\ user\ (?:cancelled|interrupted|aborted) )
    )""",
    re.VERBOSE,
)
"""Matched against lower-case text: that is twice as fast as ignoring case."""


REFUSAL_WORDS = frozenset({
    "tool_use_error", "error", "sibling", "cancelled", "the user", "user", "tool", "exec",
    "exec_command", "command", "patch", "operation", "permission", "blocked", "rejected",
    "pretooluse", "posttooluse", "request", "exit", "aborted", "interrupted", "this",
})  # fmt: skip
"""First words of the sentences above, for callers that know the first word already."""


def find_refusal(head: str) -> Refusal | None:
    """The refusal a result begins with, if it does."""
    found = _OPENING.match(head.lower())
    return _REFUSALS[found.lastgroup] if found and found.lastgroup else None
