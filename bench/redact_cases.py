"""Texts with planted secrets of many kinds, made from a seed, for ``bench/redact.py``.

Every secret is a random string in a vendor's published format or a random password; none was ever
issued, and none is kept in a file. The two splits have different seeds, names and surroundings. The
rules were written with ``dev`` in sight; ``heldout`` is only ever measured. Each text comes in every
encoding of ``ENCODINGS``; look-alikes are in ``redact_lookalikes.py``.
"""

# ruff: noqa: E501, SIM905 - tables: one case beside the other
from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

SPLITS = {"dev": 20_261, "heldout": 77_003}
PER_KIND = 4
PER_PASSWORD = 12
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
SIGNS = "".join(chr(code) for code in range(33, 127))
NO_DOUBLE = "".join(c for c in SIGNS if c not in '"\\$`')
NO_SINGLE = "".join(c for c in SIGNS if c not in "'\\")
NO_MARKUP = "".join(c for c in SIGNS if c not in "<>&\"'\\")
NO_QUERY = ALNUM + "-._~!*"
WORDS = (
    "cobalt tiger amber falcon marble cedar velvet canyon harbor lantern meadow copper raven summit "
    "willow ember glacier orchid saffron thunder walnut zephyr bramble cinder drift ferry granite"
).split()
PHRASE_WORDS = (
    "abandon ability absent absorb abstract acid acoustic adapt addict admit advance aerobic afford "
    "agent album alert alien anchor ancient apple arctic armor atom august autumn bacon badge bamboo "
    "banana barrel basic beach bench bicycle blanket blossom bonus border bracket brave bridge"
).split()


def two_words(rng: random.Random) -> str:
    return "".join(rng.sample(WORDS, 2))


def dashed_words(rng: random.Random) -> str:
    return "-".join([*rng.sample(WORDS, 3), str(rng.randint(100, 999))])


def seed_phrase(rng: random.Random) -> str:
    return " ".join(rng.sample(PHRASE_WORDS, rng.choice((12, 24))))


def over(alphabet: str) -> Make:
    """A random password of 12 to 24 characters that is no shell comment and no option."""

    def make(rng: random.Random) -> str:
        first = pick(rng, "".join(c for c in alphabet if c not in "#-&|;()<>!~*%@`,[]{}:?'\"=$"), 1)
        return first + pick(rng, alphabet, rng.randint(11, 23))

    return make


