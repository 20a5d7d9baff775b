"""The one file a template is shared as: its content, its hash, and what redaction took out.

The provenance is part of the content (counts of sessions and calls, agents, models); a bundle holds
no text of a session beyond the patterns themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from msgspec import field

from warmstart.model import Template
from warmstart.template.canonical import encode_canonical, template_id, template_to_dict
from warmstart.template.errors import TemplateError
from warmstart.template.schema import Counts, FilePart, Key, convert, template_from_dict

__all__ = ["Bundle", "encode_bundle", "is_bundle", "read_bundle"]

BUNDLE_FORMAT = "warmstart-template-bundle"
BUNDLE_VERSION = 1


class Bundle(NamedTuple):
    """A shared template as it was read."""

    template: Template
    sha256: str
    redactions: Mapping[str, int]
    """What was taken out when it was exported."""


class _Bundle(FilePart):
    format: Literal["warmstart-template-bundle"]
    format_version: Literal[1]
    sha256: Key
    template: dict[str, Any]
    redactions: Counts = field(default_factory=dict)


def encode_bundle(template: Template, redactions: Mapping[str, int]) -> bytes:
    """The bytes of the shared file; the same template gives the same bytes."""
    document = {
        "format": BUNDLE_FORMAT,
        "format_version": BUNDLE_VERSION,
        "sha256": template_id(template),
        "redactions": dict(redactions),
        "template": template_to_dict(template),
    }
    return encode_canonical(document) + b"\n"


def is_bundle(data: Any) -> bool:
    """Whether an object says that it is a bundle."""
    return isinstance(data, dict) and data.get("format") == BUNDLE_FORMAT


def read_bundle(data: Any) -> Bundle:
    """A bundle whose content is what its hash says.

    Raises:
        TemplateError: it is not a valid bundle, or the content was changed.
    """
    found: _Bundle = convert(data, _Bundle)
    template = template_from_dict(found.template)
    if template_id(template) != found.sha256:
        raise TemplateError(
            "the content is not what its sha256 says",
            field="sha256",
            hint="the file was changed or damaged on the way; ask for it again",
        )
    return Bundle(template, found.sha256, found.redactions)
