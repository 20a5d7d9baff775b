"""The key formats of vendors that are known by their own letters.

A rule is found by one of its marks, fixed letters at its beginning, and then has to match as a
whole. Lengths are lower bounds on purpose: a key cut short or grown longer is still a key. Formats
are facts published by the vendors and by open rule sets; the expressions are written for ``re``
and run in linear time.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import NamedTuple

_ALNUM = "[A-Za-z0-9]"
_WORD = "[A-Za-z0-9_-]"
_HEX = "[0-9a-fA-F]"
_UUID = f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_EDGE = r"(?<![A-Za-z0-9].)"
"""After a first character: nothing of a word stands before it. A class first is found faster."""


class Edge(Enum):
    """Whether a letter or digit may stand right before a key, as in ``tokenAKIA…``."""

    ANY = "any"
    """The mark tells enough wherever it stands."""
    MIXED = "mixed"
    """The mark could be the middle of a word: then the rest has to look drawn at random."""
    ALONE = "alone"
    """The mark is common inside words, or inside encoded data where everything looks random."""


class Rule(NamedTuple):
    """One key format."""

    kind: str
    marks: tuple[str, ...]
    expression: str
    edge: Edge

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when its mark is first met: few are, and all of them cost 30 ms."""
        return _compile(self.expression)


