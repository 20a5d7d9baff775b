"""How these agents work: the moves every task is made of, each with its slip and its repair.

The projects have conventions an agent cannot guess (`make test`, no `python`, pnpm). A new session
learns each by one failure and then keeps to it: errors come early, and the same ones in every
session. That is what a warm start is for, and what the samples must show.
"""

from __future__ import annotations

from samples import printouts
from samples.desk import Desk
from samples.steps import Call, Ending, Tool

TEST_COMMANDS = {
    "shop-api": "make test",
    "invoice-worker": "uv run pytest -q -p no:cacheprovider",
    "docs-site": "pnpm run build",
}

LOGS = {
    "shop-api": "b81f2c4 Handle empty carts\n0d77e1a Return errors as JSON\n93acd05 Add discounts",
    "invoice-worker": "41c09e7 Cap the backoff\n7be2210 Render in UTC\n15f3c6d Drop Python 3.10",
    "docs-site": "e0a1b52 Orders page\n6630f18 Configuration page\n2dc9a4e First pages",
}


def run_tests(desk: Desk, output: str = "", exit_code: int = 0) -> None:
    """Run the project's checks as its conventions want, after whatever slip comes first."""
    output = output or _green(desk)
    _slip_before_tests(desk)
    command = TEST_COMMANDS[desk.project]
    if exit_code and desk.slips("masked"):
        tail = "\n".join(output.splitlines()[-3:])
        desk.shell(f"{command} 2>&1 | tail -3", tail, text="Running the tests.")
        return
    desk.shell(command, output, exit_code, text=desk.pick("", "Running the checks.", ""))


def _green(desk: Desk) -> str:
    if desk.project == "docs-site":
        return printouts.BUILT
    count = 47 if desk.project == "shop-api" else 31
    return printouts.passed(count, desk.pick("3.18", "3.07", "2.96", "3.40"))


def _slip_before_tests(desk: Desk) -> None:
    project = desk.project
    if project == "docs-site":
        if desk.slips("npm"):
            desk.shell("npm run build", printouts.NPM_REFUSES, 1)
        return
    if desk.slips("python"):
        desk.shell("python -m pytest -q", printouts.NO_PYTHON, 127, "Let me run the tests first.")
    if project == "shop-api" and desk.slips("environment"):
        desk.shell("uv run pytest -q", printouts.no_database(), 4)
        desk.shell("grep -n DATABASE_URL Makefile", "2:export DATABASE_URL ?= postgresql://shop@…")
    if project == "invoice-worker" and desk.slips("cache"):
        desk.shell("uv run pytest -q", printouts.read_only_cache(), 3)
    if desk.slips("usage"):
        desk.shell("uv run pytest -q --fast", printouts.BAD_FLAG, 4)
    if desk.slips("timeout"):
        desk.do(_timed_out("uv run pytest -q tests/slow --durations=10"))


def _timed_out(command: str) -> Call:
    return Call(
        tool=Tool.SHELL, arguments={"command": command}, ending=Ending.TIMEOUT, exit_code=124
    )


def change(desk: Desk, path: str, old: str, new: str, text: str = "") -> None:
    """Edit a file; the slip is to misremember its text, the repair is to read it again."""
    if desk.slips("unread"):
        arguments = {"path": f"{desk.cwd}/{path}", "old": old, "new": new}
        desk.do(Call(tool=Tool.EDIT, arguments=arguments, ending=Ending.UNREAD))
        desk.read(path)
    elif desk.slips("mismatch"):
        desk.edit(path, misremember(desk, path, old), new, text)
        desk.read(path, "The text differs from what I expected, reading the lines again.")
        text = ""
    desk.edit(path, old, new, text)


def misremember(desk: Desk, path: str, old: str) -> str:
    """The old text as an agent gets it wrong: cut off by its reader, or retyped from memory."""
    first = old.splitlines()[0]
    variants = [old.replace('"', "'"), old.replace(" = ", "="), f"{old}  # noqa"]
    if desk.cuts_lines:
        variants.insert(0, f"{first[: len(first) * 2 // 3]}... [truncated]")
    return next(variant for variant in variants if variant not in desk.files[path])


def look(desk: Desk, path: str, guess: str = "", text: str = "") -> None:
    """Read a file; the slip is to guess where it is, the repair is to list what there is."""
    if guess and desk.slips("guess"):
        desk.read(guess, text)
        folder = path.rpartition("/")[0] or "."
        names = [name for name in desk.files if name.startswith(path.rpartition("/")[0])]
        desk.shell(f"ls {folder}", "\n".join(name.rpartition("/")[2] for name in names))
        text = ""
    desk.read(path, text)


def lint(desk: Desk, path: str, name: str) -> None:
    """Run the linter; the slip leaves an unused import behind."""
    command = "make lint" if desk.project == "shop-api" else "uv run ruff check src tests"
    if desk.slips("lint"):
        desk.shell(command, printouts.unused_import(path, name), 1)
        desk.shell("uv run ruff check --fix src tests", "Found 1 error (1 fixed, 0 remaining).")
    desk.shell(command, "All checks passed!")


def study(desk: Desk, word: str) -> None:
    """Find out what else touches the subject before changing it."""
    desk.shell("git log --oneline -3", LOGS[desk.project])
    desk.search(word, desk.pick("", "Who else uses this?", ""))
    other = [path for path, content in desk.files.items() if word in content][:1]
    if other:
        desk.do(*(desk.reading(path) for path in other))


def review(desk: Desk, path: str, old: str, new: str) -> None:
    """Look at the change once more before it is tested."""
    removed = "\n".join(f"-{line}" for line in old.splitlines())
    added = "\n".join(f"+{line}" for line in new.splitlines())
    desk.shell(
        f"git diff -U0 -- {path}", f"--- a/{path}\n+++ b/{path}\n@@ -18 +18 @@\n{removed}\n{added}"
    )


def commit(desk: Desk, branch: str, subject: str, files: int) -> None:
    """Commit what was done."""
    desk.shell("git diff --stat", f" {files} files changed, 14 insertions(+), 3 deletions(-)")
    sha = f"{sum(map(ord, subject)) * 7919 % 0xFFFFFFF:07x}"
    desk.shell(
        f'git add -A && git commit -qm "{subject}" && git log --oneline -1',
        printouts.committed(branch, sha, subject, files),
    )


def orient(desk: Desk) -> None:
    """Get an overview, several looks at once."""
    listing = "\n".join(desk.files)
    desk.do(
        desk.command("git status --short", ""),
        desk.command("git ls-files | head -40", listing),
        text=desk.pick("I'll get an overview first.", "Let me look around.", ""),
    )
