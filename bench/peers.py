"""The same histories through other tools and through warmstart: first index, repeat, memory.

    python bench/peers.py [FOLDER] [--sessions N] [--rounds N] [--cache DIR] [--json] [--check]

FOLDER holds Claude Code's ``projects``; without one, histories are generated from the sample
sessions: every session as often as is needed for N of them (300), under ids of its own, with its
turns repeated until it is about as long as real ones are.

Each tool is installed from its registry (PyPI, npm) into an environment of its own below the cache
folder and left there for the next run; one that cannot be installed or started is reported and
skipped. Every run is a fresh process with a home of its own; for "first" the home is new, "repeat"
is the same command once more. The sides alternate, and the best of the rounds counts. Times are of
the process and of all it waited for; memory is that of the largest of them.

The tools do different jobs (a database to browse, a table of costs, pages of HTML, and here an
outcome for every call and a profile): what is compared is what a user waits for after installing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from platformdirs import user_cache_path
from rich.console import Console
from rich.table import Table

from torture import ID, rename_ids
from warmstart.samples import samples_path

SECONDS = 600
SESSION_BYTES = 100_000
"""What a generated session is filled up to; real ones are longer, and take their time here."""
QUICK_SECONDS = 0.5
"""CPU of a repeat that nobody waits for, most of it the start of Python."""


class Tool(NamedTuple):
    """Another program: where it comes from, and how it reads a folder of histories."""

    name: str
    registry: str
    packages: tuple[str, ...]
    """Tried in this order; the first that can be started is used."""
    command: tuple[str, ...]
    """``{projects}`` and ``{home}`` are filled in."""
    environ: dict[str, str]


TOOLS = (
    Tool("agentsview", "PyPI", ("agentsview",), ("agentsview", "sync"),
         {"AGENTSVIEW_NO_DAEMON": "1"}),
    Tool("ccusage", "npm", ("ccusage", "ccusage@18"), ("ccusage", "session", "--json", "--offline"),
         {}),
    Tool("claude-code-log", "PyPI", ("claude-code-log",),
         ("claude-code-log", "--all-projects", "--projects-dir", "{projects}", "--output",
          "{home}/pages"), {}),
)  # fmt: skip
OURS = "warmstart"
OWN = {OURS: ("sessions", "list", "--limit", "0"), "warmstart profile": ("profile",)}
"""Indexing and listing is what the others do as well; the profile comes on top."""


class Figures(NamedTuple):
    """What one run took."""

    wall: float
    cpu: float
    megabytes: float


class Missing(NamedTuple):
    """A tool that was skipped, and why."""

    name: str
    why: str


# -- the histories


def generate(folder: Path, sessions: int) -> Path:
    """Histories as Claude Code keeps them, made from the samples."""
    bases = sorted((samples_path() / "claude_code" / "projects").glob("*/*.jsonl"))
    for number in range(sessions):
        base = bases[number % len(bases)]
        target = folder / "projects" / base.parent.name
        target.mkdir(parents=True, exist_ok=True)
        name = rename_ids(base.stem, number)
        (target / f"{name}.jsonl").write_bytes(b"".join(lengthen(base, number)))
    return folder / "projects"


def lengthen(base: Path, number: int) -> Iterator[bytes]:
    """A session's lines over and over, each time hung onto the last and with ids of its own."""
    text = base.read_text("utf-8")
    session_id = rename_ids(base.stem, number)
    written, turn, last = 0, 0, None
    while written < SESSION_BYTES:
        for line in text.splitlines():
            # The session keeps its id; messages and calls get new ones each time round.
            row = json.loads(ID.sub(lambda m: _rename(m.group(), base.stem, number, turn), line))  # noqa: B023 - used at once
            if "uuid" in row:
                row["parentUuid"] = row.get("parentUuid") or last
                last = row["uuid"]
            if "sessionId" in row:
                row["sessionId"] = session_id
            data = orjson.dumps(row) + b"\n"
            written += len(data)
            yield data
        turn += 1


