"""Complete actions: each opens what it needs, computes, saves, records and returns one result.

``Workspace`` (in ``core``) knows the home and every session store around it; the actions take it as
their first argument. Surfaces call ``app.approve_template(…)`` and the like; names are loaded when
they are first used, so that a light command stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmstart.app.core import Workspace

if TYPE_CHECKING:
    from warmstart.app.bootstrap import Bootstrap, Bootstrapped, bootstrap_template
    from warmstart.app.mining import (
        BuildResult,
        build_from_session,
        build_proposals,
        build_template,
    )
    from warmstart.app.sharing import (
        ImportedFile,
        ValidatedFile,
        export_template,
        import_templates,
        make_dataset,
        validate_files,
        verify_library,
    )
    from warmstart.app.start import (
        StartRequest,
        TemplateTrial,
        WarmConfig,
        WarmStart,
        load_config,
        prepare_start,
        try_template,
    )
    from warmstart.app.starts import find_start
    from warmstart.app.templates import (
        EditResult,
        EditText,
        Review,
        TemplatePage,
        approve_template,
        begin_text,
        check_review,
        delete_template,
        diff_versions,
        keep_text,
        list_deleted,
        list_templates,
        list_versions,
        open_library,
        retire_template,
        review_template,
        roll_back,
        save_text,
        show_template,
    )
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "bootstrap": ("Bootstrap", "Bootstrapped", "bootstrap_template"),
            "mining": ("BuildResult", "build_from_session", "build_proposals", "build_template"),
            "sharing": (
                "ImportedFile",
                "ValidatedFile",
                "export_template",
                "import_templates",
                "make_dataset",
                "validate_files",
                "verify_library",
            ),
            "start": (
                "StartRequest",
                "TemplateTrial",
                "WarmConfig",
                "WarmStart",
                "load_config",
                "prepare_start",
                "try_template",
            ),
            "starts": ("find_start",),
            "templates": (
                "EditResult",
                "EditText",
                "Review",
                "TemplatePage",
                "approve_template",
                "begin_text",
                "check_review",
                "delete_template",
                "diff_versions",
                "keep_text",
                "list_deleted",
                "list_templates",
                "list_versions",
                "open_library",
                "retire_template",
                "review_template",
                "roll_back",
                "save_text",
                "show_template",
            ),
        },
    )

__all__ = [
    "Bootstrap",
    "Bootstrapped",
    "BuildResult",
    "EditResult",
    "EditText",
    "ImportedFile",
    "Review",
    "StartRequest",
    "TemplatePage",
    "TemplateTrial",
    "ValidatedFile",
    "WarmConfig",
    "WarmStart",
    "Workspace",
    "approve_template",
    "begin_text",
    "bootstrap_template",
    "build_from_session",
    "build_proposals",
    "build_template",
    "check_review",
    "delete_template",
    "diff_versions",
    "export_template",
    "find_start",
    "import_templates",
    "keep_text",
    "list_deleted",
    "list_templates",
    "list_versions",
    "load_config",
    "make_dataset",
    "open_library",
    "prepare_start",
    "retire_template",
    "review_template",
    "roll_back",
    "save_text",
    "show_template",
    "try_template",
    "validate_files",
    "verify_library",
]
