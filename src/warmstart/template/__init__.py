"""Templates as content: canonical bytes, checks, differences, a text to edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.template.bundle import encode_bundle, is_bundle, read_bundle
    from warmstart.template.canonical import (
        canonical_json,
        encode_canonical,
        hash_content,
        template_id,
        template_to_dict,
    )
    from warmstart.template.dataset import SESSION_TEXTS, list_tools, session_row, template_rows
    from warmstart.template.diff import (
        Change,
        ChangeKind,
        count_changes,
        diff_templates,
        is_taught,
    )
    from warmstart.template.editing import NEW_TEXT, TemplateTextError, format_text, parse_text
    from warmstart.template.errors import TemplateError, show_name
    from warmstart.template.names import (
        MAX_VERSION,
        NAME_PATTERN,
        Spec,
        check_name,
        make_name,
        parse_spec,
    )
    from warmstart.template.older import convert_older, find_shape
    from warmstart.template.parse import DEFAULT_LIMITS, Limits, parse_document
    from warmstart.template.schema import make_schema, read_template, template_from_dict
    from warmstart.template.texts import list_scanned, list_texts, rewrite_texts
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "bundle": ("encode_bundle", "is_bundle", "read_bundle"),
            "canonical": (
                "canonical_json", "encode_canonical", "hash_content", "template_id",
                "template_to_dict",
            ),
            "dataset": ("SESSION_TEXTS", "list_tools", "session_row", "template_rows"),
            "diff": ("Change", "ChangeKind", "count_changes", "diff_templates", "is_taught"),
            "editing": ("NEW_TEXT", "TemplateTextError", "format_text", "parse_text"),
            "errors": ("TemplateError", "show_name"),
            "names": (
                "MAX_VERSION", "NAME_PATTERN", "Spec", "check_name", "make_name", "parse_spec",
            ),
            "older": ("convert_older", "find_shape"),
            "parse": ("DEFAULT_LIMITS", "Limits", "parse_document"),
            "schema": ("make_schema", "read_template", "template_from_dict"),
            "texts": ("list_scanned", "list_texts", "rewrite_texts"),
        },
    )  # fmt: skip

__all__ = [
    "DEFAULT_LIMITS", "MAX_VERSION", "NAME_PATTERN", "NEW_TEXT", "SESSION_TEXTS", "Change",
    "ChangeKind", "Limits", "Spec", "TemplateError", "TemplateTextError", "canonical_json",
    "check_name", "convert_older", "count_changes", "diff_templates", "encode_bundle",
    "encode_canonical", "find_shape", "format_text", "hash_content", "is_bundle", "is_taught",
    "list_scanned", "list_texts", "list_tools", "make_name", "make_schema", "parse_document",
    "parse_spec", "parse_text", "read_bundle", "read_template", "rewrite_texts", "session_row",
    "show_name", "template_from_dict", "template_id", "template_rows", "template_to_dict",
]  # fmt: skip
