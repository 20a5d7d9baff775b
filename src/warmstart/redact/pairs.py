"""Names that announce a secret, and the value beside them.

``password=…``, ``"api_key": "…"``, ``TOKEN: …``, ``--secret …``, ``<password>…</password>``,
``define('DB_PASSWORD', '…')``: the name is found by a fixed word in it, the rest by one expression
that starts there. Reading the decoded view makes JSON inside JSON the same case as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from warmstart.redact.span import Span
from warmstart.redact.values import (
    MIN_VALUE_LENGTH,
    Strength,
    is_digest_or_uuid,
    is_random,
    is_secret_value,
)
from warmstart.redact.views import View

RANK = 2
MAX_NAME = 128
_ROOTS = ("pass", "pwd", "secret", "token", "key", "auth", "cred", "session", "sid", "jwt",
          "webhook", "signature", "sig=", "dsn", "pat=")  # fmt: skip
"""Every telling name has one of these in it."""
_NAMED: tuple[tuple[re.Pattern[str], str, Strength], ...] = (
    (re.compile(r"passw|passphrase|pwd|pass(?![a-z])"), "password", Strength.PASSWORD),
    (re.compile(r"secret"), "secret", Strength.STRONG),
    (re.compile(r"token|(?<![a-z])pat(?![a-z])"), "token", Strength.STRONG),
    (re.compile(r"(?:api|app|application|subscription)[-_. ]?key"), "api_key", Strength.STRONG),
    (re.compile(r"(?:access|account)[-_.]?key"), "access_key", Strength.STRONG),
    (re.compile(r"private[-_.]?key"), "private_key", Strength.STRONG),
    (re.compile(r"auth[-_.]?key"), "auth_key", Strength.STRONG),
    (re.compile(r"(?:encryption|signing|master|license)[-_.]?key"), "key", Strength.STRONG),
    (re.compile(r"credential"), "credential", Strength.STRONG),
    (re.compile(r"key"), "key", Strength.WEAK),
    (re.compile(r"auth|jwt|cred"), "auth", Strength.WEAK),
    (re.compile(r"session|sid|signature|sig"), "session", Strength.WEAK),
    (re.compile(r"webhook|dsn"), "secret", Strength.WEAK),
)
_VENDORS = (
    "aws", "azure", "gcp", "google", "heroku", "netlify", "vercel", "cloudflare", "fastly",
    "datadog", "newrelic", "new_relic", "sentry", "grafana", "algolia", "asana", "airtable",
    "twilio", "okta", "auth0", "mailgun", "mailchimp", "postmark", "sendgrid", "paypal",
    "braintree", "square", "shopify", "stripe", "dropbox", "discord", "telegram", "slack",
    "snyk", "codecov", "circleci", "travis", "gitlab", "github", "bitbucket", "jira", "atlassian",
    "confluent", "cohere", "mistral", "together", "openai", "anthropic", "deepseek", "wandb",
    "supabase", "firebase", "mapbox", "plaid", "zendesk", "hubspot", "linkedin", "facebook",
    "twitter", "pagerduty", "rollbar", "bugsnag", "honeycomb", "segment", "mixpanel", "amplitude",
    "pusher", "ably", "contentful", "digitalocean", "linode", "vultr", "hetzner", "railway",
    "planetscale", "mongodb", "elastic", "opsgenie", "splunk", "sonar", "artifactory", "nuget",
    "coinbase", "binance", "etsy", "trello", "clickup", "monday", "typeform", "calendly",
    "dd_", "ngrok", "tavily", "serpapi", "brave", "pinecone", "qdrant", "weaviate",
)  # fmt: skip
_TAIL = r"[\w.\-]{0,48}"
_WHOLE_TAIL = _TAIL + "+"  # possessive: what follows cannot begin with a character of a name
_VALUE = (
    r"(?:[bBrRuU]?\"(?P<double>[^\"\r\n\ue000]{1,4096})\""
    r"|[bBrRuU]?'(?P<single>[^'\r\n\ue000]{1,4096})'"
    r"|`(?P<tick>[^`\r\n\ue000]{1,4096})`"
    r"|[\"'`]?(?P<bare>[^\s\"'`,;<>(){}\[\]|\ue000]{1,4096})(?P<next>[(\[{]?))"
)
_ASSIGN = re.compile(
    _WHOLE_TAIL + r"[\"'`\])]{0,3}[ \t]{0,8}"
    r"(?:(?::[ \t]?(?:str|string|String|bytes|Optional\[str\])[ \t]?)?(?:={1,3}>?|:=|\?=)"
    r"|:{1,2}(?![=/])|=>|[ \t]is:?[ \t]|\|)[ \t]{0,8}" + _VALUE
)
_LOOSE = re.compile(
    _TAIL + r"(?:[\"'`][ \t]{0,4},[ \t]{0,4}(?=[\"'`])|[ \t]{1,4}(?:is[ \t]|by[ \t])?"
    r"|[ \t]*>[ \t]*|[\"'`]?[ \t]*,?[ \t]*\n?[ \t]*[\"'`]?value[\"'`]?[ \t]*[:=][ \t]*)" + _VALUE,
    re.IGNORECASE,
)
_KEY_CHARACTERS = re.compile(r"[\w.\-]{0,48}")
_NOT_SECRET_NAME = re.compile(
    r"(?:^|[^a-z])(?:(?:cache|public|primary|foreign|partition|sort|idempotency|object|row|map|"
    r"dict|index|hash|unique|composite|range|dedup|ssh_host|natural|group|event|query|item|lookup|"
    r"storage|registry|config|translation|message|i18n|react|state|data|bucket|s3|file|pub|short|"
    r"hot|arrow)[_.\-]?key|max_?tokens?|tokens|"
    r"token_?(?:count|type|ids?|usage|limit|budget|url|uri|endpoint|name|length|size|s|izer|path|"
    r"file|expir\w*|hash|env|position|index|class)|"
    r"(?:secret|key|password|passwd|credential|auth|session|token|cookie|user_?pass)s?[_.\-]?"
    r"(?:id|ids|name|names|length|size|type|path|file|files|dir|url|uri|endpoint|count|hash|"
    r"digest|field|label|hint|policy|rules?|reset|version|arn|ref|prefix|algorithm|store|ring|"
    r"code|board|word|words|frame|press|down|up|chain|provider|method|mode|state|"
    r"error|expir\w*|timeout|date|at|age|env|var|scope|scopes|manager|helper|service|middleware|"
    r"handler|config|schema|model|index|key_?id|log|start|end|title|summary|start_time)|"
    r"author\w*|authentic\w*|inside|side|aside|residual|president|"
    r"(?:pass|by|com|sur|tres|over|under)pass\w*|passes|passed|passing|passive|passenger|"
    r"\w+[_.\-](?:url|uri|path|file|dir|name|type|count|length|size|hash|arn|expiry)|"
    r"(?:mon|tur|don|joc|hoc)key|keyed|keys|cwd|old_?pwd|pwd_?dir)$"
)
_LINE_START = re.compile(r"(?:^|\n)[ \t]*(?:export |set |ENV |ARG |- |[+-] {0,8}|env:)?[ \t]*$")
_REST_OF_LINE = re.compile(r"[^\s\"'`=:<>\ue000]+={0,2}(?=\s|\Z)")
_VERDICTS = frozenset({"PASS", "Pass", "passwd"})
"""A test runner's word, or the file of users, unless something is assigned to it."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def find_pairs(view: View, lowered: str) -> Iterator[Span]:
    """Values beside telling names; ``lowered`` is the view's text in lower case."""
    for root in _ROOTS:
        place = lowered.find(root)
        while place >= 0:
            pair = _read_pair(view, place, place + len(root.rstrip("=")))
            after = place + len(root)
            if pair is not None:
                start, value, kind = pair
                after = max(start + len(value), after)
                yield Span(*view.locate(start, start + len(value)), kind, value, RANK)
            place = lowered.find(root, after)


