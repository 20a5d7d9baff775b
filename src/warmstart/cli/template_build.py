"""``warmstart template extract, build, auto``: templates mined from sessions.

Commands only unpack their options; what they do is in ``_building``, imported when a command runs
so that ``--help`` stays light.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from warmstart.cli._filters import session_filters

if TYPE_CHECKING:
    from warmstart.cli._building import Options

_TYPES = ("auto", "code", "file", "research", "terminal", "browser", "mixed")
_Command = TypeVar("_Command", bound=Callable[..., Any])
_NAME = click.option("--name", required=True, metavar="NAME",
                     help="Name of the template: a-z 0-9 . _ - only.")  # fmt: skip
_MAX = click.option("--max", "max_examples", type=click.IntRange(1, 50), default=12, metavar="N",
                    show_default=True, help="Most examples to keep.")  # fmt: skip
_RULES = (
    click.option("--min-calls", type=click.IntRange(min=1), default=8, metavar="N",
                 show_default=True, help="Judged calls a session must have."),
    click.option("--max-error-rate", type=click.FloatRange(0, 1), metavar="SHARE",
                 help="Most errors a session may have; else the median, at least 0.05."),
    click.option("--min-reward", type=float, default=1.0, metavar="X", show_default=True,
                 help="Reward a solved task has, where the format keeps one."),
    click.option("--subagents", is_flag=True, help="Also learn from subagents' fragments."),
    click.option("--max-sessions", type=click.IntRange(min=1), default=40, metavar="N",
                 show_default=True, help="Most sessions whose contents are read."),
    _MAX,
)  # fmt: skip
_COMMON = (
    click.option("--description", default="", metavar="TEXT", help="What it is for."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="May be given several times."),
    click.option("--textual", is_flag=True,
                 help="Also take successes that rest on words alone."),
    click.option("--keep-outside", is_flag=True,
                 help="Keep results of web, mail, browser and MCP tools; they may hold anything."),
    click.option("--polish", "polish_url", metavar="URL", envvar="WARMSTART_POLISH_URL",
                 help="Let a model rewrite texts: base address of an OpenAI-compatible endpoint."),
    click.option("--polish-model", default="default", metavar="NAME", show_default=True,
                 envvar="WARMSTART_POLISH_MODEL", help="The model to ask there."),
    click.option("--dry-run", is_flag=True, help="Show what would be made; save nothing."),
    click.option("--json", "as_json", is_flag=True, help="JSON instead of text."),
    click.option("--quiet", "-q", is_flag=True, help="Say nothing on stderr but errors."),
)  # fmt: skip


def _all(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    def give(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return give


def _take_options(given: dict[str, Any]) -> Options:
    """What every command here has, taken out of what click gave."""
    from warmstart.cli._building import Options  # noqa: PLC0415 - keeps --help light

    names = ("polish_url", "polish_model", "dry_run", "as_json", "quiet")
    return Options(**{name: given.pop(name) for name in names})


@click.command("extract")
@click.argument("session", metavar="SESSION")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_NAME
@click.option("--type", "task_type", type=click.Choice(_TYPES), default="auto", show_default=True,
              help="Kind of work; auto asks the calls.")  # fmt: skip
@click.option("--format", "format_name", metavar="NAME", help="Read PATHs as this format.")
@_MAX
@_all(*_COMMON)
def extract_template(
    *, session: str, paths: tuple[str, ...], format_name: str | None, **given: Any
) -> None:
    """Make a template of one session that went well.

    SESSION is a session's id or any prefix of it that is unique. The template is saved as a
    draft: read it, then approve it.
    """
    from warmstart.cli._building import run_extract  # noqa: PLC0415 - keeps --help light
    from warmstart.mine import BuildRequest  # noqa: PLC0415 - same
    from warmstart.model.selection import Selection  # noqa: PLC0415 - same

    options = _take_options(given)
    selection = Selection(paths=paths, format=format_name)
    run_extract(session, BuildRequest(**given), selection, options)


@click.command("build")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@_NAME
@click.option("--type", "task_type", type=click.Choice(_TYPES), default="auto", show_default=True,
              help="Only sessions of this kind of work.")  # fmt: skip
@_all(*_RULES)
@session_filters
@_all(*_COMMON)
def build_template(*, name: str, task_type: str, **given: Any) -> None:
    """Make a template of what many sessions that went well have in common.

    Which sessions are good enough is decided by rules that are printed with the result, and every
    session left out is counted by its reason. --min-messages is 30 here unless given. The
    template is saved as a draft: read it, then approve it.
    """
    from warmstart.cli._building import run_build, split_given  # noqa: PLC0415 - keeps --help light

    options = _take_options(given)
    request, selection = split_given(given, name=name, task_type=task_type)
    run_build(request, selection, options)


@click.command("auto")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--prefix", "name", default="auto", metavar="NAME", show_default=True,
              help="Names are NAME-code, NAME-file and so on.")  # fmt: skip
@_all(*_RULES)
@session_filters
@_all(*_COMMON)
def auto_templates(*, name: str, **given: Any) -> None:
    """Propose templates: one per kind of work that has at least three good sessions."""
    from warmstart.cli._building import run_auto, split_given  # noqa: PLC0415 - keeps --help light

    options = _take_options(given)
    request, selection = split_given(given, name=name, task_type="auto")
    run_auto(request, selection, options)


BUILD_COMMANDS: tuple[click.Command, ...] = (extract_template, build_template, auto_templates)
