"""Every result worded once: a result becomes a Document, and four writers put it out.

``document`` has the blocks, ``text`` the one wording of each kind of number, ``plots`` drawings;
``terminal``, ``html``, ``markdown`` and ``json`` are the writers, ``progress`` the one bar. Stages
and ``app`` never import this package; surfaces build a document from a result and write it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
        Listing,
        NextSteps,
        Plot,
        Span,
        Table,
        Text,
        list_more,
    )
    from warmstart.present.html import write_html
    from warmstart.present.json import list_skips, to_json, write_json
    from warmstart.present.markdown import write_markdown
    from warmstart.present.progress import follow, show_progress
    from warmstart.present.terminal import open_console, print_table, write_document
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "document": (
                "Block",
                "Callout",
                "Column",
                "Data",
                "Details",
                "Document",
                "Excerpt",
                "Facts",
                "Figure",
                "Figures",
                "Heading",
                "Listing",
                "NextSteps",
                "Plot",
                "Span",
                "Table",
                "Text",
                "list_more",
            ),
            "html": ("write_html",),
            "json": ("list_skips", "to_json", "write_json"),
            "markdown": ("write_markdown",),
            "progress": ("follow", "show_progress"),
            "terminal": ("open_console", "print_table", "write_document"),
        },
    )

__all__ = [
    "Block",
    "Callout",
    "Column",
    "Data",
    "Details",
    "Document",
    "Excerpt",
    "Facts",
    "Figure",
    "Figures",
    "Heading",
    "Listing",
    "NextSteps",
    "Plot",
    "Span",
    "Table",
    "Text",
    "follow",
    "list_more",
    "list_skips",
    "open_console",
    "print_table",
    "show_progress",
    "to_json",
    "write_document",
    "write_html",
    "write_json",
    "write_markdown",
]