PASSWORD_PLACES: dict[str, tuple[Make, tuple[str, ...], tuple[str, ...]]] = {
    "json": (made_of((SIGNS, 16)), ('{{"user": "bob", "password": {j}}}', '"db_password":{j},'),
             ('{{"host": "db1", "passwd": {j}, "port": 5432}}', '"adminPassword" : {j}')),
    "double": (over(NO_DOUBLE), ('DB_PASSWORD="{s}"', 'password = "{s}"', 'password: "{s}"'),
               ('export PGPASSWORD="{s}"', 'conn.connect(user="bob", password="{s}")',
                '  smtp_password: "{s}"', '$env:DB_PASS = "{s}"', 'passphrase => "{s}",')),
    "single": (over(NO_SINGLE), ("DB_PASSWORD='{s}'", "password: '{s}'", "mysql -u root -p'{s}' shop",
                                 "curl -u 'bob:{s}' https://ci.internal"),
               ("redis-cli -a '{s}' ping", "mongosh -u bob -p '{s}' db", "sshpass -p '{s}' ssh h",
                "curl --user 'svc:{s}' -X POST https://h/api", "ldapsearch -D cn=x -w '{s}' -b dc=y",
                "docker login -u bob -p '{s}' registry.internal", "az login -u bob -p '{s}'",
                "sqlcmd -S h -U sa -P '{s}'", "gpg --batch --passphrase '{s}' -d x.gpg",
                "7z x -p'{s}' a.7z", "zip -P '{s}' a.zip b", "htpasswd -b .htpasswd bob '{s}'",
                "rabbitmqctl add_user bob '{s}'", "twine upload -u bob -p '{s}' dist/*",
                "smbclient //h/share -U 'bob%{s}'", "helm registry login h -u bob --password '{s}'",
                "CREATE USER bob IDENTIFIED BY '{s}';", "ALTER USER bob WITH PASSWORD '{s}';",
                "ALTER ROLE bob LOGIN PASSWORD '{s}'", "define('DB_PASSWORD', '{s}');",
                "kubectl create secret generic x --from-literal=password='{s}'",
                "keytool -genkey -storepass '{s}' -alias a", "openssl aes-256-cbc -k '{s}' -in a",
                "openssl rsa -in k -passin 'pass:{s}'", "gh secret set DEPLOY -b '{s}'")),
    "bare": (over(SIGNS), ("DB_PASSWORD={s}\n", "export API_PASS={s}\n", "password: {s}\n"),
             ("REDIS_PASSWORD={s}\nPORT=1", "spring.datasource.password={s}\n",
              "  smtp_password: {s}\n  port: 25\n", "[client]\nuser=bob\npassword={s}\n",
              "ENV ADMIN_PASSWORD={s}\n", "     3\tMYSQL_ROOT_PASSWORD={s}\n")),
    "list": (made_of((SIGNS, 15)), ('["sshpass","-p",{j},"ssh","h"]',),
             ('"args": ["--password", {j}, "-v"]', '["mysql", "-u", "root", "-p", {j}]')),
    "markup": (over(NO_MARKUP), ("<password>{s}</password>",),
               ('<input type="password" name="p" value="{s}">', '<add key="DbPassword" value="{s}"/>',
                '<input value="{s}" id="x" type="password">', "<db.password>{s}</db.password>")),
    "connection": (over("".join(c for c in NO_DOUBLE if c not in ";'")),
                   ("Server=h;User Id=sa;Password={s};",),
                   ("Data Source=h;Initial Catalog=a;User ID=b;Password={s};Encrypt=true",
                    '"Host=h;Username=b;Password={s}"', "Server=h;Uid=b;Pwd={s};Database=c")),
    "query": (over(NO_QUERY), ("https://h/login?user=bob&password={s}&x=1",),
              ("POST /login username=bob&passwd={s}", "jdbc:mysql://h/d?user=a&password={s}")),
    "argument": (over(ALNUM + "!@%^*+=_.?"),
                 ("mysql -u root -p{s} shop", "tool --password {s} -v", "curl -u bob:{s} https://h"),
                 ("wget --password={s} https://h/x", "redis-cli -h h -a {s} ping",
                  "mongodump -u a -p {s} --db x", "xfreerdp /u:bob /p:{s} /v:h",
                  "nuget sources add -Name x -Password {s}", "docker login -u bob -p {s} h",
                  "htpasswd -nb bob {s}", "machine h login bob password {s}",
                  "smbclient //h/s -U bob%{s} -c ls", "ldapsearch -x -w {s} -D cn=a")),
    "words": (two_words, ("DB_PASSWORD={s}\n", '"password": "{s}"'),
              ("POSTGRES_PASSWORD={s}\n", "export ADMIN_PASSWORD={s}\n", '"db_password":"{s}"',
               "docker run -e MYSQL_PASSWORD={s} db:8", "mysql -uroot -p{s} app")),
    "dashed": (dashed_words, ("JWT_SECRET={s}\n",),
               ('SESSION_SECRET="{s}"', "export APP_SECRET={s}\n", "password: {s}\n")),
    "phrase": (seed_phrase, ("mnemonic: {s}\n", 'MNEMONIC="{s}"'),
               ('"seedPhrase": "{s}"', "recovery phrase: {s}", "Your seed phrase is: {s}\n",
                "SEED_PHRASE='{s}'")),
}  # fmt: skip
MORE_KEYS: dict[str, tuple[Make, tuple[str, ...]]] = {
    "vercel_blob": (made_of("vercel_blob_rw_", (ALNUM, 16), "_", (ALNUM, 30)), DEV_PLAIN),
    "amz_signature": (made_of((HEX, 64)), ("https://b.s3.internal/o?X-Amz-Date=1&X-Amz-Signature={s}",)),
    "wandb": (made_of((HEX, 40)), ("wandb login {s}\n", "WANDB_API_KEY={s}\n")),
    "bcrypt": (made_of("$2y$12$", (ALNUM + "./", 53)), ("bob:{s}\n", "htpasswd: bob:{s}")),
    "shadow": (made_of("$6$", (ALNUM, 12), "$", (ALNUM + "./", 86)), ("root:{s}:19000:0:99999:7:::",)),
    "basic_header": (lambda rng: b64(f"svc:{pick(rng, ALNUM, 14)}".encode()),
                     ("Authorization: Basic {s}", "curl -H 'Authorization: Basic {s}' https://h")),
    "npm_token": (uuid, ("//registry.npmjs.org/:_authToken={s}\n",
                         "npm config set //r.internal/:_authToken {s}")),
    "aws_set": (made_of((ALNUM + "/+", 40)), ("aws configure set aws_secret_access_key {s}",)),
    "pgpass": (made_of((ALNUM, 16)), ("db.internal:5432:app:bob:{s}\n",)),
    "pypirc": (made_of((ALNUM + "!%*", 18)), ("[pypi]\nusername = bob\npassword = {s}\n",)),
    "kube_token": (made_of((ALNUM, 40)), ("users:\n- name: a\n  user:\n    token: {s}\n",)),
    "url_password": (made_of((ALNUM, 16)), (*DEV_URLS, *HELDOUT_URLS)),
}  # fmt: skip


