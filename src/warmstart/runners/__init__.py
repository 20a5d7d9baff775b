"""Carrying out the trials of an experiment: endpoints, commands, and sessions already recorded.

The only code of an experiment that talks to a network, starts processes or writes files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.runners.command import CommandWorker, check_command
    from warmstart.runners.endpoint import Endpoint
    from warmstart.runners.observed import (
        SessionCounts,
        SessionLabel,
        observe_counts,
        observe_session,
        parse_labels,
    )
    from warmstart.runners.pool import EndpointWorker, FinishedTrial, Pool, Work, hash_setup
    from warmstart.runners.records import (
        RunLock,
        TrialFile,
        TrialRecord,
        count_unreadable,
        find_trials,
        format_trial,
        read_trials,
        store_trial,
    )
    from warmstart.runners.tools import builtin_tools
    from warmstart.runners.transport import EndpointError, EndpointFailure
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "command": ("CommandWorker", "check_command"),
            "endpoint": ("Endpoint",),
            "observed": (
                "SessionCounts", "SessionLabel", "observe_counts", "observe_session",
                "parse_labels",
            ),
            "pool": ("EndpointWorker", "FinishedTrial", "Pool", "Work", "hash_setup"),
            "records": (
                "RunLock", "TrialFile", "TrialRecord", "count_unreadable", "find_trials",
                "format_trial", "read_trials", "store_trial",
            ),
            "tools": ("builtin_tools",),
            "transport": ("EndpointError", "EndpointFailure"),
        },
    )  # fmt: skip

__all__ = [
    "CommandWorker", "Endpoint", "EndpointError", "EndpointFailure", "EndpointWorker",
    "FinishedTrial", "Pool", "RunLock", "SessionCounts", "SessionLabel", "TrialFile", "TrialRecord",
    "Work", "builtin_tools", "check_command", "count_unreadable", "find_trials", "format_trial",
    "hash_setup", "observe_counts", "observe_session", "parse_labels", "read_trials", "store_trial",
]  # fmt: skip
