"""What commands print, in the words of the real tools."""

from __future__ import annotations

DOTS = "." * 46


def passed(count: int = 47, seconds: str = "3.18") -> str:
    """A green pytest run."""
    return f"{DOTS[: min(count, 46)]}.  [100%]\n{count} passed in {seconds}s"


def failed(test: str, complaint: str, others: int = 46) -> str:
    """A red pytest run with one failing test."""
    name = test.rpartition("::")[2]
    path = test.partition("::")[0]
    return (
        f"{DOTS[:20]}F{DOTS[:25]}  [100%]\n"
        "=================================== FAILURES ===================================\n"
        f"________________________ {name} ________________________\n\n"
        f"    def {name}():\n{complaint}\n\n{path}:12: AssertionError\n"
        "=========================== short test summary info ============================\n"
        f"FAILED {test} - AssertionError\n1 failed, {others} passed in 3.42s"
    )


def no_database() -> str:
    """Tests of shop-api started without their environment."""
    return (
        "ImportError while loading conftest '/home/dev/shop-api/tests/conftest.py'.\n"
        "tests/conftest.py:9: in <module>\n"
        '    engine = create_engine(os.environ["DATABASE_URL"])\n'
        "<frozen os>:685: in __getitem__\n    ???\nE   KeyError: 'DATABASE_URL'"
    )


def read_only_cache() -> str:
    """Tests of invoice-worker in its read-only checkout."""
    return (
        'INTERNALERROR>   File "/usr/lib/python3.12/pathlib.py", line 1311, in mkdir\n'
        "INTERNALERROR>     os.mkdir(self, mode)\n"
        "INTERNALERROR> OSError: [Errno 30] Read-only file system: "
        "'/home/dev/invoice-worker/.pytest_cache'"
    )


def unused_import(path: str, name: str) -> str:
    """Ruff on an import nobody needs any more."""
    return (
        f"{path}:4:8: F401 [*] `{name}` imported but unused\n"
        "Found 1 error.\n[*] 1 fixable with the `--fix` option."
    )


def git_status(*paths: str) -> str:
    """Changed files, short form."""
    return "\n".join(f" M {path}" for path in paths) or "nothing to commit, working tree clean"


def committed(branch: str, sha: str, subject: str, files: int) -> str:
    """What git says after a commit."""
    plural = "s" if files > 1 else ""
    changed = f"{files} file{plural} changed, 14 insertions(+), 3 deletions(-)"
    return f"[{branch} {sha}] {subject}\n {changed}"


def explained(table: str, *, indexed: bool) -> str:
    """A query plan before or after the index."""
    if indexed:
        return (
            f"Index Scan using {table}_customer_id_idx on {table}  (cost=0.42..8.61 rows=11)\n"
            "Planning Time: 0.114 ms\nExecution Time: 0.213 ms"
        )
    return (
        f"Seq Scan on {table}  (cost=0.00..18411.00 rows=11 width=64)\n"
        "  Filter: (customer_id = 4711)\n  Rows Removed by Filter: 999989\n"
        "Planning Time: 0.108 ms\nExecution Time: 184.377 ms"
    )


def broken_link(page: str, target: str) -> str:
    """The link checker's complaint."""
    return f"checked 3 pages, 5 links\n{page}: broken link {target}\n1 broken link"


BUILT = (
    "\n  vitepress v1.4.1\n\n\x1b[32m✓\x1b[39m building client + server bundles...\n"
    "\x1b[32m✓\x1b[39m rendering pages...\nbuild complete in 4.02s."
)
"""With the colours a terminal would show; no viewer of ours may pass them on."""
LINKS_FINE = "checked 3 pages, 5 links\n0 errors"
MIGRATED = "INFO  [alembic.runtime.migration] Running upgrade 0007 -> 0008"
NPM_REFUSES = (
    "npm error code EBADDEVENGINES\nnpm error This project is configured to use pnpm\n"
    "npm error A complete log of this run can be found in: /home/dev/.npm/_logs/debug-0.log"
)
NO_PYTHON = "/bin/bash: line 1: python: command not found"
NO_PSQL = "/bin/bash: line 1: psql: command not found"
NOT_EXECUTABLE = "/bin/bash: line 1: ./scripts/reset.sh: Permission denied"
NOT_LISTENING = "curl: (7) Failed to connect to localhost port 8000 after 0 ms: Couldn't connect"
CONFLICT = (
    "Auto-merging src/shop/schemas.py\nCONFLICT (content): Merge conflict in src/shop/schemas.py\n"
    "error: could not apply 5c1d2aa... rename field\n"
    "hint: Resolve all conflicts manually, mark them as resolved"
)
BAD_FLAG = (
    "ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]\n"
    "pytest: error: unrecognized arguments: --fast\n  rootdir: /home/dev"
)
SECRETS = (
    "DATABASE_URL=postgresql://shop:not-a-real-password@localhost:5433/shop_dev\n"
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\n"
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"
    "SENTRY_ENVIRONMENT=dev"
)
"""The example credentials of AWS's own documentation; they open nothing."""
LEAKY_REMOTE = (
    "origin\thttps://dev:ghp_000000000000000000000000000000000000@github.com/acme/invoice-worker.git"
    " (fetch)"
)
"""A token of zeros; it opens nothing."""
