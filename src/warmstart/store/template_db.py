"""``TemplateDB``: templates and starts, the part of the store that choosing and starting need.

``SessionDB`` is one too. Opened by itself it loads nothing else of the store: people and hooks ask
for templates many times a day.
"""

from __future__ import annotations

from pathlib import Path

from warmstart.store import starts, templates
from warmstart.store.backend import OpenStore, Options
from warmstart.store.migrations import TEMPLATES_VERSION, check_version
from warmstart.store.opening import connect, find_location


class TemplateDB(OpenStore):
    """Rows about templates, and the sessions that were started with them."""

    in_one_write = templates.in_one_write
    put_template = templates.put_template
    list_template_rows = templates.list_template_rows
    list_approved = templates.list_approved
    find_template_row = templates.find_template_row
    set_current_template = templates.set_current_template
    set_template_state = templates.set_template_state
    delete_template_rows = templates.delete_template_rows
    list_template_records = templates.list_template_records
    record_verdict = templates.record_verdict
    list_verdicts = templates.list_verdicts
    list_verdict_notes = templates.list_verdict_notes

    record_start = starts.record_start
    get_start = starts.get_start
    find_start = starts.find_start
    list_starts = starts.list_starts
    settle_start = starts.settle_start


def open_template_db(location: Path | str) -> TemplateDB | None:
    """The store at a path or address, for reading; None if it is older than templates.

    Raises:
        StoreError: it cannot be read, or is newer than this warmstart.
    """
    backend = connect(find_location(location), Options(read_only=True))
    try:
        is_recent = check_version(backend) >= TEMPLATES_VERSION
    except BaseException:
        backend.close()
        raise
    if is_recent:
        return TemplateDB(backend)
    backend.close()
    return None
