"""Names that announce a secret: which words tell, how much they tell, and which names do not."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

MAX_NAME = 128
ROOTS = ("pass", "pwd", "psk", "secret", "token", "key", "auth", "cred", "session", "sid", "jwt",
         "webhook", "signature", "sig=", "dsn", "pat=")  # fmt: skip
"""Every telling name has one of these in it."""


class Strength(IntEnum):
    """How telling the name beside a value is."""

    WEAK = 0
    """``key``, ``auth``, ``session``: the value must look random and be no digest."""
    STRONG = 1
    """``token``, ``secret``, ``api_key``: the value must not look like words or code."""
    PASSWORD = 2
    """People choose passwords: words with a digit or sign count too."""


_NAMED: tuple[tuple[re.Pattern[str], str, Strength], ...] = (
    (re.compile(r"passw|passphrase|passcode|pwd|(?<![a-z])(?:pass|psk)(?![a-z])"
                r"|(?:db|user|my|root|admin|mail|smtp|ftp|ldap|sql|store|key|auth|http|proxy|redis|pg"
                r"|src|dest)pass(?![a-z])"), "password", Strength.PASSWORD),
    (re.compile(r"secret"), "secret", Strength.STRONG),
    (re.compile(r"token|(?<![a-z])pat(?![a-z])"), "token", Strength.STRONG),
    (re.compile(r"(?:api|app|application|subscription)[-_. ]?key"), "api_key", Strength.STRONG),
    (re.compile(r"(?:access|account)[-_.]?key"), "access_key", Strength.STRONG),
    (re.compile(r"private[-_.]?key"), "private_key", Strength.STRONG),
    (re.compile(r"auth[-_.]?key"), "auth_key", Strength.STRONG),
    (re.compile(r"(?:encryption|signing|master|license)[-_.]?key"), "key", Strength.STRONG),
    (re.compile(r"credential"), "credential", Strength.STRONG),
    (re.compile(r"x-(?:amz|goog|oss)-signature"), "signature", Strength.STRONG),
    (re.compile(r"key"), "key", Strength.WEAK),
    (re.compile(r"auth|jwt|cred"), "auth", Strength.WEAK),
    (re.compile(r"session|sessid|(?<![a-z])sid(?![a-z])|signature|(?<![a-z])sig(?![a-z])"),
     "session", Strength.WEAK),
    (re.compile(r"webhook|dsn"), "secret", Strength.WEAK),
)  # fmt: skip
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
    "_authtoken",
)  # fmt: skip
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
    r"(?:pass|by|com|sur|tres|over|under)pass\w*|(?:low|high|band|all|render|shadow|depth|first|second|"
    r"single|two|one|multi|quick|forward|backward|post|pre|color|final|main|last|next)[_.\-]?pass|passes|passed|passing|passive|passenger|"
    r"(?:mon|tur|don|joc|hoc)key|keyed|keys|cwd|old_?pwd|pwd_?dir)$"
    r"|\w[_.\-](?:url|uri|path|file|dir|name|type|count|length|size|hash|arn|expiry)$"
)
_HEAD = re.compile(
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|pass|secret|token|key|credentials?|pat)"
    r"(?:[_.\-]?(?:prod|production|dev|staging|stage|test|live|main|root|admin|db|\d{1,3}|base))?$"
)
_VERDICTS = frozenset({"PASS", "Pass"})
"""A test runner's word, unless something is assigned to it."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def lower_same_length(text: str) -> str:
    """Lower case with every character still in its place."""
    lowered = text.lower()
    if len(lowered) != len(text):  # the only letter that becomes two
        lowered = text.replace("\u0130", "i").lower()
    return lowered


def is_harmless_name(name: str) -> bool:
    """A name that holds a telling word without announcing a secret, such as ``token_count``."""
    return bool(_NOT_SECRET_NAME.search(_CAMEL.sub("_", name[-64:]).lower().strip("-.")))


def is_head(name: str) -> bool:
    """Whether a name is about its telling word: ``db_password`` is, ``password_hint`` is not."""
    return bool(_HEAD.search(_CAMEL.sub("_", name[-64:]).lower()))


def is_vendor_name(name: str) -> bool:
    """A name with a vendor in it, beside which even a bare UUID or hash is a key."""
    lowered = name.lower()
    return any(vendor in lowered for vendor in _VENDORS)


def is_verdict(name: str) -> bool:
    """A word that announces something only where a value is assigned to it."""
    return name in _VERDICTS


def classify_name(name: str) -> tuple[str, Strength] | None:
    """What a field's name announces, if anything."""
    return _classify_short(name) if len(name) <= MAX_NAME else _classify(name)


def _classify(name: str) -> tuple[str, Strength] | None:
    lowered = lower_same_length(name)
    if not any(root.rstrip("=") in lowered for root in ROOTS) or is_harmless_name(name):
        return None
    return next(
        ((kind, strength) for pattern, kind, strength in _NAMED if pattern.search(lowered)), None
    )


_classify_short = lru_cache(maxsize=4096)(_classify)
"""The same few names stand beside most values."""
