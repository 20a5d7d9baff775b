"""What was done differently between a failed call and the next try, in words.

Only what the two calls show is written: names of arguments, flags, programs, and which
tools were used on the same thing in between. Values are never part of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from warmstart.mine.trivial import is_trivial
from warmstart.mine.volatile import looks_like_path, split_scheme
from warmstart.model import Call, Status
from warmstart.outcome import ToolKind, command_of, kind_of

MAX_NAMED = 3
VAGUE = ("other words in the command",)
"""Changes that say nothing on their own."""
FACTORS = (10, 100, 1000)
TOKEN_CHARS = 1200
TOKENS = re.compile(r"[\w.@-]{3,}")
_FLAG = re.compile(r"(?<!\S)--?[A-Za-z][\w-]{0,30}")
_PROGRAM = re.compile(r"(?:^|&&|\|\||[|;\n])\s*([A-Za-z_][\w.-]*)")
_TYPES = {str: "text", list: "a list", dict: "an object", int: "a number", float: "a number"}
_QUOTES = re.compile(r"[\"'\\]")
_SPACES = re.compile(r"\s+")


def describe_change(failed: Call, tried: Call, between: Sequence[Call]) -> str:
    """One phrase: what came in between, then what differs."""
    steps = _steps_between(failed, between)
    if failed.tool != tried.tool:
        change = f"`{tried.tool}` instead"
    elif kind_of(failed.tool) is ToolKind.SHELL:
        change = _compare_commands(command_of(failed.request.arguments),
                                   command_of(tried.request.arguments))  # fmt: skip
    else:
        change = _compare_arguments(failed.request.arguments, tried.request.arguments)
    return f"{steps}, then {change}" if steps else change


def targets_of(arguments: Mapping[str, Any]) -> frozenset[str]:
    """The files a call is about: its arguments that are paths."""
    return frozenset(
        value.replace("\\", "/").rstrip("/")
        for value in arguments.values()
        if isinstance(value, str) and len(value) < 400 and looks_like_path(value)
    )


def tokens_of(arguments: Mapping[str, Any]) -> frozenset[str]:
    """The words of a call's arguments."""
    text = " ".join(str(value)[:TOKEN_CHARS] for value in arguments.values())
    return frozenset(TOKENS.findall(text))


def _steps_between(failed: Call, between: Sequence[Call]) -> str:
    """Tools used successfully meanwhile, on the same file where the failed call had one."""
    targets = targets_of(failed.request.arguments)
    near = dict.fromkeys(
        call.tool
        for call in between
        if call.outcome.status is Status.OK
        and not is_trivial(call.tool)
        and call.tool != failed.tool
        and (not targets or targets & targets_of(call.request.arguments))
    )
    if not near:
        return ""
    names = " and ".join(f"`{tool}`" for tool in list(near)[:2])
    return f"{names} on the same file first" if targets else f"{names} first"


def _compare_arguments(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    added = sorted(map(str, after.keys() - before.keys()))
    dropped = sorted(map(str, before.keys() - after.keys()))
    changed = sorted(key for key in after.keys() & before.keys() if after[key] != before[key])
    phrases = []
    if added:
        phrases.append(f"{_names(added)} given as well")
    if dropped:
        phrases.append(f"without {_names(dropped)}")
    phrases.extend(_compare_value(key, before[key], after[key]) for key in changed[:MAX_NAMED])
    return ", ".join(phrases) or "the same call again"


def _compare_value(key: str, before: Any, after: Any) -> str:
    if isinstance(after, bool):
        return f"`{key}` {'on' if after else 'off'}"
    if _is_number(before) and _is_number(after):
        return _compare_numbers(key, before, after)
    if type(before) is not type(after):
        return f"`{key}` as {_TYPES.get(type(after), 'another kind of value')}"
    if isinstance(before, str) and isinstance(after, str) and before and after:
        return _compare_texts(key, before, after)
    return f"another `{key}`"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compare_numbers(key: str, before: float, after: float) -> str:
    """Whether only the unit changed: the old value times ten, a hundred or a thousand."""
    for factor in FACTORS:
        if before and isclose(after, before * factor, rel_tol=1e-9):
            return f"`{key}` times {factor:,}"
        if after and isclose(before, after * factor, rel_tol=1e-9):
            return f"`{key}` divided by {factor:,}"
    return f"{'smaller' if after < before else 'larger'} `{key}`"


def _compare_texts(key: str, before: str, after: str) -> str:
    scheme, rest = split_scheme(after)
    if scheme and rest.lstrip("/") == before.lstrip("./"):
        return f"`{key}` with `{scheme}` in front"
    if looks_like_path(before) and looks_like_path(after):
        return f"another path in `{key}`"
    if before in after or after in before:
        return f"{'longer' if len(after) > len(before) else 'shorter'} `{key}`"
    return f"another `{key}`"


def _compare_commands(before: str, after: str) -> str:
    plain_before, plain_after = _SPACES.sub(" ", before).strip(), _SPACES.sub(" ", after).strip()
    if plain_before == plain_after:
        return "the same command again"
    if _QUOTES.sub("", plain_before) == _QUOTES.sub("", plain_after):
        return "the same command quoted differently"
    before_programs, after_programs = _PROGRAM.findall(before), _PROGRAM.findall(after)
    before_flags, after_flags = _FLAG.findall(before), _FLAG.findall(after)
    new = _new(before_programs, after_programs)
    gone = [word for word in _new(after_programs, before_programs) if word not in after.split()]
    gone += _new(after_flags, before_flags)
    flags = _new(before_flags, after_flags)
    phrases = ["after `cd` to another folder"] if "cd" in new else []
    others = [program for program in new if program != "cd"]
    if others:
        phrases.append(f"with {_names(others)}")
    if flags:
        phrases.append(f"{_names(flags)} added")
    if gone:
        phrases.append(f"without {_names(gone)}")
    return ", ".join(phrases) or VAGUE[0]


def _new(before: list[str], after: list[str]) -> list[str]:
    """What appeared, in order, once each."""
    return [word for word in dict.fromkeys(after) if word not in before]


def _names(words: Sequence[str]) -> str:
    shown = ", ".join(f"`{word}`" for word in words[:MAX_NAMED])
    return shown if len(words) <= MAX_NAMED else f"{shown} and more"
