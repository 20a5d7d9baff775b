"""Texts that look like secrets and are none, made from a seed, for ``bench/redact.py``.

Hashes, identifiers, lock files, placeholders, references, types, prompts, prose and code that reads a
variable: what real sessions are full of, beside names that announce a secret and without them.
"""

# ruff: noqa: E501, Q003 - tables: one case beside the other
from __future__ import annotations

import base64
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

HEX = "0123456789abcdef"
NAMES = (
    "password", "db_password", "DB_PASSWORD", "passwd", "admin_password", "smtpPassword", "secret",
    "client_secret", "JWT_SECRET", "SECRET_KEY", "token", "access_token", "API_TOKEN", "authToken",
    "api_key", "API_KEY", "apiKey", "GITHUB_TOKEN", "passphrase", "credentials",
)  # fmt: skip
PLACEHOLDERS = (
    "<your-password>", "<password>", "<YOUR_API_KEY>", "<token>", "<insert token here>", "${{DB_PASSWORD}}",
    "$DB_PASSWORD", "${{DB_PASSWORD:-}}", "$(pass show db)", "{{{{ secrets.DB_PASSWORD }}}}",
    "${{{{ secrets.TOKEN }}}}", "{{{{ vault_password }}}}", "%(password)s", "%s", "{{password}}", "{{}}",
    "********", "xxxxxxxx", "XXXXXXXXXXXX", "...", "changeme", "change-me", "CHANGE_ME", "your-password",
    "your_api_key_here", "YOUR_TOKEN", "my-secret", "my-token", "example", "example-key", "placeholder",
    "REPLACE_ME", "replace-with-your-key", "TODO", "redacted", "[REDACTED]", "[hidden]", "#{{token}}",
    "@password@", "%PASSWORD%", "dummy-token", "fake_api_key", "test", "test-token", "password", "secret",
    "null", "None", "true", "false", "undefined", "''", "***", "sk-...", "ghp_xxxxxxxxxxxxxxxx", "<%= password %>",
)  # fmt: skip
ASSIGNMENTS = ("{n}={v}", '{n}="{v}"', "{n}: {v}", '"{n}": "{v}"', "{n} = '{v}'", "--{n} {v}")
EXPRESSIONS = (
    "get_password()", "getpass()", "getpass.getpass()", 'getpass.getpass("Password: ")', "os.environ['X']",
    'os.environ["DB_PASSWORD"]', 'os.getenv("TOKEN")', "os.environ.get('API_KEY', '')", "process.env.TOKEN",
    "process.env.DB_PASSWORD!", "self.password", "self._token", "config.password", "settings.SECRET_KEY",
    "req.body.password", "request.form['password']", "ctx.secrets.get('x')", "password", "new_password",
    "user.password_hash", "await fetchToken()", "await this.tokens.refresh(user)", "new SecretKey(bytes)",
    "secrets.token_urlsafe(32)", "secrets.token_hex(16)", "hash_password(raw)", "bcrypt.hashpw(pw, salt)",
    "crypto.randomBytes(32).toString('hex')", "generateToken(user.id)", "uuid.uuid4().hex", "None", "null",
    "str", "string", "Optional[str]", "str | None", "SecretStr", "bytes", "&str", "String::new()", "undefined",
    "useState('')", "useState<string>('')", "z.string().min(8)", "Field(..., min_length=12)", "input()",
    "Column(String(128), nullable=False)", "models.CharField(max_length=128)", "PasswordField(label='x')",
    "lambda: read()", "args.token", "opts.apiKey || ''", "token if token else None", "a.b.c.d", "tokens[i]",
    "tokens[0]", "line.split()[1]", "fmt.Sprintf(pattern, x)", "std::env::var(name)?", "ENV['TOKEN']",
    "ENV.fetch('SECRET_KEY_BASE')", "System.getenv(name)", "viper.GetString(key)", "Deno.env.get(name)",
    "import.meta.env.VITE_KEY", "{ type: String, required: true }", "[1, 2, 3]", "(a, b) => a + b",
    "event.target.value", "data.get('token')", "match.group(1)", "parts[1].strip()", "x + y", "not token",
)  # fmt: skip
STATEMENTS = (
    "{n} = {e}", "    {n} = {e}", "{n}: {e}", "self.{n} = {e}", "connect(user=user, {n}={e})", "{n}={e},",
    "const {n} = {e};", "let {n} = {e}", "return {{'{n}': {e}}}", "  {n}: {e},", "if {n} == {e}:",
    "{n} := {e}", "{n}: str = {e}", "+    {n} = {e}", "    12\t{n} = {e}", "var {n} = {e};",
)  # fmt: skip
PROSE = (
    "The {n} must be at least 12 characters.", "{n}: required", "{n} is required", "Enter your {n}: ",
    "echo \"{n}: \"", "print('{n}: ', end='')", "Invalid {n} or user name", "{n} - the one you chose",
    "Forgot {n}? Reset it here.", "- {n}: the {n} of the user (string, required)", "| {n} | string | yes |",
    "{n} (optional): how the client proves who it is", "error: {n} expired", "{n}: expired yesterday",
    "Wrong {n}: try again", "{n} mismatch", "<label for=\"{n}\">{n}</label>", "type=\"{n}\"",
    "<input type=\"password\" name=\"{n}\" placeholder=\"Your {n}\">", "name: {n}\n", "required: [{n}]",
    "see docs/{n}.md", "test_{n}_expires_after_logout PASSED", "def check_{n}(user, {n}):", "import {n}",
    "{n}_count: 128", "max_{n}s=4096", "{n}_file=/run/secrets/db", "{n}_url: https://h/reset/v2",
    "{n} rotation happens every 90 days", "`{n}` is read from the environment", "no {n} given",
    "\"{n}\": {{\"type\": \"string\", \"format\": \"password\"}}", "autocomplete=\"current-password\"",
    "{n}Length: 16", "{n}_hint: favourite color", "warn: {n} not set, using default", "{n}:\n  min: 12",
    "SELECT {n} FROM users WHERE id = $1", "UPDATE users SET {n} = $1 WHERE id = $2", "{n} text NOT NULL",
    "ALTER TABLE users ADD COLUMN {n} text", "git commit -m 'rename {n}'", "grep -rn {n} src/",
)  # fmt: skip