def _read_pair(view: View, place: int, word_end: int) -> tuple[int, str, str] | None:
    """Where the secret beside a name starts, the secret, and its kind."""
    text = view.text
    name_start, name = _name_around(text, place, word_end)
    told = _classify_here(name, text[word_end : word_end + 1])
    if told is None:
        return None
    match = _ASSIGN.match(text, word_end)
    loose = match is None
    if loose and _may_be_loose(name, told[1]):
        match = _LOOSE.match(text, word_end)
    if match is None or match["next"]:
        return None
    group = _group_of(match)
    if len(match[group]) < MIN_VALUE_LENGTH:
        return None
    value = match[group]
    if group == "bare":
        value = _read_bare(text, match.start(group), value, text[:name_start][-24:])
    tells = _tells_loosely if loose else is_announced
    found = tells(value, told[1], name, quoted=group != "bare")
    return (match.start(group), value, told[0]) if found else None


def _group_of(match: re.Match[str]) -> str:
    """Which of the ways to write a value was used."""
    return "bare" if match["bare"] is not None else match.lastgroup or "bare"


def _classify_here(name: str, following: str) -> tuple[str, Strength] | None:
    return None if name in _VERDICTS and following != "=" else classify_name(name)


def _may_be_loose(name: str, strength: Strength) -> bool:
    """A weak name needs a sign between itself and its value, unless it is a flag."""
    return name[0] == "-" or strength is not Strength.WEAK


