"""One template as documents: the page a person reviews, what differs, and what would be sent.

The review page has what a decision needs in this order: flags and what was redacted, what changes
against the version in use, each lesson and example with the counts it rests on, where it is from,
how sessions with it went, and the exact command that approves it. Everything that would be sent is
on it; long texts are cut unless all of it is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from warmstart.model import TemplateState
from warmstart.present.document import (
    Block,
    Callout,
    Data,
    Document,
    Excerpt,
    Heading,
    NextSteps,
    StyledText,
    Text,
)
from warmstart.present.templates import describe_success, version_fields
from warmstart.present.text import count, iso_time, local_time, one_line
from warmstart.template import count_changes, encode_canonical, template_to_dict

if TYPE_CHECKING:
    from warmstart.app import Change, Review, TemplateDiff, TemplatePage, TemplateTrial
    from warmstart.library import TemplateVersion
    from warmstart.model import Example, Recovery, Template, ToolArguments

__all__ = [
    "change_fields",
    "describe_trial",
    "diff_document",
    "review_document",
    "show_changes",
    "show_contents",
    "trial_document",
]

SCHEMA_VERSION = 1
MAX_LINE = 160
MAX_TEXT_LINES = 4
FULL = 10_000_000
"""In effect no limit."""
MAX_ARGUMENTS = 6
MAX_SHAPES = 3
MAX_CHANGES = 20
MAX_ESCAPED = 0xFFFF
"""The last character that one escape of JSON can name."""
SIGNS = {"added": "+", "removed": "-", "changed": "~"}
TONES = {"added": "good", "removed": "bad", "changed": "warn"}


def review_document(review: Review, *, full: bool = False, is_asked: bool = False) -> Document:
    """A version as a page to review; ``is_asked`` leaves out the commands to run next."""
    page = review.page
    info, template = page.info, page.template
    tokens = f"about {info.summary.get('tokens', 0):,} tokens"
    why = f": {info.reason}" if info.reason else ""
    about = [
        template.description,
        f"{template.task_type}, {tokens}, id {info.id[:12]}",
        f"tags: {', '.join(template.tags)}" if template.tags else "",
        f"made {local_time(info.created_at)}{why}",
    ]
    blocks: list[Block] = [
        Data(partial(_list_page_fields, page)),
        *_show_newer(page),
        *_show_flags(page),
        *_show_review_changes(review),
        *show_contents(template, full=full),
        *_show_lines("Where it is from", _list_provenance(template, _Cut.choose(full=full))),
        *_show_lines("How sessions with it went", _list_record(page)),
    ]
    if not is_asked:
        blocks.append(NextSteps(_list_next(page)))
    return Document(
        title=f"{info.spec}  {info.state}{', in use' if _is_used(info) else ''}",
        about=[line for line in about if line],
        blocks=blocks,
    )


def _is_used(info: TemplateVersion) -> bool:
    return info.current and info.state is TemplateState.APPROVED


def _list_next(page: TemplatePage) -> list[tuple[str, str]]:
    info = page.info
    edit = (f"warmstart template edit {info.spec}", "keep, change or drop each lesson")
    if _is_used(info):
        test = f'warmstart template test {info.name} "MESSAGE"'
        return [(test, "what a session would start with"), edit]
    approve, why = info.review_steps[1], "let it be used"
    if page.flags:
        approve, why = f"{approve} --despite-flags", "let it be used; read the flags first"
    return [(approve, why), edit]


def _show_newer(page: TemplatePage) -> Iterator[Block]:
    """Lines about newer versions, so that nobody takes one version for another."""
    if not page.newer:
        return
    info, newest = page.info, page.newer[-1]
    shown = f"this is version {info.version}{', the one in use' if _is_used(info) else ''}"
    newer = f"version {newest.version} ({newest.state}) is newer"
    yield Text(f"{shown}; {newer}: {newest.review_steps[0]}", "warn", whole=True)
    diff = f"warmstart template diff {info.spec} {newest.spec}"
    yield Text(f"what differs: {diff}", "warn", whole=True)


def _show_flags(page: TemplatePage) -> Iterator[Block]:
    yield Text("")
    if page.evidence:
        label = f"FLAGS ({len(page.evidence)}): orders to an agent, or commands to look at first"
        yield Callout(tone="bad", label=label)
        yield from (Text(line, indent=2, hang=2) for line in page.evidence)
    else:
        yield Text("Flags: none")
    redacted = _join_counts(page.template.provenance.redactions)
    yield Text(f"Taken out by redaction: {redacted or 'nothing found'}")


def _show_review_changes(review: Review) -> Iterator[Block]:
    info = review.page.info
    if review.problem:
        yield Callout(tone="warn", label="cannot be compared", content=review.problem)
    if review.replaces is not None:
        total = count_changes(review.changes) or "nothing that an agent is taught"
        yield Heading(f"What changes against {review.replaces.spec}, the one in use: {total}")
        yield from show_changes(review.changes[:MAX_CHANGES])
        more = len(review.changes) - MAX_CHANGES
        if more > 0:
            diff = f"warmstart template diff {review.replaces.spec} {info.spec}"
            yield Text(f"and {more} more: {diff}", "muted")
    elif not _is_used(info) and not review.problem:
        yield Text("No version of it is in use, so all of it is new.")


def show_changes(changes: Iterable[Change]) -> Iterator[Block]:
    """One line for each change, and both texts of a changed value below it."""
    for change in changes:
        head = f"{SIGNS[change.kind]} {change.section} {one_line(change.what)}".rstrip()
        yield Text(head, TONES[change.kind], hang=2)
        if change.kind == "changed":
            yield Text(f"was {one_line(change.before)}", indent=4, hang=4)
            yield Text(f"is  {one_line(change.after)}", indent=4, hang=4)


def change_fields(change: Change) -> dict[str, str]:
    """A change for machines."""
    return {
        "kind": str(change.kind),
        "section": change.section,
        "what": change.what,
        "before": change.before,
        "after": change.after,
    }


def diff_document(found: TemplateDiff) -> Document:
    """What differs between two versions, pattern by pattern."""
    sides = {
        side: {"name": info.name, "version": info.version, "id": info.id}
        for side, info in (("old", found.old), ("new", found.new))
    }
    total = count(len(found.changes), "change")
    return Document(
        title="",
        blocks=[
            *show_changes(found.changes),
            Text(f"{total} from {found.old.spec} to {found.new.spec}", "muted"),
        ],
        data={
            "schema_version": SCHEMA_VERSION,
            **sides,
            "changes": [change_fields(change) for change in found.changes],
        },
    )


def trial_document(trial: TemplateTrial) -> Document:
    """Exactly what a session would start with: the text, or JSON with line breaks."""
    info, warmup, content = trial.info, trial.warmup, trial.content
    text = content
    if not isinstance(content, str):
        from warmstart.wire import encode_json  # noqa: PLC0415 - not for texts

        text = encode_json(content, indent=True).decode()
        text = "".join(letter if _is_plain(letter) else f"\\u{ord(letter):04x}" for letter in text)
    return Document(
        title="",
        blocks=[Text(text, whole=True)],
        data={
            "schema_version": SCHEMA_VERSION,
            "template": info.name,
            "version": info.version,
            "state": str(info.state),
            "id": info.id,
            "form": trial.form,
            "tokens": warmup.tokens,
            "parts": list(warmup.parts),
            "left_out": list(warmup.left_out),
            "rendered": content,
        },
    )


def _is_plain(letter: str) -> bool:
    """Whether JSON may hold a character as it is: no terminal obeys it."""
    return letter == "\n" or letter.isprintable() or ord(letter) > MAX_ESCAPED


def describe_trial(trial: TemplateTrial, budget: int, *, details: bool = False) -> list[str]:
    """What it costs, what is in it, and what is not: counted by reason, or one by one."""
    parts, left_out = trial.warmup.parts, trial.warmup.left_out
    kinds = Counter(part.partition(":")[0] for part in parts)
    used = ", ".join(parts) if details else _join_counts(kinds)
    lines = [f"{trial.warmup.tokens:,} tokens of {budget:,}; used: {used or '-'}"]
    if details:
        return [*lines, *(f"left out: {reason}" for reason in left_out)]
    return [*lines, *_sum_left_out(left_out)]


def _sum_left_out(left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        reasons = Counter(reason.partition(": ")[2] or reason for reason in left_out)
        each = [f"{reason} ({number:,})" for reason, number in reasons.most_common()]
        words = "; ".join(each if len(each) > 1 else reasons)
        yield f"left out: {count(len(left_out), 'part')}: {words}; --details lists them"


def _list_page_fields(page: TemplatePage) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        **version_fields(page.info),
        "path": str(page.path),
        "flags": list(page.flags),
        "evidence": list(page.evidence),
        "newer": [{"version": one.version, "state": str(one.state)} for one in page.newer],
        "records": [
            {
                "model": row.model, "arm": str(row.arm), "uses": row.uses,
                "successes": row.successes, "failures": row.failures, "calls": row.calls,
                "errors": row.errors,
            }
            for row in page.records
        ],
        "verdicts": [
            {
                "model": verdict.model, "text": verdict.text, "numbers": dict(verdict.numbers),
                "decided_at": iso_time(verdict.decided_at),
            }
            for verdict in page.verdicts
        ],
        "template": template_to_dict(page.template),
    }  # fmt: skip


def show_contents(template: Template, *, full: bool = False) -> Iterator[Block]:
    """What a template teaches; sections with nothing in them are left out."""
    cut = _Cut.choose(full=full)
    yield from _show_lines("What it says first", cut.lines(template.system_context))
    yield from _show_lines(f"Advice ({len(template.guidance)})", _list_guidance(template))
    if template.examples:
        yield Heading(f"Examples ({len(template.examples)})")
        for number, example in enumerate(template.examples, 1):
            yield from _show_example(number, example, cut)
    if template.recoveries:
        yield Heading(f"Repairs ({len(template.recoveries)})")
        for number, recovery in enumerate(template.recoveries, 1):
            yield from _show_recovery(number, recovery, cut)
    yield from _show_lines("Arguments that tools are called with", _list_arguments(template))
    yield from _show_lines("The user and the surroundings", _list_surroundings(template, cut))


@dataclass(frozen=True, slots=True)
class _Cut:
    """How much of a text is shown."""

    width: int
    most: int

    @classmethod
    def choose(cls, *, full: bool) -> _Cut:
        """No limit, or what fits a page."""
        return cls(FULL, FULL) if full else cls(MAX_LINE, MAX_TEXT_LINES)

    def line(self, text: str) -> str:
        """A text as one line."""
        flat = " ".join(text[: 4 * self.width].split())
        return flat if len(flat) <= self.width else flat[: self.width - 1] + "…"

    def lines(self, text: str) -> list[str]:
        """The first lines of a text, each cut to the width of a page."""
        every = [line.rstrip() for line in text.strip().splitlines()]
        kept = [line if len(line) <= self.width else self.line(line) for line in every[: self.most]]
        more = len(every) - len(kept)
        return [*kept, f"… {count(more, 'more line')}"] if more else kept


def _show_lines(title: str, lines: Iterable[str]) -> Iterator[Block]:
    """A heading and its lines, or nothing where there are none."""
    shown = list(lines)
    if shown:
        yield Heading(title)
        yield from (Text(line, indent=2, hang=2) for line in shown)


def _list_guidance(template: Template) -> Iterator[str]:
    for line in template.guidance:
        # Advice made from statistics contains its counts.
        is_stated = not line.calls or f"of {line.calls:,})" in line.text
        seen = "" if is_stated else f"  ({line.errors:,} of {line.calls:,} calls failed)"
        yield f"{line.tool}: {line.text}{seen}"


def _show_example(number: int, example: Example, cut: _Cut) -> Iterator[Block]:
    seen = (
        f"  [{example.pattern_type}, success is {example.certainty},"
        f" {_times(example.count)} in {count(example.sessions, 'session')}]"
    )
    yield Text(
        [StyledText(f"{number}. {example.tool}", "strong"), StyledText(seen, "muted")],
        indent=2,
        hang=3,
    )
    if example.intent:
        yield _labelled("user:   ", cut.line(example.intent))
    yield _labelled("call:   ", cut.line(_write_json(example.arguments)), "code")
    yield from _show_result(cut.lines(example.result))
    if example.closing:
        yield _labelled("agent:  ", cut.line(example.closing))


def _show_result(lines: Sequence[str]) -> Iterator[Block]:
    if len(lines) == 1:
        yield _labelled("result: ", lines[0])
    elif lines:
        yield _labelled("result:", "")
        yield Excerpt("\n".join(lines), indent=7)


def _show_recovery(number: int, recovery: Recovery, cut: _Cut) -> Iterator[Block]:
    head = f"{number}. {recovery.tool} fails ({recovery.error_class})"
    worked = (
        f": {cut.line(recovery.signature)}  [worked {recovery.count:,} of {recovery.tries:,} times,"
        f" {count(recovery.sessions, 'session')}]"
    )
    yield Text([StyledText(head, "strong"), worked], indent=2, hang=3)
    yield _labelled("tried:  ", cut.line(_write_json(recovery.failed_arguments)), "code")
    yield _labelled("error:  ", cut.line(recovery.error))
    repair = f"{recovery.repaired_by} {cut.line(_write_json(recovery.arguments))}"
    yield _labelled("repair: ", repair, "code")
    if recovery.change:
        yield _labelled("change: ", cut.line(recovery.change))


def _labelled(label: str, text: str, style: str = "") -> Text:
    return Text([StyledText(label, "muted"), StyledText(text, style)], indent=5, hang=8)


def _list_arguments(template: Template) -> Iterator[str]:
    for tool in template.arguments:
        yield f"{tool.tool} ({tool.calls:,} calls): {', '.join(_list_argument_uses(tool))}"


def _list_argument_uses(tool: ToolArguments) -> Iterator[str]:
    for use in tool.arguments[:MAX_ARGUMENTS]:
        top = sorted(use.shapes.items(), key=lambda item: (-item[1], item[0]))[:MAX_SHAPES]
        shapes = "/".join(shape for shape, _ in top)
        share = f" {use.uses / tool.calls:.0%}" if tool.calls else ""
        yield f"{use.name}{share}{f' ({shapes})' if shapes else ''}"


def _list_surroundings(template: Template, cut: _Cut) -> Iterator[str]:
    user = template.user
    if user.style or user.feedback:
        parts = [
            f"writes {user.style}" if user.style else "",
            f"gives feedback {user.feedback}" if user.feedback else "",
        ]
        words = ", ".join(part for part in parts if part)
        yield f"user: {words} ({count(user.sessions, 'session')})"
    if template.preferred_tools:
        yield f"tools: {', '.join(template.preferred_tools)}"
    if template.domains:
        yield f"domains: {', '.join(template.domains)}"
    for marker in template.markers:
        yield f"{marker.kind}: {cut.line(marker.value)} ({_times(marker.uses)})"


def _list_provenance(template: Template, cut: _Cut) -> Iterator[str]:
    origin = template.provenance
    if origin.sessions or origin.calls:
        yield (
            f"{count(origin.sessions, 'session')}, {origin.messages:,} messages,"
            f" {origin.calls:,} calls, {origin.errors:,} errors"
        )
    if origin.agents:
        yield f"agents: {_join_counts(origin.agents)}"
    if origin.models:
        yield f"models: {_join_counts(origin.models)}"
    if origin.tasks:
        yield f"tasks: {cut.line(', '.join(origin.tasks))}"
    yield from (f"rule: {rule}" for rule in origin.rules)


def _list_record(page: TemplatePage) -> Iterator[str]:
    record = page.info.record
    if record.uses:
        success = describe_success(page.info)
        yield f"used {count(record.uses, 'time')}, {record.settled:,} settled, success {success}"
    else:
        yield "not used yet"
    for row in page.records:
        yield (
            f"{row.model or 'unknown model'}, {row.arm}: {row.uses:,} sessions,"
            f" {row.successes:,} succeeded, {row.failures:,} failed"
        )
    for verdict in page.verdicts:
        yield f"{local_time(verdict.decided_at)} {verdict.model}: {verdict.text}"


def _join_counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {number:,}" for name, number in ordered)


def _write_json(value: Mapping[str, object]) -> str:
    return encode_canonical(value).decode()


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