def _rename(found: str, stem: str, number: int, turn: int) -> str:
    return rename_ids(found, number if found == stem else f"{number} {turn}")


# -- installing


def install(tool: Tool, cache: Path) -> Path | Missing:
    """The tool's command, or why there is none."""
    why = ""
    for package in tool.packages:
        folder = cache / package.replace("@", "-")
        maker = _install_with_pip if tool.registry == "PyPI" else _install_with_npm
        command = maker(package, folder, tool.command[0])
        if isinstance(command, str):
            why = command
            continue
        done = run_quietly([str(command), "--version"])
        if done is not None and done.returncode == 0:
            return command
        why = (done.stderr or done.stdout).strip()[:200] if done else f"{package} cannot be started"
    return Missing(tool.name, why)


def _install_with_pip(package: str, folder: Path, program: str) -> Path | str:
    bin_folder = folder / ("Scripts" if os.name == "nt" else "bin")
    if not (bin_folder / program).exists():
        run_quietly([sys.executable, "-m", "venv", str(folder)])
        pip = [str(bin_folder / "python"), "-m", "pip", "install", "--quiet"]
        done = run_quietly([*pip, "--disable-pip-version-check", package])
        if done is None or done.returncode:
            return f"pip could not install {package}"
    return bin_folder / program


def _install_with_npm(package: str, folder: Path, program: str) -> Path | str:
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not on the PATH"
    command = folder / "node_modules" / ".bin" / program
    if not command.exists():
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        done = run_quietly([npm, "install", "--prefix", str(folder), *quiet, package])
        if done is None or done.returncode:
            return f"npm could not install {package}"
    return command