def _tells_loosely(value: str, strength: Strength, name: str, *, quoted: bool) -> bool:
    """With nothing but a space between, a flag tells as much as ever and other names less."""
    if name[0] != "-" and not is_random(value, least=12):
        return False
    return is_announced(value, strength, name, quoted=quoted)


def is_announced(value: str, strength: Strength, name: str, *, quoted: bool) -> bool:
    """Whether a value is the secret its name announces."""
    vendor = strength is Strength.WEAK and is_digest_or_uuid(value) and is_vendor_name(name)
    return is_secret_value(value, strength, quoted=quoted, vendor=vendor)


def _read_bare(text: str, start: int, value: str, before: str) -> str:
    """A value without quotes, up to where it ends.

    Where the name begins its line the value may be the rest of the line, signs and all, unless
    another name follows. Elsewhere a comma, a bracket or the next query parameter ends it.
    """
    if _LINE_START.search(before):
        whole = _REST_OF_LINE.match(text, start)
        if whole is not None:
            return whole.group().rstrip(".,;:!?\\*)]}|&")
    return value.split("&", 1)[0].rstrip(".,;:!?\\*")


def _name_around(text: str, place: int, word_end: int) -> tuple[int, str]:
    """Where the name begins that a telling word is part of, and the whole name."""
    before = _KEY_CHARACTERS.match(text[max(place - 48, 0) : place][::-1])
    after = _KEY_CHARACTERS.match(text, word_end)
    start = place - (before.end() if before else 0)
    return start, text[start : after.end() if after else word_end]


def is_harmless_name(name: str) -> bool:
    """A name that holds a telling word without announcing a secret, such as ``token_count``."""
    return bool(_NOT_SECRET_NAME.search(_CAMEL.sub("_", name[-64:]).lower().strip("-.")))


def is_vendor_name(name: str) -> bool:
    """A name with a vendor in it, beside which even a bare UUID or hash is a key."""
    lowered = name.lower()
    return any(vendor in lowered for vendor in _VENDORS)


def classify_name(name: str) -> tuple[str, Strength] | None:
    """What a field's name announces, if anything."""
    return _classify_short(name) if len(name) <= MAX_NAME else _classify(name)


def _classify(name: str) -> tuple[str, Strength] | None:
    lowered = lower_same_length(name)
    if not any(root.rstrip("=") in lowered for root in _ROOTS) or is_harmless_name(name):
        return None
    return next(
        ((kind, strength) for pattern, kind, strength in _NAMED if pattern.search(lowered)), None
    )


_classify_short = lru_cache(maxsize=4096)(_classify)
"""The same few names stand beside most values."""
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def lower_same_length(text: str) -> str:
    """Lower case with every character still in its place."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)
