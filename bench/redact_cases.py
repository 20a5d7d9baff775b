"""Texts with planted secrets of many kinds, made from a seed, for ``bench/redact.py``.

Every secret is a random string in a vendor's published format; none was ever issued, and none is
kept in a file. The two splits have different seeds, names and surroundings. The rules were written
with ``dev`` in sight; ``heldout`` is only ever measured.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import Any

SPLITS = {"dev": 20_261, "heldout": 77_003}
PER_KIND = 12
NEGATIVES_PER_SHAPE = 24
ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
UPPER = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"
Make = Callable[[random.Random], str]


def pick(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def made_of(*parts: str | tuple[str, int]) -> Make:
    """A format: fixed text and (alphabet, length) pairs."""
    return lambda rng: "".join(
        part if isinstance(part, str) else pick(rng, *part) for part in parts
    )


def uuid(rng: random.Random) -> str:
    return "-".join(pick(rng, HEX, n) for n in (8, 4, 4, 4, 12))


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def jwt(rng: random.Random) -> str:
    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': pick(rng, ALNUM, 12), 'iat': 1_700_000_000})}." + pick(
        rng, WORD, 43
    )


def pem(label: str) -> Make:
    def make(rng: random.Random) -> str:
        body = "\n".join(pick(rng, ALNUM + "+/", 64) for _ in range(6))
        return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"

    return make


SELF_TELLING: dict[str, Make] = {
    "github_pat": made_of("ghp_", (ALNUM, 36)),
    "github_fine_grained": made_of("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "github_oauth": made_of("gho_", (ALNUM, 36)),
    "github_app": made_of("ghs_", (ALNUM, 36)),
    "github_refresh": made_of("ghr_", (ALNUM, 76)),
    "gitlab_pat": made_of("glpat-", (WORD, 20)),
    "aws_access_key": made_of("AKIA", (BASE32, 16)),
    "gcp_api_key": made_of("AIza", (WORD, 35)),
    "gcp_client_secret": made_of("GOCSPX-", (WORD, 28)),
    "azure_client_secret": made_of((ALNUM, 3), "8Q~", (ALNUM + "_.-", 34)),
    "openai": made_of("sk-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20)),
    "openai_project": made_of("sk-proj-", (WORD, 74), "T3BlbkFJ", (WORD, 74)),
    "anthropic": made_of("sk-ant-api03-", (WORD, 93), "AA"),
    "huggingface": made_of("hf_", (string.ascii_letters, 34)),
    "groq": made_of("gsk_", (ALNUM, 52)),
    "openrouter": made_of("sk-or-v1-", (HEX, 64)),
    "slack_bot": made_of("xoxb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)),
    "slack_user": made_of("xoxp-", (string.digits, 12), "-", (string.digits, 12), "-", (HEX, 32)),
    "slack_app": made_of("xapp-1-A", (UPPER, 10), "-", (string.digits, 13), "-", (HEX, 64)),
    "slack_webhook": made_of("hooks.slack.com/services/T", (UPPER, 8), "/B", (UPPER, 8),
                             "/", (ALNUM, 24)),
    "discord_bot": made_of("MT", (ALNUM, 22), ".", (WORD, 6), ".", (WORD, 38)),
    "discord_webhook": made_of("discord.com/api/webhooks/", (string.digits, 18), "/",
                               (WORD, 68)),
    "telegram": made_of((string.digits[1:], 10), ":AA", (WORD, 33)),
    "stripe": made_of("sk_live_", (ALNUM, 24)),
    "stripe_restricted": made_of("rk_test_", (ALNUM, 24)),
    "twilio": made_of("SK", (HEX, 32)),
    "sendgrid": made_of("SG.", (WORD, 22), ".", (WORD, 43)),
    "mailgun": made_of("key-", (HEX, 32)),
    "mailchimp": made_of((HEX, 32), "-us12"),
    "npm": made_of("npm_", (ALNUM, 36)),
    "pypi": made_of("pypi-AgEIcHlwaS5vcmc", (WORD, 70)),
    "rubygems": made_of("rubygems_", (HEX, 48)),
    "crates": made_of("cio", (ALNUM, 32)),
    "docker_hub": made_of("dckr_pat_", (WORD, 27)),
    "digitalocean": made_of("dop_v1_", (HEX, 64)),
    "heroku": made_of("HRKU-AA", (WORD, 58)),
    "netlify": made_of("nfp_", (ALNUM, 36)),
    "newrelic": made_of("NRAK-", (UPPER, 27)),
    "sentry": made_of("sntryu_", (HEX, 64)),
    "grafana": made_of("glsa_", (ALNUM, 32), "_", (HEX, 8)),
    "linear": made_of("lin_api_", (ALNUM, 40)),
    "notion": made_of("ntn_", (ALNUM, 46)),
    "figma": made_of("figd_", (WORD, 40)),
    "airtable": made_of("pat", (ALNUM, 14), ".", (HEX, 64)),
    "shopify": made_of("shpat_", (HEX, 32)),
    "square": made_of("sq0atp-", (WORD, 22)),
    "databricks": made_of("dapi", (HEX, 32)),
    "supabase": made_of("sbp_", (HEX, 40)),
    "planetscale": made_of("pscale_tkn_", (WORD, 43)),
    "vault": made_of("hvs.", (WORD, 95)),
    "terraform": made_of((ALNUM, 14), ".atlasv1.", (WORD, 65)),
    "pulumi": made_of("pul-", (HEX, 40)),
    "doppler": made_of("dp.pt.", (ALNUM, 43)),
    "postman": made_of("PMAK-", (HEX, 24), "-", (HEX, 34)),
    "age": made_of("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "jwt": jwt,
    "rsa_private_key": pem("RSA PRIVATE KEY"),
    "openssh_private_key": pem("OPENSSH PRIVATE KEY"),
    "pgp_private_key": pem("PGP PRIVATE KEY BLOCK"),
}  # fmt: skip
TOLD_BY_NAME: dict[str, tuple[Make, tuple[str, str]]] = {
    "aws_secret_key": (made_of((ALNUM + "/+", 40)), ("AWS_SECRET_ACCESS_KEY", "aws_secret_key")),
    "azure_storage": (lambda rng: b64(rng.randbytes(64)),
                      ("AZURE_STORAGE_ACCOUNT_KEY", "AccountKey")),
    "datadog": (made_of((HEX, 32)), ("DATADOG_API_KEY", "DD_APP_KEY")),
    "heroku_uuid": (uuid, ("HEROKU_API_KEY", "heroku_auth_token")),
    "fastly": (made_of((WORD, 32)), ("FASTLY_API_TOKEN", "fastly_key")),
    "cloudflare": (made_of((WORD, 40)), ("CLOUDFLARE_API_TOKEN", "cf_api_token")),
    "algolia": (made_of((HEX, 32)), ("ALGOLIA_ADMIN_KEY", "algolia_api_key")),
    "okta": (made_of("00", (WORD, 40)), ("OKTA_API_TOKEN", "okta_token")),
    "generic_api_key": (made_of((ALNUM, 32)), ("API_KEY", "x_api_key")),
    "generic_token": (made_of((ALNUM, 40)), ("ACCESS_TOKEN", "refresh_token")),
    "generic_secret": (made_of((WORD, 28)), ("CLIENT_SECRET", "jwt_secret")),
    "password": (made_of((ALNUM + "!#%*+=?", 14)), ("DB_PASSWORD", "admin_password")),
}  # fmt: skip
DEV_PLAIN = (
    "The deploy log says {s} was used.", "$ echo {s}\n{s}\n", "key: {s}\n", '{{"value": "{s}"}}',
    "curl -H 'Authorization: Bearer {s}' https://api.internal/v1", "config.set('x', '{s}')",
    "https://api.internal/v1/items?access_token={s}&page=2", "export SERVICE_TOKEN={s}",
)  # fmt: skip
HELDOUT_PLAIN = (
    "12:04:11 WARN retrying with credential [{s}] (attempt 2)", "| staging | {s} | owner |",
    "const client = new Client(`{s}`);", "+    secret: '{s}'\n-    secret: ''",
    'wget --header="X-Auth-Token: {s}" http://registry.internal/pkg', "# old one: {s}\n",
    "Set-Cookie: sid={s}; HttpOnly", "[default]\nremote_credential = {s}\nregion = eu-1",
    "git clone https://oauth2:{s}@git.internal/team/app.git", "<entry name='t'>{s}</entry>",
)  # fmt: skip
DEV_NAMED = (
    "{k}={s}\n", "export {k}={s}\n", "{k}: {s}\n", '{{"{k}": "{s}"}}', '{k} = "{s}"', "--{f} {s}",
)  # fmt: skip
HELDOUT_NAMED = (
    "ENV {k}={s}\nRUN make", '  - name: {k}\n    value: "{s}"\n', "$env:{k} = '{s}'",
    "'{k}' => '{s}',", 'setx {k} "{s}"', '"env": {{"{k}":"{s}","PORT":"80"}}',
    "process.env.{k} = '{s}'", "docker run -e {k}={s} app:1", "tool --{f}={s} --verbose",
)  # fmt: skip
DEV_URLS = ("postgres://svc:{s}@db.internal:5432/app", "redis://:{s}@cache:6379/0",
            "curl -u deploy:{s} https://ci.internal/job")  # fmt: skip
HELDOUT_URLS = ("mongodb+srv://svc:{s}@cluster0.internal/app?retryWrites=true",
                "amqps://worker:{s}@mq.internal:5671/vhost",
                "jdbc:mysql://db:3306/app?user=svc&password={s}")  # fmt: skip
NEGATIVES: dict[str, tuple[Make, tuple[str, ...]]] = {
    "git_hash": (made_of((HEX, 40)), ("commit {n}", "git checkout {n}", "HEAD is now at {n}")),
    "short_hash": (made_of((HEX, 8)), ("fix in {n}", "[main {n}] done")),
    "uuid": (uuid, ('{{"id": "{n}"}}', "session {n} resumed", "request_id={n}")),
    "sha256": (made_of((HEX, 64)), ("sha256:{n}", "{n}  dist/app.tar.gz", '"digest": "{n}"')),
    "md5": (made_of((HEX, 32)), ('etag: "{n}"', "md5sum {n}", "cache_key={n}")),
    "integrity": (lambda rng: "sha512-" + b64(rng.randbytes(64)),
                  ('"integrity": "{n}"', "  integrity {n}", "resolution: {{integrity: {n}}}")),
    "image": (lambda rng: "data:image/png;base64," + b64(b"\x89PNG\r\n" + rng.randbytes(180)),
              ('<img src="{n}">', "background: url({n})")),
    "example_key": (
        lambda rng: rng.choice((
            "AKIAIOSFODNN7EXAMPLE", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "your-api-key-here",
            "<your-token>", "YOUR_API_KEY", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk-...",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "xxxxxxxx", "changeme", "********",
            "${{API_TOKEN}}".replace("{{", "{").replace("}}", "}"), "$TOKEN", "{{ secrets.TOKEN }}",
            "process.env.API_KEY", 'os.environ["API_KEY"]', "xoxb-your-token", "insert-token-here",
        )), ("API_KEY={n}", "api_key: {n}", "token = {n}")),
    "code": (
        lambda rng: rng.choice((
            "password = get_password()", "token: str", "api_key=None", "max_tokens=4096",
            "secret = config.secret_name", "auth_token = self.auth_token", "password: string;",
            "if (token === undefined) {", "const apiKey = useApiKey();", "tokens = line.split()",
            "def check_password(user, password):", "token_count: 128", "key_length = 2048",
            "PASSWORD_RESET_URL = reverse('reset')", "passwordField.value = event.target.value",
            "credentials: 'same-origin'", "secretName: database-credentials", "keyboard: qwerty",
            'getpass.getpass("Password: ")', "session_id = request.session.session_key",
        )), ("{n}", "    {n}\n", "> {n}")),
    "identifier": (
        lambda rng: rng.choice((
            "test_refresh_token_expires_after_logout", "AuthenticationMiddleware2Factory",
            "com.example.security.TokenAuthenticationFilter", "kubernetes-dashboard-token-reader",
            "src/auth/password_reset/views.py", "UserPasswordResetRequestSerializer",
        )), ("token: {n}", "secret: {n}", "auth = {n}", "in {n}: ok")),
    "version": (lambda rng: f"{rng.randint(0, 20)}.{rng.randint(0, 99)}.{rng.randint(0, 9)}-rc1",
                ("jsonwebtoken@{n}", "passport-auth {n}", "token-parser = {n}")),
}  # fmt: skip


def escape(text: str, depth: int) -> str:
    """The text as JSON would write it, ``depth`` times over."""
    for _ in range(depth):
        text = json.dumps({"out": text})
    return text


def make_cases(split: str) -> Iterator[dict[str, Any]]:
    """Rows of text, secrets, negatives, kind and depth; the same for the same split."""
    rng = random.Random(SPLITS[split])  # noqa: S311 - repeatable on purpose
    heldout = split == "heldout"
    plain, named, urls = (
        (HELDOUT_PLAIN, HELDOUT_NAMED, HELDOUT_URLS)
        if heldout
        else (DEV_PLAIN, DEV_NAMED, DEV_URLS)
    )
    for kind, make in SELF_TELLING.items():
        for number in range(PER_KIND):
            secret = make(rng)
            yield _case(kind, rng.choice(plain).format(s=secret), [secret], depth=number % 3)
    for kind, (make, names) in TOLD_BY_NAME.items():
        for number in range(PER_KIND):
            secret, name = make(rng), names[heldout]
            flag = name.lower().replace("_", "-")
            text = rng.choice(named).format(s=secret, k=name, f=flag)
            yield _case(kind, text, [secret], depth=number % 3)
    for number in range(PER_KIND):
        secret = pick(rng, ALNUM, 16)
        yield _case("url_password", rng.choice(urls).format(s=secret), [secret], depth=number % 3)
    for shape, (make, places) in NEGATIVES.items():
        for number in range(NEGATIVES_PER_SHAPE):
            negative = make(rng)
            row = _case(shape, rng.choice(places).format(n=negative), [], depth=number % 3)
            yield {**row, "negatives": [escape_inner(negative, number % 3)]}


def escape_inner(text: str, depth: int) -> str:
    for _ in range(depth):
        text = json.dumps(text)[1:-1]
    return text


def _case(kind: str, text: str, secrets: list[str], *, depth: int) -> dict[str, Any]:
    return {"text": escape(text, depth), "secrets": secrets, "negatives": [], "kind": kind,
            "depth": depth}  # fmt: skip
