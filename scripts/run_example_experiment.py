"""Run the packaged experiment with a real model, end to end, and write the page about it.

    make model        # once: fetch the weights and the server
    make experiment   # this script

Interrupted, the same command goes on where it was. ``--fresh`` begins again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from example.loop import Loop
from example.page import write_page
from example.server import ROOT, find_model, find_python, serve

from warmstart.app import Workspace

HOME = ROOT / ".models" / "experiment"
PAGE = ROOT / "docs" / "research" / "first-experiment.md"
PORT = 18420


def main() -> None:
    """Serve, run, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--home", type=Path, default=HOME, help="where sessions are kept")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    parser.add_argument("--threads", type=int, default=2, help="of the model's server")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--trials", type=int, default=2, help="of a test task in each arm")
    parser.add_argument("--fresh", action="store_true", help="forget an earlier run")
    parser.add_argument("--page-only", action="store_true", help="write the page again")
    options = parser.parse_args()
    model, python = find_model(), find_python()
    if model is None or python is None:
        sys.exit("the model or its server is not here; run: make model")
    if options.fresh and options.home.exists():
        shutil.rmtree(options.home)
    options.home.mkdir(parents=True, exist_ok=True)
    loop = Loop(
        workspace=Workspace(options.home),
        url=f"http://127.0.0.1:{options.port}",
        trials=options.trials,
    )
    if not options.page_only:
        log = options.home / "server.log"
        with serve(model, python, port=options.port, threads=options.threads, log=log):
            loop.run()
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(write_page(loop, model), "utf-8")
    print(options.page)


if __name__ == "__main__":
    main()