def run_quietly(words: list[str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None


def read_version(command: Path) -> str:
    done = run_quietly([str(command), "--version"])
    lines = done.stdout.split() if done else []
    return next((word.strip("(),") for word in lines if any(c.isdigit() for c in word)), "?")


# -- measuring


def measure(words: list[str], environ: dict[str, str]) -> Figures:
    """Run a command to its end.

    Raises:
        RuntimeError: it failed.
    """
    with tempfile.TemporaryFile() as output:
        started = time.monotonic()
        process = subprocess.Popen(words, env=environ, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            last = output.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            raise RuntimeError(f"exit code {process.returncode}: {''.join(last)[:200]}")
    per_megabyte = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Figures(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / per_megabyte)


def run_twice(words: tuple[str, ...], environ: dict[str, str], projects: Path) -> list[Figures]:
    """A first run in a new home, and the same once more."""
    with tempfile.TemporaryDirectory(prefix="warmstart-peers-") as name:
        home = Path(name)
        (home / ".claude").mkdir()
        (home / ".claude" / "projects").symlink_to(projects, target_is_directory=True)
        filled = [word.format(projects=projects, home=home) for word in words]
        places = {
            "HOME": name, "CLAUDE_CONFIG_DIR": str(home / ".claude"), "XDG_CACHE_HOME": name,
            "XDG_CONFIG_HOME": f"{name}/.config", "XDG_DATA_HOME": f"{name}/.local/share",
            "WARMSTART_HOME": f"{name}/warmstart", "NO_COLOR": "1",
        }  # fmt: skip
        whole = {**os.environ, **places, **environ}
        return [measure(filled, whole), measure(filled, whole)]


def best(runs: list[Figures]) -> Figures:
    return Figures(*(min(values) for values in zip(*runs, strict=True)))


def compare(projects: Path, cache: Path, rounds: int) -> dict[str, Any]:
    missing: list[Missing] = []
    versions: dict[str, str] = {}
    sides: dict[str, Callable[[], list[Figures]]] = {}
    for name, words in OWN.items():
        command = (sys.executable, "-m", "warmstart", *words, "{projects}", "--json", "--quiet")
        sides[name] = lambda command=command: run_twice(command, {}, projects)
    for tool in TOOLS:
        command = install(tool, cache)
        if isinstance(command, Missing):
            missing.append(command)
            continue
        versions[tool.name] = read_version(command)
        words = (str(command), *tool.command[1:])
        sides[tool.name] = lambda words=words, tool=tool: run_twice(words, tool.environ, projects)
    runs: dict[str, list[list[Figures]]] = {name: [] for name in sides}
    for number in range(rounds):
        for name, side in list(sides.items()):
            started = time.monotonic()
            try:
                runs[name].append(side())
            except RuntimeError as error:
                if name in OWN:
                    raise
                missing.append(Missing(name, str(error)))
                del sides[name], runs[name]
            took = time.monotonic() - started
            print(f"round {number + 1}: {name}, {took:.0f} s", file=sys.stderr)
    return {
        "files": sum(1 for _ in projects.rglob("*.jsonl")),
        "megabytes": round(sum(p.stat().st_size for p in projects.rglob("*.jsonl")) / 1e6, 1),
        "versions": versions,
        "first": {name: best([one[0] for one in done])._asdict() for name, done in runs.items()},
        "repeat": {name: best([one[1] for one in done])._asdict() for name, done in runs.items()},
        "missing": [one._asdict() for one in missing],
    }


def find_behind(found: dict[str, Any]) -> list[str]:
    """Where another tool needs less CPU or memory; wall time depends on who else is at work."""
    behind = []
    for name, theirs in found["first"].items():
        ours = found["first"][OURS]
        behind += [
            f"first: {name} takes {theirs[what]:.2f} {unit}, we take {ours[what]:.2f}"
            for what, unit in (("cpu", "s of CPU"), ("megabytes", "MB"))
            if name not in OWN and theirs[what] < ours[what]
        ]
    ours = found["repeat"][OURS]
    return behind + [
        f"repeat: {name} takes {theirs['cpu']:.2f} s of CPU, we take {ours['cpu']:.2f}"
        for name, theirs in found["repeat"].items()
        if name not in OWN and theirs["cpu"] < ours["cpu"] and ours["cpu"] > QUICK_SECONDS
    ]


def show(found: dict[str, Any]) -> None:
    title = f"{found['files']} sessions, {found['megabytes']} MB"
    table = Table("", "first: wall", "CPU", "memory", "repeat: wall", "CPU", title=title,
                  title_justify="left")  # fmt: skip
    base = {part: found[part][OURS] for part in ("first", "repeat")}
    for name in found["first"]:
        first, repeat = found["first"][name], found["repeat"][name]
        cells = [(first, base["first"], "wall", "s"), (first, base["first"], "cpu", "s"),
                 (first, base["first"], "megabytes", "MB"), (repeat, base["repeat"], "wall", "s"),
                 (repeat, base["repeat"], "cpu", "s")]  # fmt: skip
        label = f"{name} {found['versions'].get(name, '')}".strip()
        table.add_row(label, *(_cell(one[what], ours[what], unit)
                               for one, ours, what, unit in cells))  # fmt: skip
    console = Console(width=120)
    console.print(table)
    for one in found["missing"]:
        console.print(f"skipped: {one['name']}: {one['why']}", markup=False)


def _cell(value: float, ours: float, unit: str) -> str:
    ratio = f" ({value / ours:.1f}x)" if value != ours else ""
    return f"{value:.2f} {unit}{ratio}" if unit == "s" else f"{value:.0f} {unit}{ratio}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="Claude Code's projects folder")
    parser.add_argument("--sessions", type=int, default=300, help="how many to generate")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=user_cache_path("warmstart-bench") / "peers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where another tool is ahead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warmstart-peers-") as name:
        projects = given.folder or generate(Path(name), given.sessions)
        found = compare(projects.resolve(), given.cache, given.rounds)
    behind = find_behind(found)
    if given.json:
        print(json.dumps({"schema_version": 1, **found, "behind": behind}, indent=1))
    else:
        show(found)
        for sentence in behind:
            print(f"behind: {sentence}")
    return int(given.check and bool(behind))


if __name__ == "__main__":
    sys.exit(main())
