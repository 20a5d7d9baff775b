"""What the commands answer about a fixed set of sessions, kept so that a rebuild can be held to it.

    python scripts/golden.py [--into DIR] [--sessions DIR]      write the answers
    python scripts/golden.py --check [--into DIR] [--sessions DIR]  compare; exit 1 with a diff

Without ``--sessions`` these are the samples and ``tests/golden``, which ``make test`` checks.
With a folder of your own (a corpus, a home) and a folder to write into, the same cases are kept for
that: write them before a change, compare them after it. Only commands are used, never the package's
insides, so the answers outlive any move of the code. To change one on purpose, write the answers
again and read the diff.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from warmstart.cli.main import cli
from warmstart.samples import samples_path

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
FORMS = ("text", "markdown", "openai", "responses", "anthropic", "gemini", "claude-hook",
         "claude-session", "codex-rollout", "hermes-prefill", "hermes-rows")  # fmt: skip
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?|\b\d{10}\.\d+\b")
DAY_SECONDS = 86_400
MAX_DIFF_LINES = 20


class Case(NamedTuple):
    """One command and the file its answer is kept in."""

    name: str
    words: tuple[str, ...]


def list_cases(sessions: str, ids: list[str]) -> Iterator[Case]:
    """Every answer that is kept; later ones use the template that an earlier one builds."""
    yield Case("list.json", ("sessions", "list", sessions, "--all", "--json"))
    yield Case("profile.json", ("profile", sessions, "--json"))
    yield Case("profile.txt", ("profile", sessions))
    yield Case("compaction.json", ("profile", "compaction", "--all", sessions, "--json"))
    for number, one in enumerate(ids):
        yield Case(f"session{number}.json", ("sessions", "show", one, sessions, "--json"))
        yield Case(f"session{number}-calls.txt", ("sessions", "show", one, sessions, "--calls"))
        yield Case(f"session{number}-profile.json", ("profile", one, sessions, "--json"))
    for form in ("openai", "anthropic", "warmstart"):
        words = ("sessions", "export", "--as", form, sessions, "--max-messages", "20")
        yield Case(f"export-{form}.jsonl", words)
    yield Case("compare.json", ("compare", *ids[:2], sessions, "--json"))
    build = ("template", "build", sessions, "--name", "golden", "--min-messages", "8", "--json")
    yield Case("template-build.json", build)
    yield Case("template-approve.txt", ("template", "approve", "golden@1", "--yes"))
    yield Case("template.json", ("template", "show", "golden@1", "--json"))
    yield Case("template.txt", ("template", "show", "golden@1", "--full"))
    warm = ("warm", "--template", "golden@1", "--cwd", os.sep, "--seed", "golden",
            "Add a test for the new route.")  # fmt: skip
    for form in FORMS:
        yield Case(f"warm-{form}.txt", (*warm, "--as", form, "--session-id", "0" * 32))


def pick_ids(answer: str) -> list[str]:
    """The longest session of each format."""
    longest: dict[str, dict[str, Any]] = {}
    for row in json.loads(answer)["sessions"]:
        before = longest.get(row["origin"])
        if before is None or (row["calls"], row["id"]) > (before["calls"], before["id"]):
            longest[row["origin"]] = row
    return [longest[source]["id"] for source in sorted(longest)]


def collect(sessions: Path) -> dict[str, str]:
    """The answer to every case, in a fresh home."""
    answers: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "home"
        environ = {"WARMSTART_HOME": str(home), "HOME": name, "TZ": "UTC", "COLUMNS": "100",
                   "NO_COLOR": "1"}  # fmt: skip
        with chdir(name):
            listed = _run(("sessions", "list", str(sessions), "--all", "--json"), environ)
            for case in list_cases(str(sessions), pick_ids(listed)):
                answer = _run(case.words, environ)
                for path, sign in ((str(sessions), "SESSIONS"), (name, "HOME")):
                    answer = answer.replace(path, sign)
                answers[case.name] = _spread(case.name, _hide_now(answer))
    return answers


def _hide_now(answer: str) -> str:
    """The answer without the moment at which it was given; what lies further back stays."""
    now = datetime.now(UTC)
    recent = {f"{now - timedelta(days=days):%Y-%m-%d}" for days in (0, 1)}

    def hide(match: re.Match[str]) -> str:
        text = match.group()
        if "-" in text:
            return "NOW" if text[:10] in recent else text
        return "0.0" if abs(float(text) - now.timestamp()) < DAY_SECONDS else text

    return MOMENT.sub(hide, answer)


def _run(words: tuple[str, ...], environ: dict[str, str]) -> str:
    result = CliRunner().invoke(cli, list(words), env=environ)
    if result.exit_code:
        return f"exit {result.exit_code}\n{result.output}\n{result.exception!r}"
    return result.stdout


def _spread(name: str, answer: str) -> str:
    """JSON over many lines, so that a diff shows the field."""
    if name.endswith(".json") and answer.startswith("{"):
        return json.dumps(json.loads(answer), indent=1, ensure_ascii=False) + "\n"
    return answer


def compare(folder: Path, answers: dict[str, str]) -> list[str]:
    """The lines of a diff, shortened; empty where every answer is as it was."""
    found: list[str] = []
    for name in sorted({path.name for path in folder.iterdir()} | set(answers)):
        path = folder / name
        before = path.read_text("utf-8").splitlines() if path.exists() else []
        after = answers.get(name, "").splitlines()
        if before != after:
            lines = list(difflib.unified_diff(before, after, f"{name} kept", f"{name} now", n=1))
            found += [line.rstrip("\n")[:200] for line in lines[:MAX_DIFF_LINES]]
    return found


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=Path, default=samples_path())
    parser.add_argument("--into", type=Path, default=GOLDEN)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    answers = collect(options.sessions.resolve())
    if options.check:
        different = compare(options.into, answers)
        print("\n".join(different) or f"{len(answers)} answers as they were")
        return int(bool(different))
    shutil.rmtree(options.into, ignore_errors=True)
    options.into.mkdir(parents=True)
    for name, answer in answers.items():
        (options.into / name).write_text(answer, "utf-8")
    print(f"{len(answers)} answers in {options.into}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