def hexes(length: int) -> Callable[[random.Random], str]:
    return lambda rng: "".join(rng.choices(HEX, k=length))


def uuid(rng: random.Random) -> str:
    return "-".join(hexes(n)(rng) for n in (8, 4, 4, 4, 12))


def sri(rng: random.Random) -> str:
    return "sha512-" + base64.b64encode(rng.randbytes(64)).decode()


def version(rng: random.Random) -> str:
    return f"{rng.randint(0, 20)}.{rng.randint(0, 99)}.{rng.randint(0, 9)}"


RANDOM: tuple[tuple[Callable[[random.Random], str], tuple[str, ...]], ...] = (
    (hexes(40), ("commit {v}", "git checkout {v}", "HEAD is now at {v}", "ref: {v}", "rev = \"{v}\"",
                 "index {v}..{v} 100644", "Merge: {v}", "tree {v}\n", "+Subproject commit {v}")),
    (hexes(8), ("fix in {v}", "[main {v}] done", "color: #{v}", "0x{v}", "id={v}")),
    (hexes(64), ("sha256:{v}", "{v}  dist/app.tar.gz", '"digest": "{v}"', "--hash=sha256:{v}",
                 "checksum = \"{v}\"", "image@sha256:{v}", "layer {v}: pulled")),
    (hexes(32), ('etag: "{v}"', "md5sum {v}", "cache_key={v}", "trace_id={v}", "ETag: W/\"{v}\"",
                 "spanId: {v}", "build_id: {v}", "main.{v}.js")),
    (uuid, ('{{"id": "{v}"}}', "session {v} resumed", "request_id={v}", "sessionId: {v}", "uuid: {v}",
            "/v1/orders/{v}/lines", "tenant={v}", "correlation-id: {v}", "\"parentUuid\":\"{v}\"")),
    (sri, ('"integrity": "{v}"', "  integrity {v}", "resolution: {{integrity: {v}}}",
           "<script integrity=\"{v}\" src=\"a.js\">")),
    (version, ("jsonwebtoken@{v}", "passport-auth {v}", "token-parser = {v}", "\"keyv\": \"^{v}\"",
               "authlib=={v}", "secretstorage=={v} ; sys_platform == 'linux'", "\"js-tokens\": \"{v}\"")),
    (lambda rng: base64.b64encode(b"\x89PNG\r\n" + rng.randbytes(90)).decode(),
     ('<img src="data:image/png;base64,{v}">', "background: url(data:image/png;base64,{v})")),
    (lambda rng: str(rng.randint(10**9, 10**18)), ("id: {v}", "token_count={v}", "user_id = {v}", "ts={v}",
                                                   "snowflake {v}", "session_start: {v}")),
    (lambda rng: base64.b64encode(" ".join(rng.choices(["alpha", "beta", "gamma", "delta", "run", "list"],
                                                       k=8)).encode()).decode(), ("data: {v}", "echo {v} | base64 -d")),
)  # fmt: skip


def _list_texts(rng: random.Random) -> Iterator[tuple[str, str]]:
    for name, value in itertools.product(NAMES, PLACEHOLDERS):
        text = rng.choice(ASSIGNMENTS).format(n=name, v=value.replace("{{", "{").replace("}}", "}"))
        yield "placeholder", text
    for name, expression in itertools.product(NAMES, EXPRESSIONS):
        yield "code", rng.choice(STATEMENTS).format(n=name, e=expression)
    for name, sentence in itertools.product(NAMES, PROSE):
        yield "prose", sentence.format(n=name)
    for make, places in RANDOM:
        for place in places:
            for _ in range(30):
                yield "identifier", place.format(v=make(rng))


def make_lookalikes(seed: int) -> Iterator[dict[str, Any]]:
    """Rows with one text that must stay as it is, plain or as JSON one level deep."""
    rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
    for kind, text in _list_texts(rng):
        whole = json.dumps({"out": text}) if rng.random() < 0.3 else text
        yield {
            "text": whole,
            "secrets": [],
            "negatives": [whole],
            "kind": kind,
            "encoding": "plain",
        }