@cache
def _compile(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _rule(kind: str, marks: str, rest: str, *, edge: Edge = Edge.ANY) -> Rule:
    """A rule whose marks are followed by ``rest``."""
    words = tuple(marks.split())
    body = "|".join(map(re.escape, words))
    return Rule(kind, words, f"(?:{body}){rest}", edge)


RULES: tuple[Rule, ...] = (
    # Code hosts
    _rule("github_pat", "ghp_", f"{_ALNUM}{{20,255}}"),
    _rule("github_fine_grained", "github_pat_", "[A-Za-z0-9_]{22,255}"),
    _rule("github_oauth", "gho_", f"{_ALNUM}{{20,255}}"),
    _rule("github_app", "ghu_ ghs_", "[A-Za-z0-9_.-]{20,1024}", edge=Edge.MIXED),
    _rule("github_refresh", "ghr_", f"{_ALNUM}{{20,255}}"),
    _rule("gitlab_pat", "glpat-", r"[A-Za-z0-9_.-]{16,300}"),
    _rule("gitlab_token", "gldt- glrt- glptt- glft- glcbt- glsoat- gloas- glimt- glagent- glffct- "
          "GR1348941", r"[A-Za-z0-9_.-]{16,300}"),
    _rule("bitbucket", "ATBB", f"{_ALNUM}{{24,}}", edge=Edge.MIXED),
    _rule("atlassian", "ATATT3 ATCTT3 ATSTT3", "[A-Za-z0-9_=-]{60,}"),
    _rule("trello", "ATTA", f"{_ALNUM}{{60,}}", edge=Edge.MIXED),
    # Clouds
    _rule("aws_access_key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}(?![A-Za-z0-9])",
          edge=Edge.MIXED),
    # Glued: after a small letter the change of case tells, after any other a digit must.
    _rule("aws_access_key", "AKIA ASIA ABIA ACCA",
          r"(?<![A-Z0-9].{4})[A-Z0-9]{16}(?![A-Z0-9])"),
    _rule("aws_access_key", "AKIA", r"(?=[A-Z]{0,15}\d)[A-Z0-9]{16}(?![A-Z0-9])"),
    _rule("aws_bedrock", "ABSK", "[A-Za-z0-9+/]{100,}={0,2}", edge=Edge.MIXED),
    _rule("aws_session_token", "IQoJb3JpZ2lu FwoGZXIvYXdz", "[A-Za-z0-9+/=%]{60,}"),
    _rule("aws_mws", "amzn.mws.", _UUID),
    _rule("gcp_api_key", "AIza", f"{_WORD}{{30,45}}", edge=Edge.MIXED),
    _rule("gcp_oauth", "ya29.", f"{_WORD}{{20,}}", edge=Edge.MIXED),
    _rule("gcp_client_secret", "GOCSPX-", f"{_WORD}{{20,}}"),
    _rule("gcp_refresh_token", "1//0", f"{_WORD}{{40,}}", edge=Edge.MIXED),
    _rule("digitalocean", "dop_v1_ doo_v1_ dor_v1_", f"{_HEX}{{40,}}"),
    _rule("alibaba", "LTAI", f"{_ALNUM}{{16,24}}(?!{_ALNUM})", edge=Edge.MIXED),
    _rule("tencent", "AKID", f"{_ALNUM}{{32}}(?!{_ALNUM})", edge=Edge.MIXED),
    _rule("cloudflare_origin_ca", "v1.0-", f"{_HEX}{{24}}-{_HEX}{{100,}}"),
    _rule("cloudflare", "cfut_ cfat_ cfk_", f"{_ALNUM}{{30,}}"),
    _rule("flyio", "fo1_ fm1a_ fm1r_ fm2_", "[A-Za-z0-9_+/=-]{40,}", edge=Edge.MIXED),
    _rule("render", "rnd_", f"{_ALNUM}{{24,}}", edge=Edge.MIXED),
    _rule("heroku", "HRKU-", f"{_WORD}{{30,}}"),
    _rule("netlify", "nfp_ nfc_ nfo_ nfu_", f"{_ALNUM}{{30,}}", edge=Edge.MIXED),
    _rule("vercel", "vercel_blob_rw_", "[A-Za-z0-9]{8,}_[A-Za-z0-9]{16,}"),
    _rule("vercel", "vercel_ vcp_ vci_ vca_ vcr_ vck_", f"{_ALNUM}{{20,}}", edge=Edge.MIXED),
    _rule("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9=_.-]{24,}"),
    _rule("supabase", "sbp_ sb_secret_", f"{_WORD}{{30,}}", edge=Edge.MIXED),
    _rule("neon", "napi_", f"{_ALNUM}{{40,}}", edge=Edge.MIXED),
    _rule("databricks", "dapi", f"{_HEX}{{32}}(?:-\\d)?"),
    _rule("openshift", "sha256~", f"{_WORD}{{43}}"),
    # Models and their tools
    _rule("anthropic", "sk-ant-", f"{_WORD}{{20,}}"),
    _rule("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", f"{_WORD}{{20,}}"),
    _rule("openrouter", "sk-or-", f"{_WORD}{{32,}}"),
    _rule("langfuse", "sk-lf-", f"{_WORD}{{30,}}"),
    _rule("openai", "sk-", f"{_ALNUM}{{20,}}(?:[_-]{_WORD}+)?", edge=Edge.ALONE),
    _rule("openai", "sk-", f"{_ALNUM}{{20}}T3BlbkFJ{_ALNUM}{{16,}}"),
    _rule("openai_session", "sess-", f"{_ALNUM}{{36,}}", edge=Edge.MIXED),
    _rule("huggingface", "hf_ api_org_", f"{_ALNUM}{{30,}}"),
    _rule("groq", "gsk_", f"{_ALNUM}{{40,}}", edge=Edge.MIXED),
    _rule("xai", "xai-", f"{_ALNUM}{{60,}}", edge=Edge.MIXED),
    _rule("perplexity", "pplx-", f"{_ALNUM}{{40,}}", edge=Edge.MIXED),
    _rule("replicate", "r8_", f"{_ALNUM}{{32,}}", edge=Edge.MIXED),
    _rule("fireworks", "fw_", f"{_ALNUM}{{22,}}", edge=Edge.MIXED),
    _rule("tavily", "tvly-", f"{_WORD}{{24,}}"),
    _rule("langsmith", "lsv2_pt_ lsv2_sk_", "[A-Za-z0-9_]{32,}"),
    _rule("pinecone", "pcsk_", "[A-Za-z0-9_]{40,}"),
    _rule("nvidia", "nvapi-", f"{_WORD}{{40,}}"),
    _rule("cerebras", "csk-", f"{_ALNUM}{{40,}}", edge=Edge.MIXED),
    _rule("jina", "jina_", f"{_WORD}{{40,}}", edge=Edge.MIXED),
    _rule("firecrawl", "fc-", f"{_HEX}{{32}}", edge=Edge.MIXED),
    _rule("e2b", "e2b_", f"{_HEX}{{40}}", edge=Edge.MIXED),
    _rule("elevenlabs", "sk_", f"{_HEX}{{40,}}", edge=Edge.MIXED),
    # Chat and mail
    _rule("slack_bot", "xoxb-", f"{_WORD}{{16,}}"),
    _rule("slack_user", "xoxp- xoxe- xoxs- xoxa- xoxo- xoxr- xoxe.", r"[A-Za-z0-9._-]{16,}"),
    _rule("slack_app", "xapp-", f"{_WORD}{{16,}}"),
    _rule("slack_webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[\w/+-]{20,}"),
    _rule("discord_webhook", "discord.com/api/ discordapp.com/api/",
          r"(?:v\d{1,2}/)?webhooks/\d{15,21}/[\w-]{40,}"),
    _rule("teams_webhook", "webhook.office.com/webhook outlook.office.com/webhook",
          r"b?2?/[\w@./-]{60,}"),
    _rule("sendgrid", "SG.", r"[\w-]{16,32}\.[\w-]{32,64}"),
    _rule("mailgun", "key-", f"{_HEX}{{32}}(?!{_ALNUM})", edge=Edge.MIXED),
    _rule("resend", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", edge=Edge.ALONE),
    _rule("brevo", "xkeysib- xsmtpsib-", f"{_HEX}{{40,}}(?:-{_ALNUM}{{10,}})?"),
    _rule("twilio", "SK", f"{_HEX}{{32}}(?!{_ALNUM})", edge=Edge.MIXED),
    _rule("intercom", "dG9rOj", "[A-Za-z0-9+/=]{40,}", edge=Edge.ALONE),
    # Packages
    _rule("npm", "npm_", f"{_ALNUM}{{30,}}"),
    _rule("pypi", "pypi-AgE", f"{_WORD}{{40,}}"),
    _rule("ruby_gem", "rubygems_", f"{_HEX}{{40,}}"),
    _rule("crates", "cio", f"{_ALNUM}{{32}}(?!{_ALNUM})", edge=Edge.MIXED),
    _rule("docker_hub", "dckr_pat_ dckr_oat_", f"{_WORD}{{20,}}"),
    _rule("clojars", "CLOJARS_", "[A-Za-z0-9]{50,}"),
    _rule("nuget", "oy2", "[a-z0-9]{43}(?![A-Za-z0-9])", edge=Edge.MIXED),
    _rule("artifactory", "AKCp", f"{_ALNUM}{{60,}}", edge=Edge.MIXED),
    _rule("artifactory", "cmVmd", f"{_ALNUM}{{59}}(?!{_ALNUM})", edge=Edge.ALONE),
    # Money and shops
    _rule("stripe", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_", f"{_ALNUM}{{10,}}"),
    _rule("stripe_webhook", "whsec_", "[A-Za-z0-9+/]{24,}={0,2}"),
    _rule("shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", f"{_HEX}{{32,}}"),
    _rule("square", "sq0atp- sq0csp- sq0idp-", f"{_WORD}{{20,}}"),
    _rule("square", "EAAA", f"{_WORD}{{56,64}}(?!{_WORD})", edge=Edge.ALONE),
    _rule("braintree", "access_token$", rf"(?:production|sandbox)\$[a-z0-9]{{16}}\${_HEX}{{32}}"),
    _rule("plaid", "access-sandbox- access-development- access-production-", _UUID),
    _rule("easypost", "EZAK EZTK", f"{_ALNUM}{{50,}}", edge=Edge.MIXED),
    _rule("flutterwave", "FLWSECK-  FLWSECK_TEST-", f"{_ALNUM}{{12,}}(?:-X)?"),
    _rule("shippo", "shippo_live_ shippo_test_", f"{_HEX}{{32,}}"),
    _rule("duffel", "duffel_live_ duffel_test_", "[A-Za-z0-9_=-]{30,}"),
    # Watching and running
    _rule("newrelic", "NRAK- NRJS- NRII- NRRA- NRBR-", f"{_WORD}{{16,}}"),
    _rule("sentry", "sntrys_ sntryu_", "[A-Za-z0-9_+/=-]{40,}"),
    _rule("grafana", "glsa_ glc_", "[A-Za-z0-9_+/=-]{30,}", edge=Edge.MIXED),
    _rule("grafana", "eyJrIjoi", "[A-Za-z0-9+/=_-]{50,}", edge=Edge.ALONE),
    _rule("dynatrace", "dt0c01. dt0s16.", r"[A-Za-z0-9.]{40,}"),
    _rule("launchdarkly", "sdk- api-", f"{_UUID}", edge=Edge.MIXED),
    _rule("postman", "PMAK-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    _rule("sonar", "sqp_ squ_ sqa_", f"{_HEX}{{40}}", edge=Edge.MIXED),
    _rule("circleci", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{40,}"),
    _rule("buildkite", "bkua_ bkaj_", f"{_ALNUM}{{32,}}", edge=Edge.MIXED),
    _rule("tailscale", "tskey-", f"{_WORD}{{16,}}"),
    _rule("snyk", "snyk_uat. snyk_sat.", rf"{_HEX}{{8}}\.{_WORD}{{20,}}"),
    _rule("posthog", "phx_", f"{_ALNUM}{{32,}}"),
    _rule("vault", "hvs. hvb. hvr.", f"{_WORD}{{20,}}"),
    _rule("pulumi", "pul-", f"{_HEX}{{32,}}", edge=Edge.MIXED),
    _rule("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.",
          r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{30,}"),
    _rule("infracost", "ico-", f"{_ALNUM}{{32}}(?!{_ALNUM})", edge=Edge.MIXED),
    _rule("prefect", "pnu_ pnb_", f"{_ALNUM}{{30,}}", edge=Edge.MIXED),
    _rule("onepassword", "ops_eyJ", "[A-Za-z0-9+/=_-]{60,}"),
    _rule("onepassword", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})"
          r"(?:-[A-Z0-9]{5}){3}", edge=Edge.MIXED),
    _rule("sourcegraph", "sgp_", "[A-Za-z0-9_]{40,}", edge=Edge.MIXED),
    _rule("harness", "pat. sat.", rf"{_WORD}{{22}}\.[0-9a-f]{{24}}\.[A-Za-z0-9]{{20}}",
          edge=Edge.MIXED),
    # Work and content
    _rule("linear", "lin_api_ lin_oauth_", f"{_ALNUM}{{30,}}"),
    _rule("notion", "ntn_", f"{_ALNUM}{{40,}}", edge=Edge.MIXED),
    _rule("notion", "secret_", f"{_ALNUM}{{40,}}", edge=Edge.MIXED),
    _rule("figma", "figd_ figo_ figu_", f"{_WORD}{{30,}}"),
    _rule("airtable", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}", edge=Edge.MIXED),
    _rule("hubspot", "pat-na1- pat-eu1- pat-na2- pat-ap1-", _UUID),
    _rule("contentful", "CFPAT-", f"{_WORD}{{40,}}"),
    _rule("typeform", "tfp_", r"[A-Za-z0-9_.=-]{50,}", edge=Edge.MIXED),
    _rule("readme", "rdme_", "[a-z0-9]{60,}", edge=Edge.MIXED),
    _rule("dropbox", "sl.", r"(?:u\.)?[A-Za-z0-9_=-]{100,}", edge=Edge.MIXED),
    _rule("facebook", "EAAM EAAC EAAB EAAG", f"{_ALNUM}{{80,}}", edge=Edge.ALONE),
    _rule("mapbox", "sk.eyJ", r"[\w-]{20,}\.[\w-]{16,}", edge=Edge.MIXED),
    _rule("adobe", "p8e-", f"{_ALNUM}{{32}}", edge=Edge.MIXED),
    _rule("frameio", "fio-u-", "[A-Za-z0-9=_-]{50,}"),
    _rule("twitter", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{40,160}", edge=Edge.ALONE),
    # Keys and tokens of no vendor
    _rule("age", "AGE-SECRET-KEY-1", "[A-Za-z0-9]{50,}"),
    _rule("jwt", "eyJ", r"[\w-]{8,4096}\.[\w-]{0,8192}(?:\.[\w-]{8,4096}){1,3}", edge=Edge.ALONE),
    _rule("jwt", "eyJ", r"[\w-]{8,4096}\.eyJ[\w-]{16,8192}(?:\.[\w-]{8,4096})?"),
)  # fmt: skip


class Inner(NamedTuple):
    """A format whose fixed letters stand inside it: searched in a window around them."""

    kind: str
    mark: str
    back: int
    ahead: int
    pattern: re.Pattern[str]


INNER_RULES: tuple[Inner, ...] = (
    Inner("telegram", ":AA", 20, 56, re.compile(rf"\d{{6,20}}:AA{_WORD}{{30,50}}")),
    Inner("telegram", "/bot", 0, 70, re.compile(rf"(?<=/bot)\d{{6,10}}:{_WORD}{{30,40}}")),
    Inner("azure_client_secret", "Q~", 5, 48,
          re.compile(r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{28,40}")),
    Inner("mailchimp", "-us", 33, 8,
          re.compile(rf"(?<!{_HEX}){_HEX}{{32}}-us\d{{1,2}}(?!{_ALNUM})")),
    Inner("terraform", ".atlasv1.", 20, 120,
          re.compile(rf"{_ALNUM}{{10,20}}\.atlasv1\.[A-Za-z0-9=_-]{{50,80}}")),
    Inner("asana", "1/", 1, 56, re.compile(rf"(?<![\w/])1/\d{{16}}:{_HEX}{{32}}")),
)  # fmt: skip


class Loose(NamedTuple):
    """A format with no fixed letters; a sign that must stand in it twice is telling enough."""

    kind: str
    sign: str
    pattern: re.Pattern[str]


LOOSE_RULES: tuple[Loose, ...] = (
    Loose("discord_bot", ".",
          re.compile(rf"[MNO]{_EDGE}{_WORD}{{22,27}}\.{_WORD}{{6}}\.{_WORD}{{27,40}}")),
    Loose("mailgun", "-",
          re.compile(rf"{_HEX}{_EDGE}{_HEX}{{31}}-{_HEX}{{8}}-{_HEX}{{8}}(?![\w-])")),
)  # fmt: skip

LONG_KINDS = frozenset({"jwt"})
"""Formats whose beginning alone does not match."""
VENDOR_KINDS = tuple(
    dict.fromkeys(
        [rule.kind for rule in RULES]
        + [inner.kind for inner in INNER_RULES]
        + [loose.kind for loose in LOOSE_RULES]
    )
)


_FIRST_COUNT = re.compile(r"^(?P<rest>[^(){}]*\{)(?P<least>\d+)(?:,\d*)?\}")


def _look_ahead(mark: str) -> str:
    """What must follow a mark for one of its rules: the least of its first characters."""
    looks = set()
    for rule in RULES:
        if mark in rule.marks:
            rest = rule.expression.partition(")")[2]
            count = _FIRST_COUNT.match(rest)
            looks.add(f"{count['rest']}{count['least']}}}" if count else "")
    return "" if "" in looks else f"(?={'|'.join(sorted(looks))})"


def _trie_pattern(words: tuple[str, ...], before: str = "") -> str:
    """One expression for many fixed strings, sharing their beginnings; longest match first."""
    branches: dict[str, list[str]] = {}
    for word in words:
        if word:
            branches.setdefault(word[0], []).append(word[1:])
    parts = [
        re.escape(first) + _trie_pattern(tuple(dict.fromkeys(rests)), before + first)
        for first, rests in branches.items()
    ]
    if "" in words:
        parts.append(_look_ahead(before))
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


@cache
def marks() -> re.Pattern[str]:
    """Finds the mark of any rule that may match there; the longest where one begins another."""
    return re.compile(_trie_pattern(tuple(dict.fromkeys(m for rule in RULES for m in rule.marks))))


def _rules_by_mark() -> dict[str, tuple[Rule, ...]]:
    """For every mark, the rules that may begin there: its own and those of its beginnings."""
    own: dict[str, list[int]] = {}
    for index, rule in enumerate(RULES):
        for mark in rule.marks:
            own.setdefault(mark, []).append(index)
    found = {}
    for mark in own:
        beginnings = (mark[:length] for length in range(1, len(mark) + 1))
        numbers = {index for beginning in beginnings for index in own.get(beginning, ())}
        found[mark] = tuple(RULES[index] for index in sorted(numbers))
    return found


RULES_BY_MARK = _rules_by_mark()
