"""Every result worded once: a result becomes a Document, and four writers put it out.

``document`` has the blocks, ``text`` the one wording of each kind of number, ``plots`` drawings;
``terminal``, ``html``, ``markdown`` and ``json`` are the writers, ``progress`` the one bar; the
other modules turn one kind of result each into a document. Stages and ``app`` never import this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.present.compare import (
        compaction_document,
        comparison_document,
        comparison_fields,
    )
    from warmstart.present.doctor import (
        doctor_document,
        facts_document,
        facts_fields,
        formats_document,
        overview_document,
    )
    from warmstart.present.document import (
        Block,
        Callout,
        Column,
        Data,
        Details,
        Document,
        Excerpt,
        Facts,
        Figure,
        Figures,
        Heading,
        Inline,
        Listing,
        NextSteps,
        Plot,
        Span,
        Table,
        Text,
        Tone,
        list_more,
    )
    from warmstart.present.html import write_html
    from warmstart.present.json import list_skips, to_json, write_fields, write_json
    from warmstart.present.listing import describe_listing, list_document
    from warmstart.present.markdown import write_markdown
    from warmstart.present.profile import profile_document
    from warmstart.present.profile_session import session_profile_document
    from warmstart.present.progress import follow, show_progress
    from warmstart.present.session import SessionView, session_document
    from warmstart.present.terminal import find_width, open_console, print_table, write_document
    from warmstart.present.text import (
        amount,
        clean,
        count,
        cut,
        interval,
        iso_time,
        join_words,
        local_time,
        one_line,
        p_value,
        p_words,
        percent,
        plural,
        points,
        points_span,
        readable_duration,
        readable_size,
        replace_unseen,
        short_path,
        span,
        sparkline,
        times,
    )
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "compare": ("compaction_document", "comparison_document", "comparison_fields"),
            "doctor": (
                "doctor_document", "facts_document", "facts_fields", "formats_document",
                "overview_document",
            ),
            "document": (
                "Block", "Callout", "Column", "Data", "Details", "Document", "Excerpt", "Facts",
                "Figure", "Figures", "Heading", "Inline", "Listing", "NextSteps", "Plot", "Span",
                "Table", "Text", "Tone", "list_more",
            ),
            "html": ("write_html",),
            "json": ("list_skips", "to_json", "write_fields", "write_json"),
            "listing": ("describe_listing", "list_document"),
            "markdown": ("write_markdown",),
            "profile": ("profile_document",),
            "profile_session": ("session_profile_document",),
            "progress": ("follow", "show_progress"),
            "session": ("SessionView", "session_document"),
            "terminal": ("find_width", "open_console", "print_table", "write_document"),
            "text": (
                "amount", "clean", "count", "cut", "interval", "iso_time", "join_words",
                "local_time", "one_line", "p_value", "p_words", "percent", "plural", "points",
                "points_span", "readable_duration", "readable_size", "replace_unseen",
                "short_path", "span", "sparkline", "times",
            ),
        },
    )  # fmt: skip

__all__ = [
    "Block", "Callout", "Column", "Data", "Details", "Document", "Excerpt", "Facts", "Figure",
    "Figures", "Heading", "Inline", "Listing", "NextSteps", "Plot", "SessionView", "Span",
    "Table", "Text", "Tone", "amount", "clean", "compaction_document", "comparison_document",
    "comparison_fields", "count", "cut", "describe_listing", "doctor_document", "facts_document",
    "facts_fields", "find_width", "follow", "formats_document", "interval", "iso_time",
    "join_words", "list_document", "list_more", "list_skips", "local_time", "one_line",
    "open_console", "overview_document", "p_value", "p_words", "percent", "plural", "points",
    "points_span", "print_table", "profile_document", "readable_duration", "readable_size",
    "replace_unseen", "session_document", "session_profile_document", "short_path", "show_progress",
    "span", "sparkline", "times", "to_json", "write_document", "write_fields", "write_html",
    "write_json", "write_markdown",
]  # fmt: skip
