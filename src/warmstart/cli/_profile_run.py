"""Runs ``warmstart profile``: reads, profiles, and hands over to the printers.

JSON is one object: ``schema_version``, ``profile`` (every figure under its own name, see
docs/profile.md), and ``skipped``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from warmstart.app import Workspace
from warmstart.app.profiling import load_settings, profile_corpus, write_page
from warmstart.app.redaction import open_redactor, redact_texts
from warmstart.cli._output import list_skips, note, open_console, print_json, report_skips
from warmstart.cli._profile_about import (
    describe_filters,
    find_period,
    find_short_ids,
    span_days,
    today,
)
from warmstart.cli._profile_corpus import print_corpus
from warmstart.cli._profile_progress import show_progress
from warmstart.cli._profile_session import print_session_profile
from warmstart.facts import derive_facts
from warmstart.model import Selection
from warmstart.profile.corpus import parse_buckets
from warmstart.profile.document import to_document
from warmstart.profile.page import build_corpus_page
from warmstart.profile.page_parts import About
from warmstart.profile.page_session import build_session_page, list_judged
from warmstart.profile.rules import Rules
from warmstart.profile.session import profile_facts
from warmstart.sources import ReadLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

SCHEMA_VERSION = 1
_Profile = TypeVar("_Profile")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where a profile goes."""

    as_json: bool
    quiet: bool
    page: Path | None
    force: bool


def run_corpus(
    workspace: Workspace, selection: Selection, rules: Rules, buckets: str | None, output: Output
) -> None:
    """Profile everything selected."""
    edges = parse_buckets(load_settings(workspace, {"buckets": buckets}).buckets)
    log = ReadLog()
    with show_progress(quiet=output.quiet) as on_progress:
        profile = profile_corpus(
            workspace, selection, log, rules=rules, edges=edges, on_progress=on_progress
        )
    ids = {}
    if output.page is not None or not output.as_json:
        ids = find_short_ids(workspace, selection, profile)
    if output.page is not None:
        about = About(
            made=today(),
            period=find_period(workspace, selection),
            filters=_redact(workspace, describe_filters(selection), pii=True),
            ids=ids,
        )
        page = build_corpus_page(_redact(workspace, profile, pii=True), about)
        write_page(workspace, output.page, page, overwrite=output.force)
    _print(_redact(workspace, profile), partial(print_corpus, ids=ids), log, output)
    if not profile.totals.get("sessions"):
        note("no sessions found; see: warmstart doctor, or try: warmstart demo", quiet=output.quiet)


def run_session(
    workspace: Workspace, wanted: str, selection: Selection, rules: Rules, output: Output
) -> None:
    """Profile one session."""
    log = ReadLog()
    facts = derive_facts(workspace.get_session(wanted, selection, log))
    profile = profile_facts(facts, rules)
    if output.page is not None:
        calls = _redact(workspace, list_judged(facts, rules), pii=True)
        about = About(made=today(), period=span_days([facts]))
        page = build_session_page(_redact(workspace, profile, pii=True), calls, about)
        write_page(workspace, output.page, page, overwrite=output.force)
    _print(_redact(workspace, profile), print_session_profile, log, output)


def _redact(workspace: Workspace, profile: _Profile, *, pii: bool = False) -> _Profile:
    """The profile without a secret in its titles, names and markers.

    A page is made to be sent: with ``pii`` no home folder or user name is in it either.
    """
    redacted: _Profile = redact_texts(profile, open_redactor(workspace, pii=pii))
    return redacted


def _print(
    profile: Any, printer: Callable[[Console, Any], None], log: ReadLog, output: Output
) -> None:
    if output.as_json:
        print_json(
            {
                "schema_version": SCHEMA_VERSION,
                "profile": to_document(profile),
                "skipped": list_skips(log),
            }
        )
    else:
        printer(open_console(), profile)
    report_skips(log, quiet=output.quiet)
    if output.page is not None:
        note(f"written: {output.page}", quiet=output.quiet)
