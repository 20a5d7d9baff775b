"""Templates as content: canonical bytes, checks, differences, a page to review. Pure."""

from warmstart.template.canonical import canonical_json, template_id, template_to_dict
from warmstart.template.errors import TemplateError
from warmstart.template.names import NAME_PATTERN, Spec, check_name, make_name, parse_spec
from warmstart.template.parse import DEFAULT_LIMITS, Limits, parse_document
from warmstart.template.validate import template_from_dict

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
