"""Foreign session stores, read-only: every format people have, as one model.

Nothing outside this package knows a format; nothing inside it writes. Other packages, and readers
that others write, use the names listed here and no module below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.sources.assemble import build_session, join_calls
    from warmstart.sources.fields import (
        ANTHROPIC_USAGE,
        as_bool,
        as_float,
        as_int,
        as_list,
        as_text,
        parse_time,
        parse_tokens,
    )
    from warmstart.sources.files import read_json, read_json_lines
    from warmstart.sources.log import ReadLog, Skip
    from warmstart.sources.probe import probe_path
    from warmstart.sources.reader import FileReader, OpenSource, Probe, Reader, Unit, file_unit
    from warmstart.sources.registry import READERS, find_reader, get_reader
    from warmstart.sources.scan import (
        FoundUnit,
        UnitReader,
        carry_on,
        choose_reader,
        find_units,
        read_sessions,
        read_unit,
    )
    from warmstart.sources.sqlite import DatabaseReader, is_database, open_database
    from warmstart.sources.sqlite_guard import GuardedConnection
    from warmstart.sources.stores import Machine, Store, find_stores, list_places, list_units
    from warmstart.sources.survey import Expiry, StoreReport, survey_store
    from warmstart.wire import as_dict, as_dicts, as_id, content_text, make_request, parse_arguments
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "assemble": ("build_session", "join_calls"),
            "fields": (
                "ANTHROPIC_USAGE", "as_bool", "as_float", "as_int", "as_list", "as_text",
                "parse_time", "parse_tokens",
            ),
            "files": ("read_json", "read_json_lines"),
            "log": ("ReadLog", "Skip"),
            "probe": ("probe_path",),
            "reader": ("FileReader", "OpenSource", "Probe", "Reader", "Unit", "file_unit"),
            "registry": ("READERS", "find_reader", "get_reader"),
            "scan": (
                "FoundUnit", "UnitReader", "carry_on", "choose_reader", "find_units",
                "read_sessions", "read_unit",
            ),
            "sqlite": ("DatabaseReader", "is_database", "open_database"),
            "sqlite_guard": ("GuardedConnection",),
            "stores": ("Machine", "Store", "find_stores", "list_places", "list_units"),
            "survey": ("Expiry", "StoreReport", "survey_store"),
            "warmstart.wire": (
                "as_dict", "as_dicts", "as_id", "content_text", "make_request", "parse_arguments",
            ),
        },
    )  # fmt: skip

__all__ = [
    "ANTHROPIC_USAGE", "READERS", "DatabaseReader", "Expiry", "FileReader", "FoundUnit",
    "GuardedConnection", "Machine", "OpenSource", "Probe", "ReadLog", "Reader", "Skip", "Store",
    "StoreReport", "Unit", "UnitReader", "as_bool", "as_dict", "as_dicts", "as_float", "as_id",
    "as_int", "as_list", "as_text", "build_session", "carry_on", "choose_reader", "content_text",
    "file_unit", "find_reader", "find_stores", "find_units", "get_reader", "is_database",
    "join_calls", "list_places", "list_units", "make_request", "open_database", "parse_arguments",
    "parse_time", "parse_tokens", "probe_path", "read_json", "read_json_lines", "read_sessions",
    "read_unit", "survey_store",
]  # fmt: skip
