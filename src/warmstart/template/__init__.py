"""Templates as content: canonical bytes, checks, differences, a page to review. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.template.canonical import canonical_json, template_id, template_to_dict
    from warmstart.template.errors import TemplateError
    from warmstart.template.names import NAME_PATTERN, Spec, check_name, make_name, parse_spec
    from warmstart.template.parse import DEFAULT_LIMITS, Limits, parse_document
    from warmstart.template.validate import template_from_dict
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "canonical": ("canonical_json", "template_id", "template_to_dict"),
            "errors": ("TemplateError",),
            "names": ("NAME_PATTERN", "Spec", "check_name", "make_name", "parse_spec"),
            "parse": ("DEFAULT_LIMITS", "Limits", "parse_document"),
            "validate": ("template_from_dict",),
        },
    )

__all__ = [
    "DEFAULT_LIMITS",
    "NAME_PATTERN",
    "Limits",
    "Spec",
    "TemplateError",
    "canonical_json",
    "check_name",
    "make_name",
    "parse_document",
    "parse_spec",
    "template_from_dict",
    "template_id",
    "template_to_dict",
]
