"""The project's own commands on any system with Python and pip; ``make`` calls this file.

    python scripts/dev.py demo             install into .venv and run the main job on the samples
    python scripts/dev.py test             lint, types, import contracts and the whole test suite
    python scripts/dev.py lint types …     single steps of it
    python scripts/dev.py install          .venv with everything that development needs

``.venv`` is made once and made again when ``pyproject.toml`` changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
BASE, DEV = ".", ".[dev]"
STEPS: dict[str, list[list[str]]] = {
    "demo": [["warmstart", "demo"]],
    "lint": [["ruff", "check", "."], ["ruff", "format", "--check", "."]],
    "types": [["mypy"]],
    "contracts": [["lint-imports", "--no-cache"]],
    "unit": [["pytest", "-q", "-n", "2", "--cov", "--cov-report=term:skip-covered"]],
    "install": [],
}
TEST = ("lint", "types", "contracts", "unit")


def main(names: list[str]) -> int:
    """Run the steps named, in order, up to the first that fails; its exit code."""
    wanted = [step for name in names for step in (TEST if name == "test" else (name,))]
    unknown = [name for name in wanted if name not in STEPS]
    if unknown or not wanted:
        sys.stderr.write(f"usage: dev.py {'|'.join((*STEPS, 'test'))} …\n")
        return 2
    install(BASE if wanted == ["demo"] else DEV)
    for name in wanted:
        for program, *arguments in STEPS[name]:
            code = run([str(BIN / program), *arguments])
            if code:
                return code
    return 0


def install(extras: str) -> None:
    """Put the project into ``.venv``, unless it is there as ``pyproject.toml`` wants it."""
    done = VENV / (".base" if extras == BASE else ".dev")
    changed = (ROOT / "pyproject.toml").stat().st_mtime
    if done.exists() and done.stat().st_mtime >= changed:
        return
    venv.create(VENV, with_pip=True, symlinks=os.name != "nt")
    pip = [str(BIN / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    code = run([*pip, "--editable", extras])
    if code:
        sys.exit(code)
    for name in {".base", done.name}:
        (VENV / name).touch()


def run(command: list[str]) -> int:
    """The exit code of a command in the project's folder."""
    return subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - ours, no shell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
