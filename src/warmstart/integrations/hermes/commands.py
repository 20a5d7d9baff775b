"""``hermes warm …``: arguments in, one command run, its exit code out.

Only the arguments are described here, since Hermes asks for them before it knows what is wanted;
what the commands do is loaded when one is run. Hermes does not look at what a handler returns, so
a command that failed ends the process with its code itself.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from warmstart.errors import WarmstartError

CHOICE = "warm_command"
OK = 0
USAGE = 2
FAILED = 1
CLOSED_PIPE = 141
INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe every command to ``parser``."""
    parser.set_defaults(warm_parser=parser)
    commands = parser.add_subparsers(dest=CHOICE, metavar="COMMAND")
    _add_session(commands, "analyze", "what a session shows about tools, user and context")
    _add_session(commands, "profile", "how reliable a session was, tool by tool")
    _add_session(commands, "compress-check", "whether errors rose after its context was compacted")
    compare = _add_session(commands, "compare", "two sessions side by side, with intervals")
    compare.add_argument("compare_with", metavar="OTHER_ID", help="the second session")
    for name in ("create-template", "extract"):
        make = _add_session(commands, name, "make a draft template of one session")
        make.add_argument("--name", "-n", default="", help="the template's name")
        make.add_argument("--description", "-d", default="", help="what it is for")
    _add_build(commands)
    for name in ("list", "list-templates"):
        _add(commands, name, "the templates there are, with their record")
    test = _add(commands, "test", "show what a session would start with; nothing is sent")
    test.add_argument("template_id", metavar="TEMPLATE", help="a name, or name@version")
    test.add_argument("message", metavar="MESSAGE", help="the user's first message")
    test.add_argument("--unreviewed", action="store_true", help="also a draft nobody approved")
    test.add_argument("--budget", type=_positive, default=0, help="tokens (default: the setting)")
    delete = _add(commands, "delete", "remove a template with all its versions")
    delete.add_argument("template_id", metavar="TEMPLATE", help="its name")


def run_command(args: argparse.Namespace) -> None:
    """Run the command that was asked for."""
    code = run(args)
    if code:
        raise SystemExit(code)


def run(args: argparse.Namespace) -> int:
    """The same; the exit code is returned."""
    name = getattr(args, CHOICE, None)
    if not name:
        args.warm_parser.print_help(sys.stderr)
        return USAGE
    from warmstart.integrations.hermes.actions import ACTIONS  # noqa: PLC0415 - only if run

    try:
        ACTIONS[name](args)
    except WarmstartError as error:
        _say(error.message, error.hint)
        return error.exit_code
    except BrokenPipeError:
        _detach_stdout()
        return CLOSED_PIPE
    except OSError as error:
        _say(error.strerror or type(error).__name__, None)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return OK


def _say(message: str, hint: str | None) -> None:
    from warmstart.integrations.hermes.printing import (  # noqa: PLC0415 - only if it fails
        print_notes,
    )

    print_notes([f"hermes warm: {message}", *([f"  try: {hint}"] if hint else [])])


def _detach_stdout() -> None:
    """The reader has enough; what is left in the buffer must not be tried again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _add(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    made.add_argument("--json", dest="as_json", action="store_true", help="print JSON")
    return made


def _add_session(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    made = _add(commands, name, text)
    made.add_argument("session_id", metavar="SESSION_ID", help="an id or the beginning of one")
    return made


def _add_build(commands: Any) -> None:
    build = _add(commands, "build", "mine sessions that went well into a draft template")
    build.add_argument("name", nargs="?", default="", help="the template's name")
    build.add_argument("--name", "-n", dest="named", default="", help="the same")
    build.add_argument("--description", "-d", default="", help="what it is for")
    build.add_argument(
        "--min-messages", type=_positive, default=30, help="shortest session (default 30)"
    )
    build.add_argument(
        "--max-sessions", type=_positive, default=30, help="sessions read at most (default 30)"
    )
    build.add_argument(
        "--source-filter",
        "--source",
        default="hermes",
        help="sessions of this agent or format (default hermes; all for every one)",
    )
    build.add_argument("--tags", default="", help="words to find it by, joined by commas")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value


__all__ = ["add_arguments", "run", "run_command"]
