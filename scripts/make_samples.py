"""Write the sample sessions that ship with the package: ``make samples``.

The same code writes the same files: every id, clock and slip comes from a seed. The folder given
is emptied of the stores first, so that nothing old stays behind.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from samples import claude_code, codex, gemini, hermes, openai_chat
from samples.cast import play_all

SHIPPED = Path(__file__).resolve().parents[1] / "src" / "warmstart" / "samples"
WRITERS = {
    "claude_code": claude_code.write,
    "hermes": hermes.write,
    "codex": codex.write,
    "gemini": gemini.write,
    "openai_chat": openai_chat.write,
}


def write_samples(folder: Path) -> None:
    """Write every agent's store into its own folder."""
    for agent, write in WRITERS.items():
        store = folder / agent
        if store.exists():
            shutil.rmtree(store)
        write(play_all(agent), store)


def main() -> None:
    """Write to the package, or to the folder named."""
    parser = argparse.ArgumentParser(description="Write the sample sessions.")
    parser.add_argument("--into", type=Path, default=SHIPPED, metavar="FOLDER")
    folder = parser.parse_args().into
    write_samples(folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"{len(files)} files, {size / 1024:.0f} KiB in {folder}")


if __name__ == "__main__":
    main()
