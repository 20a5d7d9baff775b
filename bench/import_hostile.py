"""What becomes of hostile template files: imported into quarantine, refused, or worse.

    python bench/import_hostile.py [--files N] [--seed S] [--json] [--check]

Files are made by ``tests/support/hostile.py``: damaged, retyped, misnamed, lying about their state,
full of orders, too deep, too wide, repeated, links and pipes. Each is imported through the same
door as ``warmstart template import``. The bars: no exception but our own, no file outside the
library, nothing approved, a library that verifies clean afterwards.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.hostile import write_hostile
from warmstart.errors import WarmstartError
from warmstart.library import Library
from warmstart.model import TemplateState
from warmstart.store import SessionDB


def run(files: int, seed: int) -> dict[str, Any]:
    """Import them all; counts by kind, and everything that should not have happened."""
    chance = random.Random(seed)  # noqa: S311 - a fixed choice
    counts: Counter[tuple[str, str]] = Counter()
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        home, outside = root / "home", root / "outside"
        incoming = root / "incoming"
        for path in (home, outside, incoming):
            path.mkdir()
        (outside / "canary").write_text("untouched")
        started = time.process_time()
        with Library(home / "templates", SessionDB(home / "store.db")) as library:
            for number in range(files):
                path = incoming / "file.json"
                kind = write_hostile(chance, path)
                before = _list_names(root)
                fate = _import(library, path, broken, f"{number} {kind}")
                counts[kind, fate] += 1
                if _list_names(root) != before:
                    broken.append(f"{number} {kind}: something was written outside the library")
                _clear(incoming)
            seconds = time.process_time() - started
            broken += _check_library(library, outside)
            kept = len(library.list())
    return {
        "files": files,
        "seed": seed,
        "templates": kept,
        "fates": [
            {"kind": kind, "fate": fate, "files": number}
            for (kind, fate), number in sorted(counts.items())
        ],
        "broken": broken,
        "cpu_ms_per_file": round(seconds / files * 1000, 2),
    }


def _import(library: Library, path: Path, broken: list[str], what: str) -> str:
    try:
        report = library.import_file(path)
    except WarmstartError as error:
        if not error.message.isprintable() or len(error.message) > 500:
            broken.append(f"{what}: an error that is not safe to print")
        return "refused"
    except Exception as error:  # noqa: BLE001 - finding these is what the bench is for
        broken.append(f"{what}: {type(error).__name__}: {error}")
        return "traceback"
    if report.saved.state is not TemplateState.QUARANTINED:
        broken.append(f"{what}: came in as {report.saved.state}")
    return "quarantined" if report.saved.is_new else "known already"


def _list_names(root: Path) -> set[str]:
    """Everything but the library's own folder and the store."""
    found = {str(path) for part in ("outside", "incoming") for path in (root / part).rglob("*")}
    found |= {str(path) for path in root.iterdir()}
    return found | {
        path.name for path in (root / "home").iterdir() if not path.name.startswith("store.db")
    } - {"templates"}


def _clear(incoming: Path) -> None:
    for path in incoming.iterdir():
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()


def _check_library(library: Library, outside: Path) -> list[str]:
    broken = [f"{p.name}@{p.version}: {p.text}" for p in library.verify()]
    if [(path.name, path.read_text()) for path in outside.iterdir()] != [("canary", "untouched")]:
        broken.append("the folder outside was touched")
    broken += [
        f"{version.name}@{version.version} is {version.state}"
        for row in library.list()
        for version in library.versions(row.name)
        if version.state is not TemplateState.QUARANTINED
    ]
    folder = library.folder.resolve()
    broken += [
        f"{path} leads elsewhere"
        for path in library.folder.rglob("*")
        if path.is_symlink() or not path.resolve().is_relative_to(folder)
    ]
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    figures = run(options.files, options.seed)
    if options.json:
        print(json.dumps(figures))
    else:
        table = Table(
            "kind", "what became of it", "files", title=f"{options.files:,} hostile files"
        )
        for row in figures["fates"]:
            table.add_row(row["kind"], row["fate"], f"{row['files']:,}")
        Console().print(table)
        print(f"{figures['cpu_ms_per_file']} ms CPU per file, {len(figures['broken'])} broken bars")
        for line in figures["broken"][:20]:
            print(f"  {line}")
    if options.check and figures["broken"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
