"""Serve a model file as an OpenAI-compatible endpoint on this machine alone.

Needs the ``xllamacpp`` package (``make model`` puts it into ``.venv-model``) and nothing of
warmstart. Prints ``ready http://127.0.0.1:PORT`` on one line when it answers, and ends with the
process that started it when ``--with-parent`` is given, so a killed run leaves no server behind.

    .venv-model/bin/python scripts/serve_model.py .models/FILE.gguf --chat-template FILE.jinja
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
from pathlib import Path
from typing import Any

LOOPBACK = "127.0.0.1"
PARENT_POLL_SECONDS = 2.0


def main() -> None:
    """Load the model, say where it listens, wait to be ended."""
    options = _parse_arguments()
    import xllamacpp  # noqa: PLC0415 - only the server's own environment has it

    server = xllamacpp.Server(_build_settings(xllamacpp, options))
    print("ready", server.listening_address, flush=True)
    _wait(follow_parent=options.with_parent)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", type=Path, help="a GGUF file")
    parser.add_argument("--chat-template", type=Path, help="a Jinja file; else the model's own")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free one")
    parser.add_argument("--context", type=int, default=4096, help="tokens a request may have")
    parser.add_argument("--threads", type=int, default=max((os.cpu_count() or 2) // 2, 1))
    parser.add_argument("--with-parent", action="store_true", help="end when the parent ends")
    return parser.parse_args()


def _build_settings(xllamacpp: Any, options: argparse.Namespace) -> Any:
    settings = xllamacpp.CommonParams()
    settings.model.path = str(options.model)
    settings.model_alias = {options.model.stem}  # its name in answers, not its place
    settings.hostnames = [LOOPBACK]
    settings.port = options.port
    settings.n_ctx = options.context
    settings.n_parallel = 1  # one request at a time: the same request always gets the same answer
    settings.n_gpu_layers = 0
    settings.use_jinja = True
    settings.cpuparams.n_threads = options.threads
    settings.cpuparams_batch.n_threads = options.threads
    if options.chat_template:
        settings.chat_template = options.chat_template.read_text("utf-8")
    return settings


def _wait(*, follow_parent: bool) -> None:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    parent = os.getppid()
    while not ended.wait(PARENT_POLL_SECONDS):
        if follow_parent and os.getppid() != parent:
            return


if __name__ == "__main__":
    main()
