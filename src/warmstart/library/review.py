"""What stands between a template and an agent: redaction, the scan for orders, and approval.

Redaction and the scan run on every field. Redaction fails closed: where it cannot run there is an
error and no template. Flags are searched each time by today's rules and joined with those found
when the template was built. Every surface that sends a template's text somewhere asks
``require_approved``: a draft passes only where the caller asked for unreviewed text, and that is
reported; quarantined and retired versions never pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from warmstart.errors import UsageError
from warmstart.library.versions import StoredTemplate, TemplateVersion, list_review_steps
from warmstart.model import TemplateState, map_texts
from warmstart.template import TemplateError, list_scanned, rewrite_texts

if TYPE_CHECKING:
    from warmstart.model import Template
    from warmstart.redact import Redactor

__all__ = [
    "RedactedTemplate",
    "UnapprovedError",
    "check_approvable",
    "describe_unreviewed",
    "find_flags",
    "list_evidence",
    "redact_for_others",
    "redact_from_others",
    "require_approved",
]

MAX_PLACE = 120
MAX_KINDS = 5


class RedactedTemplate(NamedTuple):
    """A template after redaction."""

    template: Template
    redactions: Mapping[str, int]
    """Kinds of secret found this time, and how many of each."""


class UnapprovedError(UsageError):
    """A template that may not be used; ``spec`` and ``state`` name the version and its state."""

    def __init__(self, info: TemplateVersion, problem: str, *, hint: str) -> None:
        super().__init__(f"the template {info.spec} {problem}", hint=hint)
        self.spec = info.spec
        self.state = info.state


def redact_for_others(template: Template, redactor: Redactor) -> RedactedTemplate:
    """The template without anything that ``redactor`` knows of this user.

    Raises:
        RedactionError: redaction cannot run.
        TemplateError: the template's own name holds a secret.
    """
    from warmstart.redact import strip_hidden  # noqa: PLC0415 - not for every command

    def clean(text: str) -> str:
        # Hidden characters go first, so that nothing can hide from redaction behind them.
        return redactor.text(strip_hidden(text))

    def clean_arguments(value: Mapping[str, Any]) -> Any:
        return redactor.value(map_texts(value, strip_hidden))

    if redactor.text(template.name) != template.name:
        raise TemplateError("its name holds a secret or a person's name", field="name")
    cleaned = rewrite_texts(template, clean, clean_arguments)
    return RedactedTemplate(cleaned, dict(redactor.found))


def redact_from_others(template: Template) -> RedactedTemplate:
    """The template as it is imported; the same on every machine, so that its id is too."""
    from warmstart.redact import Redactor  # noqa: PLC0415 - its tables are not for every command

    return redact_for_others(template, Redactor(pii=True))


def find_flags(template: Template) -> tuple[str, ...]:
    """Every place that reads like an order to an agent, with the kind of rule; sorted."""
    from warmstart.redact import find_instructions  # noqa: PLC0415 - as above

    found = set(template.provenance.flags)
    for where, text in list_scanned(template):
        for kind in find_instructions(text):
            found.add(f"{where[:MAX_PLACE]}: {kind}")
    return tuple(sorted(found))


def list_evidence(template: Template) -> tuple[str, ...]:
    """Every flag followed by the words it was found by, for the person who decides.

    Flags that are stored and listed name a place and a kind only: hostile words belong on the page
    a person reads before approving, and nowhere else.
    """
    from warmstart.redact import find_orders  # noqa: PLC0415 - as above

    words = {
        f"{where[:MAX_PLACE]}: {kind}": evidence
        for where, text in list_scanned(template)
        for kind, evidence in find_orders(text)
    }
    return tuple(
        f"{flag}: {words[flag]}" if words.get(flag) else flag for flag in find_flags(template)
    )


def check_approvable(stored: StoredTemplate, *, despite_flags: bool) -> tuple[str, ...]:
    """The flags of a version that may be approved.

    Raises:
        TemplateError: it has flags, and ``despite_flags`` is not set.
    """
    flags = find_flags(stored.template)
    if flags and not despite_flags:
        spec = stored.info.spec
        raise TemplateError(
            f"text that reads like instructions is in it ({len(flags)} places)",
            field=spec,
            hint=f"read it: warmstart template show {spec}; then approve it with --despite-flags",
        )
    return flags


def require_approved(
    stored: StoredTemplate, *, unreviewed: bool = False, way: str = ""
) -> StoredTemplate:
    """The template, if it may be used.

    Args:
        stored: the version that is about to be used.
        unreviewed: whether a draft will do.
        way: the option that allows drafts here, as ``--unreviewed``; empty where there is none.

    Raises:
        UnapprovedError: it is not approved.
    """
    info = stored.info
    is_draft = info.state is TemplateState.DRAFT
    if info.state is TemplateState.APPROVED or (unreviewed and is_draft):
        return stored
    if is_draft:
        problem = "a draft that nobody has reviewed"
    else:
        problem = f"{info.state}{f': {info.reason}' if info.reason else ''}"
    steps = list_review_steps(info.spec)
    hint = f"a person reads it and approves it: {steps[0]}; {steps[1]}"
    if way and is_draft:
        hint += f"; to use it unread: {way}"
    raise UnapprovedError(info, f"is {problem}{_name_flags(stored)}", hint=hint)


def describe_unreviewed(stored: StoredTemplate) -> str:
    """The sentence to print when a draft is used because unreviewed text was asked for."""
    return f"{stored.info.spec} is a draft that nobody has reviewed{_name_flags(stored)}"


def _name_flags(stored: StoredTemplate) -> str:
    """The kinds of flags; the words are only on the page that a person reads."""
    kinds = sorted({flag.rpartition(": ")[2] for flag in find_flags(stored.template)})
    if not kinds:
        return ""
    more = ", …" if len(kinds) > MAX_KINDS else ""
    return f", flagged for {', '.join(kinds[:MAX_KINDS])}{more}"