def _plain(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
    return text, [(secret, PIECE)]


def _json(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
    return json.dumps({"out": text}), [(json.dumps(secret)[1:-1], PIECE + 2)]


def _nested(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
    inner, forms = _json(text, secret)
    return _json(inner, forms[0][0])[0], [(json.dumps(forms[0][0])[1:-1], PIECE + 6)]


def _unicode(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
    def escape(part: str) -> str:
        return "".join(c if c.isalnum() or c == " " else f"\\u{ord(c):04x}" for c in part)

    return f'{{"out": "{escape(text)}"}}', [(escape(secret), PIECE + 10)]


def _url(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
    return "data=" + quote(text, safe=""), [(quote(secret, safe=""), PIECE + 6)]


def _base64_line(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
    del secret
    blob = b64(text.encode())
    return f"echo {blob} | base64 -d", [(blob, 20)]


def _base64_value(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
    blob = b64(secret.encode())
    return text.replace(secret, blob), [(blob.rstrip("="), 12)]


def _broken(between: str) -> Callable[[str, str], tuple[str, list[tuple[str, int]]]]:
    def encode(text: str, secret: str) -> tuple[str, list[tuple[str, int]]]:
        half = len(secret) // 2
        first, second = secret[:half], secret[half:]
        return text.replace(secret, first + between + second), [(first, 12), (second, 12)]

    return encode


PIECE = 8
ENCODINGS: dict[str, Callable[[str, str], tuple[str, list[tuple[str, int]]]]] = {
    "plain": _plain, "json": _json, "json in json": _nested, "\\u": _unicode, "url": _url,
    "base64 value": _base64_value, "base64 line": _base64_line, "broken line": _broken("\n"),
    "broken with \\": _broken("\\\n"),
}  # fmt: skip
BREAKABLE = 36
"""Only keys at least this long are broken over two lines, and of passwords none."""


def escape(text: str, depth: int) -> str:
    """The text as JSON would write it, ``depth`` times over."""
    for _ in range(depth):
        text = json.dumps({"out": text})
    return text


def _list_keys(rng: random.Random, *, heldout: bool) -> Iterator[tuple[str, str, str]]:
    """Kind, text and secret of keys that a format, a name or a place tells."""
    plain, named = (HELDOUT_PLAIN, HELDOUT_NAMED) if heldout else (DEV_PLAIN, DEV_NAMED)
    for kind, make in SELF_TELLING.items():
        for _ in range(PER_KIND):
            secret = make(rng)
            yield kind, rng.choice(plain).format(s=secret), secret
    for kind, (make, names) in TOLD_BY_NAME.items():
        for _ in range(PER_KIND):
            secret, name = make(rng), names[heldout]
            flag = name.lower().replace("_", "-")
            yield kind, rng.choice(named).format(s=secret, k=name, f=flag), secret
    for kind, (make, places) in MORE_KEYS.items():
        for _ in range(PER_KIND):
            secret = make(rng)
            yield kind, rng.choice(places).format(s=secret), secret


def _list_passwords(rng: random.Random, *, heldout: bool) -> Iterator[tuple[str, str, str]]:
    for kind, (make, dev, held) in PASSWORD_PLACES.items():
        for place in held if heldout else dev:
            for _ in range(PER_PASSWORD):
                secret = make(rng)
                text = place.format(s=secret, j=json.dumps(secret))
                yield f"password {kind}", text, secret


def make_cases(split: str) -> Iterator[dict[str, Any]]:
    """Rows of text, forms of its secret, kind and encoding; the same for the same split."""
    rng = random.Random(SPLITS[split])  # noqa: S311 - repeatable on purpose
    heldout = split == "heldout"
    keys = [*_list_keys(rng, heldout=heldout)]
    for encoding, encode in ENCODINGS.items():
        for kind, text, secret in keys:
            broken = encoding.startswith("broken")
            if broken and (len(secret) < BREAKABLE or "\n" in secret or kind in UNBROKEN):
                continue
            yield _case(kind, encoding, *encode(text, secret))
    for kind, text, secret in _list_passwords(rng, heldout=heldout):
        for encoding in ("plain", "json", "json in json", "\\u", "base64 line"):
            shown = json.dumps(secret)[1:-1] if json.dumps(secret) in text else secret
            coded, forms = ENCODINGS[encoding](text, shown)
            yield _case(kind, encoding, coded, [(form, max(6, size - 2)) for form, size in forms])


UNBROKEN = frozenset({"amz_signature", "wandb", "bcrypt", "shadow", "azure_storage"})


def _case(kind: str, encoding: str, text: str, forms: list[tuple[str, int]]) -> dict[str, Any]:
    return {"text": text, "secrets": [form for form, _ in forms], "kind": kind,
            "pieces": [size for _, size in forms], "encoding": encoding, "negatives": []}  # fmt: skip
