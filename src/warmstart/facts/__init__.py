"""Facts: sessions reduced to what every figure is computed from, and the index that keeps them.

``derive_facts`` is the meaning of every field; ``tables`` is how it is stored. A unit of a source
is read, judged, derived and written as rows of ``facts.db``; all of it can be rebuilt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.facts.code_digest import FACTS_CODE, digest_code
    from warmstart.facts.collector import gc_paused
    from warmstart.facts.derive import CUT, OPENING_CHARS, derive_facts, find_first_words
    from warmstart.facts.index import (
        BUSY_SECONDS,
        FILE,
        IndexDamagedError,
        IndexUnavailableError,
        ensure_source_set,
        move_aside,
        open_index,
    )
    from warmstart.facts.pool import MAX_WORKERS, can_fork, run_shares
    from warmstart.facts.reading import (
        count_sessions,
        find_duplicates,
        list_ids,
        list_rows,
        list_tools,
        load_facts,
        load_summaries,
        report_skips,
        split_chunks,
        stamp_chunk,
        write_summary,
    )
    from warmstart.facts.refresh import Index, Progress, Source, refresh_sources
    from warmstart.facts.writing import Mask
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "code_digest": ("FACTS_CODE", "digest_code"),
            "collector": ("gc_paused",),
            "derive": ("CUT", "OPENING_CHARS", "derive_facts", "find_first_words"),
            "index": (
                "BUSY_SECONDS", "FILE", "IndexDamagedError", "IndexUnavailableError",
                "ensure_source_set", "move_aside", "open_index",
            ),
            "pool": ("MAX_WORKERS", "can_fork", "run_shares"),
            "reading": (
                "count_sessions", "find_duplicates", "list_ids", "list_rows", "list_tools",
                "load_facts", "load_summaries", "report_skips", "split_chunks", "stamp_chunk",
                "write_summary",
            ),
            "refresh": ("Index", "Progress", "Source", "refresh_sources"),
            "writing": ("Mask",),
        },
    )  # fmt: skip

__all__ = [
    "BUSY_SECONDS", "CUT", "FACTS_CODE", "FILE", "MAX_WORKERS", "OPENING_CHARS", "Index",
    "IndexDamagedError", "IndexUnavailableError", "Mask", "Progress", "Source", "can_fork",
    "count_sessions", "derive_facts", "digest_code", "ensure_source_set", "find_duplicates",
    "find_first_words", "gc_paused", "list_ids", "list_rows", "list_tools", "load_facts",
    "load_summaries", "move_aside", "open_index", "refresh_sources", "report_skips", "run_shares",
    "split_chunks", "stamp_chunk", "write_summary",
]  # fmt: skip
