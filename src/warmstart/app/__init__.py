"""Complete actions: each opens what it needs, computes, saves, records and returns one result.

``Workspace`` (in ``core``) knows the home and every session store around it; the actions take it as
their first argument. Surfaces call ``app.approve_template(…)`` and the like; names are loaded when
they are first used, so that a light command stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.app.ablation import (
        Ablation,
        AblationRequest,
        Arms,
        plan_ablation,
        plan_compaction,
    )
    from warmstart.app.bootstrap import Bootstrap, Bootstrapped, bootstrap_template
    from warmstart.app.checks import judge_success
    from warmstart.app.compare import CompareResult, compare_sides
    from warmstart.app.config import load_section
    from warmstart.app.core import Workspace, open_workspace
    from warmstart.app.doctor import DoctorResult, check_stores, list_formats
    from warmstart.app.experiment_runs import RunOptions, RunResult, run_experiment
    from warmstart.app.experiment_sizes import SizingRequest, SizingResult, size_experiment
    from warmstart.app.experiment_verdicts import report_experiment
    from warmstart.app.experiments import (
        FOLDER,
        PLAN_FILE,
        Experiment,
        ExperimentState,
        NewExperiment,
        create_experiment,
        export_trials,
        list_experiments,
        read_state,
        with_control,
    )
    from warmstart.app.facts import FactsStatus, index_path, read_status, refresh_facts
    from warmstart.app.gateway import (
        ChatSession,
        FlushRound,
        GatewayLocation,
        list_chats,
        reset_chat,
        switch_chat,
        watch_chats,
    )
    from warmstart.app.holdout import read_holdout, write_holdout
    from warmstart.app.mining import (
        BuildResult,
        build_from_session,
        build_proposals,
        build_template,
    )
    from warmstart.app.profiles import (
        CompactionRequest,
        CompactionResult,
        JudgedCall,
        ProfileResult,
        SessionResult,
        check_compaction,
        load_rules,
        profile,
        profile_session,
        share_profile,
    )
    from warmstart.app.redaction import open_redactor
    from warmstart.app.sessions import (
        CallTally,
        ListedSession,
        SessionList,
        ShownSession,
        export_sessions,
        list_sessions,
        share_texts,
        show_session,
    )
    from warmstart.app.sharing import (
        ImportedFile,
        ValidatedFile,
        VerifyResult,
        export_template,
        import_templates,
        make_dataset,
        validate_files,
        verify_library,
    )
    from warmstart.app.starts import StartOutcome, find_start, hash_message, settle_start
    from warmstart.app.store import StoreCheck, check_store
    from warmstart.app.syncing import Synced, SyncReport, SyncResult, find_first_start, sync_starts
    from warmstart.app.templates import (
        Approval,
        EditResult,
        EditText,
        Review,
        TemplateDiff,
        TemplatePage,
        approve_template,
        begin_text,
        check_review,
        delete_template,
        diff_versions,
        find_for_model,
        keep_text,
        list_deleted,
        list_templates,
        list_versions,
        open_library,
        retire_template,
        review_template,
        roll_back,
        save_text,
    )
    from warmstart.app.warm_start import (
        AUTO,
        StartRequest,
        TemplateTrial,
        WarmConfig,
        WarmStart,
        decide_start,
        load_config,
        prepare_start,
        start,
        try_template,
    )
    from warmstart.experiment import (
        MARGINS,
        Design,
        Direction,
        Metric,
        Runner,
        RunnerKind,
        StoppingRule,
        parse_arms,
    )
    from warmstart.library import ImportReport, Library, Saved, TemplateVersion, UnapprovedError
    from warmstart.mine import BuildRequest, MiningRules
    from warmstart.outcome import judge
    from warmstart.profile import Comparison, ToolRules
    from warmstart.redact import MAX_CHARACTERS, RedactionError, Redactor, redact
    from warmstart.sources import (
        READERS,
        FoundUnit,
        ReadLog,
        Unit,
        get_reader,
        open_database,
        read_unit,
    )
    from warmstart.store import Backup, Damage, RecordedStart, RepairResult, Start, VerifyReport
    from warmstart.template import (
        Change,
        TemplateError,
        canonical_json,
        count_changes,
        make_name,
        parse_spec,
        template_to_dict,
    )
    from warmstart.warm import (
        DEFAULT_HOLDOUT,
        READY,
        Ranked,
        Rendered,
        Target,
        TemplateChoice,
        is_warm,
        list_messages,
    )
    from warmstart.wire import (
        CODECS,
        Body,
        Codec,
        Prompt,
        count_leading,
        encode_json,
        insert_before,
    )
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "warmstart.experiment": (
                "Design", "Direction", "MARGINS", "Metric", "Runner", "RunnerKind", "StoppingRule",
                "parse_arms",
            ),
            "warmstart.library": (
                "ImportReport", "Library", "Saved", "TemplateVersion", "UnapprovedError",
            ),
            "warmstart.mine": ("BuildRequest", "MiningRules"),
            "warmstart.outcome": ("judge",),
            "warmstart.profile": ("Comparison", "ToolRules"),
            "warmstart.redact": ("MAX_CHARACTERS", "RedactionError", "Redactor", "redact"),
            "warmstart.sources": (
                "FoundUnit", "READERS", "ReadLog", "Unit", "get_reader", "open_database",
                "read_unit",
            ),
            "warmstart.store": (
                "Backup", "Damage", "RecordedStart", "RepairResult", "Start", "VerifyReport",
            ),
            "warmstart.template": (
                "Change", "TemplateError", "canonical_json", "count_changes", "make_name",
                "parse_spec", "template_to_dict",
            ),
            "warmstart.warm": (
                "DEFAULT_HOLDOUT", "READY", "Ranked", "Rendered", "Target", "TemplateChoice",
                "is_warm", "list_messages",
            ),
            "warmstart.wire": (
                "Body", "CODECS", "Codec", "Prompt", "count_leading", "encode_json",
                "insert_before",
            ),
            "ablation": ("Ablation", "Arms", "AblationRequest", "plan_ablation", "plan_compaction"),
            "bootstrap": ("Bootstrap", "Bootstrapped", "bootstrap_template"),
            "checks": ("judge_success",),
            "compare": ("CompareResult", "compare_sides"),
            "config": ("load_section",),
            "core": ("Workspace", "open_workspace"),
            "doctor": ("DoctorResult", "check_stores", "list_formats"),
            "experiment_runs": ("RunOptions", "RunResult", "run_experiment"),
            "experiment_sizes": ("SizingRequest", "SizingResult", "size_experiment"),
            "experiment_verdicts": ("report_experiment",),
            "experiments": (
                "Experiment", "ExperimentState", "FOLDER", "NewExperiment", "PLAN_FILE",
                "create_experiment", "export_trials", "list_experiments", "read_state",
                "with_control",
            ),
            "facts": ("FactsStatus", "index_path", "read_status", "refresh_facts"),
            "gateway": (
                "ChatSession", "FlushRound", "GatewayLocation", "list_chats", "reset_chat",
                "switch_chat", "watch_chats",
            ),
            "holdout": ("read_holdout", "write_holdout"),
            "mining": ("BuildResult", "build_from_session", "build_proposals", "build_template"),
            "profiles": (
                "CompactionRequest", "CompactionResult", "JudgedCall", "ProfileResult",
                "SessionResult", "check_compaction", "load_rules", "profile", "profile_session",
                "share_profile",
            ),
            "redaction": ("open_redactor",),
            "sessions": (
                "CallTally", "ListedSession", "SessionList", "ShownSession", "export_sessions",
                "list_sessions", "share_texts", "show_session",
            ),
            "sharing": (
                "VerifyResult", "ImportedFile", "ValidatedFile", "export_template",
                "import_templates", "make_dataset", "validate_files", "verify_library",
            ),
            "starts": ("StartOutcome", "find_start", "hash_message", "settle_start"),
            "store": ("StoreCheck", "check_store"),
            "syncing": ("SyncResult", "SyncReport", "Synced", "find_first_start", "sync_starts"),
            "templates": (
                "Approval", "TemplateDiff", "EditResult", "EditText", "Review", "TemplatePage",
                "approve_template", "begin_text", "check_review", "delete_template",
                "diff_versions", "find_for_model", "keep_text", "list_deleted", "list_templates",
                "list_versions", "open_library", "retire_template", "review_template", "roll_back",
                "save_text",
            ),
            "warm_start": (
                "AUTO", "StartRequest", "TemplateTrial", "WarmConfig", "WarmStart", "decide_start",
                "load_config", "prepare_start", "start", "try_template",
            ),
        },
    )  # fmt: skip

__all__ = [
    "AUTO", "CODECS", "DEFAULT_HOLDOUT", "FOLDER", "MARGINS", "MAX_CHARACTERS", "PLAN_FILE",
    "READERS", "READY", "Ablation", "AblationRequest", "Approval", "Arms", "Backup", "Body",
    "Bootstrap", "Bootstrapped", "BuildRequest", "BuildResult", "CallTally", "Change",
    "ChatSession", "Codec", "CompactionRequest", "CompactionResult", "CompareResult", "Comparison",
    "Damage", "Design", "Direction", "DoctorResult", "EditResult", "EditText", "Experiment",
    "ExperimentState", "FactsStatus", "FlushRound", "FoundUnit", "GatewayLocation", "ImportReport",
    "ImportedFile", "JudgedCall", "Library", "ListedSession", "Metric", "MiningRules",
    "NewExperiment", "ProfileResult", "Prompt", "Ranked", "ReadLog", "RecordedStart",
    "RedactionError", "Redactor", "Rendered", "RepairResult", "Review", "RunOptions", "RunResult",
    "Runner", "RunnerKind", "Saved", "SessionList", "SessionResult", "ShownSession",
    "SizingRequest", "SizingResult", "Start", "StartOutcome", "StartRequest", "StoppingRule",
    "StoreCheck", "SyncReport", "SyncResult", "Synced", "Target", "TemplateChoice", "TemplateDiff",
    "TemplateError", "TemplatePage", "TemplateTrial", "TemplateVersion", "ToolRules",
    "UnapprovedError", "Unit", "ValidatedFile", "VerifyReport", "VerifyResult", "WarmConfig",
    "WarmStart", "Workspace", "approve_template", "begin_text", "bootstrap_template",
    "build_from_session", "build_proposals", "build_template", "canonical_json", "check_compaction",
    "check_review", "check_store", "check_stores", "compare_sides", "count_changes",
    "count_leading", "create_experiment", "decide_start", "delete_template", "diff_versions",
    "encode_json", "export_sessions", "export_template", "export_trials", "find_first_start",
    "find_for_model", "find_start", "get_reader", "hash_message", "import_templates", "index_path",
    "insert_before", "is_warm", "judge", "judge_success", "keep_text", "list_chats", "list_deleted",
    "list_experiments", "list_formats", "list_messages", "list_sessions", "list_templates",
    "list_versions", "load_config", "load_rules", "load_section", "make_dataset", "make_name",
    "open_database", "open_library", "open_redactor", "open_workspace", "parse_arms", "parse_spec",
    "plan_ablation", "plan_compaction", "prepare_start", "profile", "profile_session",
    "read_holdout", "read_state", "read_status", "read_unit", "redact", "refresh_facts",
    "report_experiment", "reset_chat", "retire_template", "review_template", "roll_back",
    "run_experiment", "save_text", "settle_start", "share_profile", "share_texts", "show_session",
    "size_experiment", "start", "switch_chat", "sync_starts", "template_to_dict", "try_template",
    "validate_files", "verify_library", "watch_chats", "with_control", "write_holdout",
]  # fmt: skip
