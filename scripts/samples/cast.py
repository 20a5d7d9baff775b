"""Which sessions there are: who worked on what, when, and with which habits.

Everything below is data. Codex is the careful one here, Hermes the hasty one; these are roles in
a story, not measurements of the agents they are named after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from samples import specials, subjects, tasks
from samples.desk import Desk
from samples.steps import Scenario

DAY = 86_400.0
FIRST_DAY = 1_791_187_200.0
"""2026-10-05 08:00 UTC, a Monday; the last session is about five weeks later."""

HASTY = {
    "python": 0.2, "environment": 0.4, "cache": 0.4, "npm": 0.5, "mismatch": 0.5, "guess": 0.12,
    "lint": 0.15, "masked": 0.3, "timeout": 0.08, "usage": 0.02, "migrate": 0.35, "psql": 0.6,
    "server": 0.3, "typo": 0.9,
}  # fmt: skip
STEADY = {
    "python": 0.15, "environment": 0.25, "cache": 0.3, "npm": 0.4, "mismatch": 0.32, "guess": 0.1,
    "lint": 0.12, "masked": 0.4, "timeout": 0.05, "usage": 0.01, "migrate": 0.25, "psql": 0.5,
    "server": 0.2, "typo": 0.2,
}  # fmt: skip
CAREFUL = {
    "environment": 0.15, "cache": 0.15, "mismatch": 0.05, "guess": 0.04, "masked": 0.1,
    "psql": 0.2, "server": 0.1,
}  # fmt: skip
HABITS = {
    "claude_code": {**STEADY, "unread": 0.08}, "hermes": HASTY, "codex": CAREFUL,
    "gemini": STEADY, "openai_chat": STEADY,
}  # fmt: skip
MODELS = {
    "claude_code": "claude-sonnet-4-5", "hermes": "hermes-4-70b", "codex": "gpt-5-codex",
    "gemini": "gemini-2.5-pro", "openai_chat": "gpt-4.1",
}  # fmt: skip


class Plan(NamedTuple):
    """One session to be played: ``work`` names tasks as ``kind:subject``."""

    agent: str
    project: str
    day: float
    work: str
    title: str
    traits: dict[str, str] = {}  # noqa: RUF012 - never written to


PLANS = (
    Plan("claude_code", "shop-api", 0.05, "fix:rounding", "Fix rounding of totals"),
    Plan("claude_code", "shop-api", 1.1, "endpoint:recent", "Add recent orders"),
    Plan("claude_code", "shop-api", 2.2, "rename:cust_id endpoint:open", "Rename cust_id"),
    Plan("claude_code", "shop-api", 3.1, "migrate:note", "Migration for order notes"),
    Plan("claude_code", "shop-api", 7.05, "slow:orders reject", "Slow orders by customer"),
    Plan("claude_code", "invoice-worker", 8.2, "fix:backoff", "Fix retry backoff"),
    Plan("claude_code", "invoice-worker", 9.3, "fix:pages rename:tries remote", "Lost lines"),
    Plan("claude_code", "docs-site", 10.1, "docs:orders", "Document status filter"),
    Plan("claude_code", "docs-site", 14.1, "docs:config docs:start", "Bring docs up to date"),
    Plan("claude_code", "shop-api", 15.0,
         "endpoint:recent rename:cust_id compact migrate:paid_at fix:shipping slow:orders rebase",
         "Orders clean-up"),
    Plan("claude_code", "shop-api", 17.2,
         "env fix:discount endpoint:failed migrate:locale rename:ship_addr rebase",
         "Customer work"),
    Plan("claude_code", "invoice-worker", 18.1, "explain:retry", "How retries work"),
    Plan("claude_code", "shop-api", 22.2, "cascade interrupt", "Pricing modules"),
    Plan("claude_code", "shop-api", 23.1, "delegate reset", "N+1 check"),
    Plan("claude_code", "invoice-worker", 28.2, "fix:names down rename:lines", "Invoice names"),
    Plan("claude_code", "shop-api", 30.1, "migrate:vat_id endpoint:open", "VAT ids"),
    Plan("hermes", "shop-api", 0.2, "fix:discount", "Discount bug"),
    Plan("hermes", "shop-api", 2.05, "endpoint:failed", "Failed orders route"),
    Plan("hermes", "shop-api", 4.1,
         "rename:cust_id migrate:note compact fix:shipping endpoint:open", "Order fields",
         {"end_reason": "cli_close"}),
    Plan("hermes", "invoice-worker", 7.2,
         "fix:backoff rename:tries loop fix:pages research rename:lease", "Worker week",
         {"end_reason": "compression"}),
    Plan("hermes", "invoice-worker", 7.4, "fix:names dump", "Worker week #2",
         {"parent": "Worker week", "link": "compression", "end_reason": "agent_close"}),
    Plan("hermes", "shop-api", 9.1, "slow:orders delegate", "Slow customer page"),
    Plan("hermes", "shop-api", 11.2, "migrate:locale reject", "Customer locale",
         {"end_reason": "branched"}),
    Plan("hermes", "shop-api", 11.3, "endpoint:vips", "Customer locale, other way",
         {"parent": "Customer locale", "link": "branch", "end_reason": "cli_close"}),
    Plan("hermes", "shop-api", 16.1, "greet", "Greeting", {"source": "telegram"}),
    Plan("hermes", "invoice-worker", 18.3, "explain:retry fix:backoff open", "Backup"),
    Plan("hermes", "docs-site", 21.1, "docs:start docs:orders", "Docs links"),
    Plan("hermes", "shop-api", 24.1,
         "reset fix:rounding env migrate:paid_at endpoint:recent", "Release work",
         {"end_reason": "cli_close"}),
    Plan("hermes", "invoice-worker", 29.2, "research fix:pages loop", "PDF upgrade"),
    Plan("codex", "shop-api", 3.3, "fix:shipping", "Free shipping", {"mode": "legacy"}),
    Plan("codex", "docs-site", 8.05, "docs:orders rename:docs_cust", "Orders page",
         {"mode": "legacy", "packed": "zst"}),
    Plan("codex", "invoice-worker", 13.1, "fix:pages rename:lines", "Pages"),
    Plan("codex", "shop-api", 20.2, "endpoint:recent migrate:note interrupt", "Recent orders"),
    Plan("codex", "shop-api", 25.1,
         "rename:cust_id slow:orders fix:rounding compact endpoint:vips migrate:paid_at",
         "Autumn clean"),
    Plan("codex", "invoice-worker", 31.1, "explain:retry fix:names", "File names"),
    Plan("gemini", "docs-site", 6.1, "docs:config explain:limits", "Configuration page"),
    Plan("gemini", "shop-api", 27.1, "fix:rounding rename:discount_pct", "Rounding"),
    Plan("openai_chat", "shop-api", 5.1, "fix:discount", "chat-1"),
    Plan("openai_chat", "invoice-worker", 12.1, "fix:backoff", "chat-2"),
    Plan("openai_chat", "shop-api", 19.1, "explain:money", "chat-3"),
    Plan("openai_chat", "shop-api", 26.1, "rename:ship_addr", "chat-4"),
)  # fmt: skip

SPECIALS: dict[str, Callable[[Desk], None]] = {
    "cascade": specials.cascade,
    "compact": specials.compact,
    "delegate": specials.delegate,
    "down": specials.endpoint_down,
    "dump": specials.dump_log,
    "env": specials.read_env,
    "greet": specials.greet,
    "interrupt": specials.interrupt,
    "loop": specials.loop,
    "open": specials.leave_open,
    "rebase": specials.rebase,
    "reject": specials.reject,
    "remote": specials.read_remote,
    "research": specials.research,
    "reset": specials.reset_data,
}


def play(plan: Plan) -> Scenario:
    """Act out a plan at a simulated desk."""
    key = f"{plan.agent}/{plan.title}"
    desk = Desk(plan.project, key, HABITS[plan.agent], cuts_lines=plan.agent == "hermes")
    branch = plan.title.lower().replace(" ", "-").replace(",", "")
    for name in plan.work.split():
        _work(desk, name, branch)
    return Scenario(
        key=key,
        title=plan.title,
        project=plan.project,
        branch=branch,
        model=MODELS[plan.agent],
        started=FIRST_DAY + plan.day * DAY,
        steps=tuple(desk.steps),
        traits=plan.traits,
    )


def _work(desk: Desk, name: str, branch: str) -> None:
    kind, _, subject = name.partition(":")
    if kind in SPECIALS:
        SPECIALS[kind](desk)
    elif kind == "fix":
        tasks.fix_test(desk, subjects.BUGS[subject], branch)
    elif kind == "rename":
        tasks.rename_field(desk, subjects.FIELDS[subject], branch)
    elif kind == "endpoint":
        tasks.add_endpoint(desk, subjects.ENDPOINTS[subject], branch)
    elif kind == "migrate":
        tasks.write_migration(desk, subjects.COLUMNS[subject], branch)
    elif kind == "slow":
        tasks.find_slow_query(desk, subject, branch)
    elif kind == "docs":
        tasks.update_docs(desk, subjects.PAGES[subject], branch)
    elif kind == "explain":
        tasks.explain_code(desk, subjects.QUESTIONS[subject])
    else:
        raise ValueError(f"no such work: {name}")


def play_all(agent: str) -> list[Scenario]:
    """Every session of one agent."""
    return [play(plan) for plan in PLANS if plan.agent == agent]
