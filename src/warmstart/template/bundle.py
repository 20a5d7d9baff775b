"""The one file a template is shared as: its content, its hash, and what redaction did.

The provenance is part of the content (counts of sessions and calls, agents, models); no word of a
session is in a bundle beyond the patterns themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from warmstart.model import Template
from warmstart.template.canonical import encode_canonical, template_id, template_to_dict
from warmstart.template.checks import Counts, Fixed, Record, Text
from warmstart.template.errors import TemplateError
from warmstart.template.parse import DEFAULT_LIMITS, Limits
from warmstart.template.validate import TEMPLATE, template_from_dict

BUNDLE_FORMAT = "warmstart-template-bundle"
BUNDLE_VERSION = 1


class Bundle(NamedTuple):
    """A shared template as it was read."""

    template: Template
    sha256: str
    redactions: Mapping[str, int]
    """What was taken out when it was exported."""


_BUNDLE = Record(
    dict,
    {
        "format": Fixed(BUNDLE_FORMAT),
        "format_version": Fixed(BUNDLE_VERSION),
        "sha256": Text("label"),
        "template": TEMPLATE,
    },
    {"redactions": Counts()},
)


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
    """Whether an object says it is a bundle."""
    return isinstance(data, dict) and data.get("format") == BUNDLE_FORMAT


def read_bundle(data: Any, limits: Limits = DEFAULT_LIMITS) -> Bundle:
    """A bundle whose content is what its hash says.

    Raises:
        TemplateError: it is no valid bundle, or the content was changed.
    """
    found: dict[str, Any] = _BUNDLE.read(data, "", limits)
    template = template_from_dict(data["template"], limits)
    if template_id(template) != found["sha256"]:
        raise TemplateError(
            "the content is not what its sha256 says",
            field="sha256",
            hint="the file was changed or damaged on the way; ask for it again",
        )
    return Bundle(template, found["sha256"], found.get("redactions", {}))
