"""Templates on disk and in the store: versions, states, review, sharing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.library.files import read_regular
    from warmstart.library.library import TEMPLATES_FOLDER, Library
    from warmstart.library.review import (
        UnapprovedError,
        check_approvable,
        describe_unreviewed,
        find_flags,
        list_evidence,
        redact_for_others,
        require_approved,
    )
    from warmstart.library.sharing import (
        ExportReport,
        ImportReport,
        IncomingTemplate,
        Signature,
        read_incoming,
    )
    from warmstart.library.versions import (
        Retired,
        Saved,
        StoredTemplate,
        TemplateProblem,
        TemplateVersion,
        UseRecord,
        list_review_steps,
    )
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "files": ("read_regular",),
            "library": ("TEMPLATES_FOLDER", "Library"),
            "review": (
                "UnapprovedError", "check_approvable", "describe_unreviewed", "find_flags",
                "list_evidence", "redact_for_others", "require_approved",
            ),
            "sharing": (
                "ExportReport", "ImportReport", "IncomingTemplate", "Signature", "read_incoming",
            ),
            "versions": (
                "TemplateProblem", "Retired", "Saved", "StoredTemplate", "TemplateVersion",
                "UseRecord", "list_review_steps",
            ),
        },
    )  # fmt: skip

__all__ = [
    "TEMPLATES_FOLDER", "ExportReport", "ImportReport", "IncomingTemplate", "Library", "Retired",
    "Saved", "Signature", "StoredTemplate", "TemplateProblem", "TemplateVersion", "UnapprovedError",
    "UseRecord", "check_approvable", "describe_unreviewed", "find_flags", "list_evidence",
    "list_review_steps", "read_incoming", "read_regular", "redact_for_others", "require_approved",
]  # fmt: skip
