"""The arms of an experiment: what stands in front of a task's prompt in each.

All arms share one preamble. The controls tell apart why a warm start helps: ``token-matched`` has
as many tokens of neutral text (is it the length?), ``placebo`` has examples of unrelated work (is
it any example?). Same inputs, same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from warmstart.errors import UsageError
from warmstart.experiment.variants import check_variant
from warmstart.model import Example, Guidance, Message, Provenance, Template, WarmUp

NEUTRAL_SENTENCES = (
    "The old harbour wall was built from grey stone and faces the morning sun.",
    "Two rows of poplars lead from the mill to the upper meadow.",
    "In autumn the market opens an hour later than in summer.",
    "The library keeps its maps in flat drawers beneath the south window.",
    "A narrow path follows the stream until it meets the gravel road.",
    "The bakery on the corner sells rye bread on three days of the week.",
    "Snow seldom stays longer than a week on the lower slopes.",
    "The ferry carries bicycles on its lower deck without a surcharge.",
    "Several houses in the lane still have their wooden shutters.",
    "The clock in the tower was last repaired before the bridge was widened.",
)
"""Text about nothing an agent is asked for: no tools, no files, no numbers to copy."""
PLACEBO_NAME = "neutral"
BASELINE_ARM = "cold:baseline"
"""The one arm that may stand alone: sessions are collected, nothing is compared."""


class ArmKind(StrEnum):
    """What an arm does; the rest of its name is a template."""

    COLD = "cold"
    WARM = "warm"
    TOKEN_MATCHED = "token-matched"  # noqa: S105 - an arm, no secret
    PLACEBO = "placebo"


class ArmSpec(NamedTuple):
    """An arm as the plan writes it."""

    kind: ArmKind
    template: str = ""
    """The template it uses or (for ``token-matched``) whose size it has; "" for the default.

    For ``cold`` a mere label, so that an A/A run can have two: ``cold,cold:again``.
    """
    variant: str = ""
    """A shorter form of the template, as ``variants`` has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmStart:
    """What a session of an arm starts with, besides the preamble."""

    system: str = ""
    messages: tuple[Message, ...] = ()
    """All of kind WARMUP."""
    tokens: int = 0
    template: str = ""
    template_id: str = ""
    unreviewed: bool = False
    """The template is a draft, and someone asked to try it."""

    @property
    def calls(self) -> int:
        """Example calls, which count nowhere."""
        return sum(len(message.requests) for message in self.messages)


COLD_START = ArmStart()


def parse_arm(text: str) -> ArmSpec:
    """An arm from its name: ``cold``, ``warm:NAME``, ``token-matched[:NAME]``, ``placebo[:NAME]``.

    Behind the name of a template may stand a shorter form of it: ``warm:NAME/no-guidance``.

    Raises:
        UsageError: there is no such arm.
    """
    word, _, template = text.strip().partition(":")
    if word not in list(ArmKind):
        raise UsageError(
            f"no such arm: {text!r}", hint="cold, warm:TEMPLATE, token-matched or placebo"
        )
    kind = ArmKind(word)
    if kind is ArmKind.WARM and not template:
        raise UsageError(f"{text!r} names no template", hint="warm:TEMPLATE")
    if kind not in (ArmKind.WARM, ArmKind.TOKEN_MATCHED):
        return ArmSpec(kind, template)
    name, slash, variant = template.partition("/")
    return ArmSpec(kind, name, check_variant(variant) if slash else "")


def parse_arms(text: str) -> tuple[str, ...]:
    """The arms of a comma-separated list, each checked."""
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        parse_arm(name)
    return names


def start_warm(warmup: WarmUp) -> ArmStart:
    """A template's warm-up as the start of a session."""
    return ArmStart(
        system=warmup.system,
        messages=warmup.messages,
        tokens=warmup.tokens,
        template=warmup.template,
        template_id=warmup.template_id,
    )


def start_token_matched(tokens: int, estimate: Callable[[str], int]) -> ArmStart:
    """Neutral text in the system message, as near to ``tokens`` as whole words allow.

    It stands in the system message alone: neutral turns of conversation would teach a model to
    answer in prose, and that is another treatment than length.
    """
    text = write_neutral(tokens, estimate)
    return ArmStart(system=text, tokens=estimate(text) if text else 0)


def write_neutral(tokens: int, estimate: Callable[[str], int]) -> str:
    """Neutral text of at most ``tokens`` tokens, at most a word or two short of it."""
    number = 1
    while estimate(" ".join(words := _neutral_words(number))) < tokens:
        number *= 2
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(" ".join(words[:middle])) <= tokens:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low])


def _neutral_words(sentences: int) -> list[str]:
    chosen = (NEUTRAL_SENTENCES[at % len(NEUTRAL_SENTENCES)] for at in range(sentences))
    return " ".join(chosen).split()


def neutral_template() -> Template:
    """The placebo that is shipped: well-formed examples of work no task here asks for."""
    return Template(
        name=PLACEBO_NAME,
        description="Examples of unrelated work; the control of an experiment.",
        task_type="placebo",
        guidance=(
            Guidance(tool="play_music", text="Name one album at a time.", calls=40, errors=1),
            Guidance(tool="book_table", text="Give the hour as HH:MM.", calls=25, errors=1),
        ),
        examples=tuple(_unrelated()),
        provenance=Provenance(sessions=0),
    )


def _unrelated() -> list[Example]:
    rows = (
        ("play_music", {"album": "Evening Songs"}, "playing", "Play something calm.", "Playing."),
        ("book_table", {"place": "Mill Inn", "hour": "19:30"}, "booked for two",
         "Book a table for two tonight.", "The table is booked."),
        ("water_plants", {"room": "hall"}, "watered 4 plants", "Please water the plants.",
         "The plants in the hall are watered."),
        ("set_lamp", {"lamp": "desk", "level": "low"}, "desk lamp is low", "Dim the desk lamp.",
         "The desk lamp is dimmed."),
        ("order_bread", {"kind": "rye", "loaves": "2"}, "two rye loaves ordered",
         "Order two loaves of rye bread.", "Two loaves are ordered."),
    )  # fmt: skip
    return [
        Example(tool=tool, arguments=arguments, result=result, intent=intent, closing=closing)
        for tool, arguments, result, intent, closing in rows
    ]
