"""Settings: defaults, then ``config.toml`` in the home, then ``WARMSTART_*``, then flags.

A section is a frozen dataclass; its defaults say which settings there are and of which type, and
the metadata of a field may hold ``least``, ``most`` or ``choices``. A setting that is unknown, of
another type or out of range is an error that names the place it came from, never a silent default.

    [warm]
    budget = 2000
    holdout = 0.2

is the same as ``WARMSTART_WARM_BUDGET=2000 WARMSTART_WARM_HOLDOUT=0.2``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar

from warmstart.app.core import Workspace
from warmstart.errors import UsageError

CONFIG_FILE = "config.toml"
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})
_Section = TypeVar("_Section")


def load_section(
    workspace: Workspace,
    name: str,
    kind: type[_Section],
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> _Section:
    """One section of the settings.

    Args:
        workspace: whose home has the file.
        name: the table in the file, and the part after ``WARMSTART_``.
        kind: the dataclass to fill.
        flags: what the command line says; None means it says nothing.
        environ: the environment, if not the process's own.

    Raises:
        UsageError: a setting cannot be right.
    """
    known: dict[str, Field[Any]] = {field.name: field for field in fields(kind)}  # type: ignore[arg-type] # every section is a dataclass
    path = workspace.home / CONFIG_FILE
    values: dict[str, Any] = {}
    for key, value in _read_table(path, name).items():
        if key not in known:
            raise UsageError(
                f"{str(path)!r}: [{name}] has no setting {key!r}",
                hint=f"it has {', '.join(known)}",
            )
        values[key] = _check(value, known[key], f"{str(path)!r}: {key}")
    variables = os.environ if environ is None else environ
    for key, field in known.items():
        variable = f"WARMSTART_{name}_{key}".upper()
        if variables.get(variable):
            values[key] = _check(_parse(variables[variable], field, variable), field, variable)
    for key, value in (flags or {}).items():
        if value is not None:
            values[key] = _check(value, known[key], f"--{key.replace('_', '-')}")
    return kind(**values)


def _read_table(path: Path, name: str) -> dict[str, Any]:
    if not path.exists():
        return {}
    import tomllib  # noqa: PLC0415 - most homes have no file of settings

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{str(path)!r} is not valid TOML: {error}", hint="correct or remove it"
        ) from error
    table = document.get(name, {})
    if not isinstance(table, dict):
        raise UsageError(f"{str(path)!r}: {name!r} must be a table", hint=f"write [{name}]")
    return table


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _parse(text: str, field: Field[Any], where: str) -> Any:
    """A variable's text as the type its setting has."""
    default = _default(field)
    if isinstance(default, bool):
        if text.lower() in TRUE_WORDS | FALSE_WORDS:
            return text.lower() in TRUE_WORDS
        raise UsageError(f"{where} must be true or false, not {text!r}")
    try:
        return type(default)(text) if isinstance(default, int | float) else text
    except ValueError as error:
        raise UsageError(f"{where} must be a number, not {text!r}") from error


def _check(value: Any, field: Field[Any], where: str) -> Any:
    """The value in its setting's own type, if it may have it."""
    default = _default(field)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    expected = str if isinstance(default, str) else type(default)
    if not isinstance(value, expected) or isinstance(value, bool) != isinstance(default, bool):
        raise UsageError(f"{where} must be a {_word(expected)}, not {value!r}")
    _check_range(value, field.metadata, where)
    return type(default)(value) if isinstance(default, str) else value


def _check_range(value: Any, allowed: Mapping[str, Any], where: str) -> None:
    if "choices" in allowed and value not in allowed["choices"]:
        raise UsageError(f"{where} must be one of {', '.join(allowed['choices'])}, not {value!r}")
    # Not-a-number is neither below nor above anything.
    if "least" in allowed and not value >= allowed["least"]:
        raise UsageError(f"{where} must be at least {allowed['least']}, not {value!r}")
    if "most" in allowed and not value <= allowed["most"]:
        raise UsageError(f"{where} must be at most {allowed['most']}, not {value!r}")


def _word(kind: type[Any]) -> str:
    return {"bool": "true or false", "int": "whole number", "float": "number"}.get(
        kind.__name__, "text"
    )


__all__ = ["CONFIG_FILE", "load_section"]
