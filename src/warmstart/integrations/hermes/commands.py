"""``hermes warm …`` runs the commands of ``warmstart``, in this process.

Hermes asks for arguments before it knows what is wanted, so nothing is loaded until a command runs.
Words that older versions of the plugin had (``analyze``, ``extract``, ``build NAME`` …) lead to the
commands that do the same; every other word is taken as it is. Hermes does not look at what a
handler returns, so a command that failed ends the process with its code itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

WORDS = "warm_words"
ALL_SOURCES = "all"
MIN_MESSAGES = "30"
"""The shortest session that ``build`` reads by default."""
HELP = "what to do, as after warmstart: profile ID, compare ID ID, template list …; help for all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take every word after ``hermes warm`` as it is."""
    parser.add_argument(WORDS, nargs=argparse.REMAINDER, metavar="COMMAND", help=HELP)


def run_command(args: argparse.Namespace) -> None:
    """Run the command that was asked for.

    Raises:
        SystemExit: it failed.
    """
    code = run(args)
    if code:
        raise SystemExit(code)


def run(args: argparse.Namespace) -> int:
    """Run the command; the exit code is returned."""
    from warmstart.cli.main import main  # noqa: PLC0415 - only if run

    try:
        main(translate(getattr(args, WORDS, ())), prog_name="hermes warm")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    return 0


def translate(words: Sequence[str]) -> list[str]:
    """The arguments as ``warmstart`` itself takes them."""
    if not words:
        return ["--help"]
    first, *rest = words
    known = OLDER.get(first)
    return known(rest) if known else [first, *rest]


def _lead_to(*command: str) -> Callable[[list[str]], list[str]]:
    return lambda rest: [*command, *rest]


def _extract(rest: list[str]) -> list[str]:
    """A draft of one session, named after it unless a name is given."""
    from warmstart.app import make_name  # noqa: PLC0415 - only if run

    first, rest = _split_first(rest)
    known, other = _make_parser().parse_known_args(rest)
    name = make_name(known.name or "-".join(("hermes", *first)))
    return ["template", "extract", *first, "--name", name, *_describe(known), *other]


def _build(rest: list[str]) -> list[str]:
    """A draft of the sessions of Hermes that went well, unless another source is named."""
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        READERS,
        make_name,
    )

    first, rest = _split_first(rest)
    parser = _make_parser()
    parser.add_argument("--source-filter", "--source", dest="source", default="hermes")
    parser.add_argument("--tags", default="")
    parser.add_argument("--min-messages", default=MIN_MESSAGES)
    known, other = parser.parse_known_args(rest)
    name = make_name(known.name or "".join(first) or "hermes")
    command = ["template", "build", "--name", name, "--min-messages", known.min_messages]
    if known.source != ALL_SOURCES:
        command += ["--source" if known.source in READERS else "--agent", known.source]
    for tag in filter(None, map(str.strip, known.tags.split(","))):
        command += ["--tag", tag]
    return [*command, *_describe(known), *other]


def _split_first(words: list[str]) -> tuple[list[str], list[str]]:
    """The first word, if it is not an option, and the others."""
    has_word = bool(words) and not words[0].startswith("-")
    return words[:has_word], words[has_word:]


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--name", "-n", default="")
    parser.add_argument("--description", "-d", default="")
    return parser


def _describe(known: argparse.Namespace) -> list[str]:
    return ["--description", known.description] if known.description else []


OLDER: dict[str, Callable[[list[str]], list[str]]] = {
    "analyze": _lead_to("profile", "show"),
    "build": _build,
    "compress-check": _lead_to("profile", "compaction"),
    "create-template": _extract,
    "delete": _lead_to("template", "delete"),
    "extract": _extract,
    "help": _lead_to("--help"),
    "list": _lead_to("template", "list"),
    "list-templates": _lead_to("template", "list"),
    "test": _lead_to("template", "test"),
}
"""Words of older versions and of the originals, and the commands they lead to."""


__all__ = ["OLDER", "add_arguments", "run", "run_command", "translate"]
