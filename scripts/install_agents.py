"""Install the real agents that ``make test-agents`` starts, each at the version it was tried with.

    python scripts/install_agents.py [claude] [codex] [hermes] [--into .agents]

Claude Code and Codex come through npm, Hermes through pip into an environment of its own, with
this project beside it so that its plugin is there. What is installed at its version is left alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NPM_PACKAGES = {"claude": "@anthropic-ai/claude-code@2.1.197", "codex": "@openai/codex@0.166.0"}
HERMES = "hermes-agent==0.19.0"
AGENTS = (*NPM_PACKAGES, "hermes")


def main() -> int:
    """Install what was asked for; 0 if all of it is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"any of {', '.join(AGENTS)}")
    parser.add_argument("--into", type=Path, default=ROOT / ".agents", metavar="DIR")
    options = parser.parse_args()
    unknown = sorted(set(options.agents) - set(AGENTS))
    if unknown:
        parser.error(f"no such agent: {', '.join(unknown)}")
    for agent in options.agents or AGENTS:
        wanted = HERMES if agent == "hermes" else NPM_PACKAGES[agent]
        note = options.into / f"{agent}.version"
        if note.exists() and note.read_text("utf-8") == wanted:
            print(f"{agent}: {wanted} is there")
            continue
        print(f"{agent}: installing {wanted}", flush=True)
        install = install_hermes if agent == "hermes" else install_with_npm
        install(wanted, options.into)
        note.write_text(wanted, "utf-8")
    return 0


def install_with_npm(package: str, folder: Path) -> None:
    """One package below ``npm/node_modules``."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is not on the PATH: install Node.js 20 or later, or ask for hermes alone")
    home = folder / "npm"
    home.mkdir(parents=True, exist_ok=True)
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    run([npm, "install", "--prefix", str(home), *quiet, "--save-exact", package])


def install_hermes(package: str, folder: Path) -> None:
    """Hermes and this project in one environment."""
    home = folder / "hermes"
    run([sys.executable, "-m", "venv", str(home)])
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, package])
    run([*pip, "--editable", str(ROOT)])


def run(command: list[str]) -> None:
    """A command that has to succeed."""
    code = subprocess.run(command, check=False).returncode  # noqa: S603 - fixed commands, no shell
    if code:
        sys.exit(f"{command[0]} failed with {code}")


if __name__ == "__main__":
    sys.exit(main())
