"""The model's server as a child of this process, gone when it is done."""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

ROOT = Path(__file__).resolve().parents[2]
MODEL_FILE = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
CHAT_TEMPLATE = ROOT / "examples" / "first-experiment" / "chat.jinja"
PROGRAM = ROOT / "scripts" / "serve_model.py"
START_SECONDS = 120.0
CONTEXT_TOKENS = 8192


def find_model() -> Path | None:
    """The weights: where ``WARMSTART_MODEL`` says, else where ``make model`` puts them."""
    named = os.environ.get("WARMSTART_MODEL")
    path = Path(named) if named else ROOT / ".models" / MODEL_FILE
    return path if path.is_file() else None


def find_python() -> Path | None:
    """The interpreter that has the server: ``WARMSTART_MODEL_PYTHON``, else ``.venv-model``."""
    named = os.environ.get("WARMSTART_MODEL_PYTHON")
    path = Path(named) if named else ROOT / ".venv-model" / "bin" / "python"
    return path if path.is_file() else None


@contextmanager
def serve(model: Path, python: Path, *, port: int, threads: int, log: Path) -> Iterator[str]:
    """The address of a server that answers.

    Raises:
        RuntimeError: it does not start.
    """
    command = [
        str(python), str(PROGRAM), str(model), "--chat-template", str(CHAT_TEMPLATE),
        "--port", str(port), "--threads", str(threads), "--context", str(CONTEXT_TOKENS),
        "--with-parent",
    ]  # fmt: skip
    with log.open("ab") as output:
        child = subprocess.Popen(command, stdout=output, stderr=output)  # noqa: S603 - our own words
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(child, address, log)
            yield address
        finally:
            child.terminate()
            child.wait()


def _wait_for(child: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = monotonic() + START_SECONDS
    while monotonic() < deadline and child.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):  # noqa: S310 - loopback
                return
        except (urllib.error.URLError, OSError):
            sleep(0.5)
    raise RuntimeError(f"the model's server does not answer; see {log}")
