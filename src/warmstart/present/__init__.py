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
        StyledText,
        Table,
        Text,
        Tone,
        list_more,
    )
    from warmstart.present.experiment import report_document
    from warmstart.present.experiments import (
        created_document,
        experiments_document,
        run_document,
        sizes_document,
        state_document,
    )
    from warmstart.present.gateway import (
        chats_document,
        describe_flush,
        flush_document,
        keys_document,
        moved_document,
    )
    from warmstart.present.html import write_html
    from warmstart.present.json import list_skips, to_json, write_fields, write_json
    from warmstart.present.listing import describe_listing, list_document
    from warmstart.present.markdown import write_markdown
    from warmstart.present.profile import profile_document
    from warmstart.present.profile_session import session_profile_document
    from warmstart.present.progress import follow, show_progress
    from warmstart.present.session import SessionView, session_document
    from warmstart.present.start import (
        describe_start,
        describe_sync,
        install_document,
        installed_document,
        launch_document,
        sync_document,
        warm_document,
    )
    from warmstart.present.store import (
        backup_document,
        checked_document,
        count_both,
        import_document,
        pruned_document,
        search_document,
    )
    from warmstart.present.template import (
        describe_trial,
        diff_document,
        review_document,
        trial_document,
    )
    from warmstart.present.template_build import (
        bootstrap_document,
        built_document,
        dataset_document,
        edited_document,
        exported_document,
        imported_document,
        validated_document,
        verified_document,
    )
    from warmstart.present.templates import (
        approved_document,
        deleted_document,
        describe_templates,
        retired_document,
        rolled_back_document,
        templates_document,
    )
    from warmstart.present.terminal import find_width, open_console, write_document
    from warmstart.present.text import (
        amount,
        clean,
        count,
        cut,
        interval,
        iso_time,
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
                "Figure", "Figures", "Heading", "Inline", "Listing", "NextSteps", "Plot",
                "StyledText", "Table", "Text", "Tone", "list_more",
            ),
            "experiment": ("report_document",),
            "experiments": (
                "created_document", "experiments_document", "run_document", "sizes_document",
                "state_document",
            ),
            "html": ("write_html",),
            "json": ("list_skips", "to_json", "write_fields", "write_json"),
            "listing": ("describe_listing", "list_document"),
            "markdown": ("write_markdown",),
            "profile": ("profile_document",),
            "profile_session": ("session_profile_document",),
            "progress": ("follow", "show_progress"),
            "session": ("SessionView", "session_document"),
            "template": ("describe_trial", "diff_document", "review_document", "trial_document"),
            "template_build": (
                "bootstrap_document", "built_document", "dataset_document", "edited_document",
                "exported_document", "imported_document", "validated_document", "verified_document",
            ),
            "templates": (
                "approved_document", "deleted_document", "describe_templates", "retired_document",
                "rolled_back_document", "templates_document",
            ),
            "start": (
                "describe_start", "describe_sync", "install_document", "installed_document",
                "launch_document", "sync_document", "warm_document",
            ),
            "store": (
                "backup_document", "checked_document", "count_both", "import_document",
                "pruned_document", "search_document",
            ),
            "gateway": (
                "chats_document", "describe_flush", "flush_document", "keys_document",
                "moved_document",
            ),
            "terminal": ("find_width", "open_console", "write_document"),
            "text": (
                "amount", "clean", "count", "cut", "interval", "iso_time", "local_time", "one_line",
                "p_value", "p_words", "percent", "plural", "points", "points_span",
                "readable_duration", "readable_size", "replace_unseen", "short_path", "span",
                "sparkline", "times",
            ),
        },
    )  # fmt: skip

__all__ = [
    "Block", "Callout", "Column", "Data", "Details", "Document", "Excerpt", "Facts", "Figure",
    "Figures", "Heading", "Inline", "Listing", "NextSteps", "Plot", "SessionView", "StyledText",
    "Table", "Text", "Tone", "amount", "approved_document", "backup_document", "bootstrap_document",
    "built_document", "chats_document", "checked_document", "clean", "compaction_document",
    "comparison_document", "comparison_fields", "count", "count_both", "created_document", "cut",
    "dataset_document", "deleted_document", "describe_flush", "describe_listing", "describe_start",
    "describe_sync", "describe_templates", "describe_trial", "diff_document", "doctor_document",
    "edited_document", "experiments_document", "exported_document", "facts_document",
    "facts_fields", "find_width", "flush_document", "follow", "formats_document", "import_document",
    "imported_document", "install_document", "installed_document", "interval", "iso_time",
    "keys_document", "launch_document", "list_document", "list_more", "list_skips", "local_time",
    "moved_document", "one_line", "open_console", "overview_document", "p_value", "p_words",
    "percent", "plural", "points", "points_span", "profile_document", "pruned_document",
    "readable_duration", "readable_size", "replace_unseen", "report_document", "retired_document",
    "review_document", "rolled_back_document", "run_document", "search_document",
    "session_document", "session_profile_document", "short_path", "show_progress", "sizes_document",
    "span", "sparkline", "state_document", "sync_document", "templates_document", "times",
    "to_json", "trial_document", "validated_document", "verified_document", "warm_document",
    "write_document", "write_fields", "write_html", "write_json", "write_markdown",
]  # fmt: skip
