"""The live holdout: which share of sessions stays cold on purpose.

It is the setting ``[warm] holdout``; switching it changes that one line of ``config.toml``.
"""

from __future__ import annotations

import re

from warmstart.app.config import CONFIG_FILE
from warmstart.app.core import Workspace
from warmstart.app.warm_start import load_config

_SECTION = re.compile(r"^\s*\[warm\]\s*(#.*)?$")
_ANY_SECTION = re.compile(r"^\s*\[")
_LINE = re.compile(r"^\s*holdout\s*=")


def read_holdout(workspace: Workspace) -> float:
    """The share that is in force, whatever set it.

    Raises:
        UsageError: the settings cannot be right.
    """
    return load_config(workspace).holdout


def write_holdout(workspace: Workspace, share: float) -> None:
    """Set the share; everything else in the file stays as it is."""
    read_holdout(workspace)
    lines = _read(workspace).splitlines()
    setting = f"holdout = {share:g}"
    start = next((at for at, line in enumerate(lines) if _SECTION.match(line)), None)
    if start is None:
        lines += ["", "[warm]", setting] if lines else ["[warm]", setting]
    else:
        end = start + 1
        while end < len(lines) and not _ANY_SECTION.match(lines[end]):
            end += 1
        own = [at for at in range(start + 1, end) if _LINE.match(lines[at])]
        if own:
            lines[own[0]] = setting
        else:
            lines.insert(start + 1, setting)
    text = "\n".join(lines) + "\n"
    workspace.write_file(workspace.home / CONFIG_FILE, [text.encode()], overwrite=True)


def _read(workspace: Workspace) -> str:
    path = workspace.home / CONFIG_FILE
    return path.read_text("utf-8", "replace") if path.exists() else ""
