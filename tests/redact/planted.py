"""Random strings in vendors' formats, for tests; none was ever issued."""

from __future__ import annotations

import random
import string

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
WORD = ALNUM + "_-"
SHAPES: dict[str, tuple[str | tuple[str, int], ...]] = {
    "github_pat": ("gh" + "p_", (ALNUM, 36)),
    "github_fine_grained": ("github_" + "pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "gitlab_pat": ("gl" + "pat-", (ALNUM, 20)),
    "aws_access_key": ("AK" + "IA", (UPPER, 16)),
    "gcp_api_key": ("AI" + "za", (WORD, 35)),
    "anthropic": ("sk-" + "ant-api03-", (WORD, 93), "AA"),
    "openai": ("sk-" + "proj-", (WORD, 80)),
    "slack_bot": ("xo" + "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)),
    "stripe": ("sk_" + "live_", (ALNUM, 24)),
    "npm": ("npm" + "_", (ALNUM, 36)),
    "sendgrid": ("S" + "G.", (WORD, 22), ".", (WORD, 43)),
    "telegram": ("73012", (string.digits, 5), ":A" + "A", (WORD, 33)),
    "databricks": ("da" + "pi", (HEX, 32)),
    "vault": ("hv" + "s.", (WORD, 90)),
    "doppler": ("dp" + ".pt.", (ALNUM, 43)),
    "digitalocean": ("dop" + "_v1_", (HEX, 64)),
    "shopify": ("shp" + "at_", (HEX, 32)),
    "linear": ("lin" + "_api_", (ALNUM, 40)),
    "terraform": ((ALNUM, 14), ".atlas" + "v1.", (WORD, 64)),
    "huggingface": ("h" + "f_", (ALNUM, 34)),
}  # fmt: skip


def pick(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def dice(seed: object) -> random.Random:
    return random.Random(str(seed))  # noqa: S311 - repeatable on purpose


def plant(kind: str, seed: int) -> str:
    """A string of a kind, the same for the same seed."""
    rng = dice(f"{kind}{seed}")
    return "".join(p if isinstance(p, str) else pick(rng, *p) for p in SHAPES[kind])


def random_word(seed: int, length: int = 24) -> str:
    return pick(dice(seed), ALNUM, length)


def is_gone(secret: str, text: str, piece: int = 8) -> bool:
    """No piece of the secret is left."""
    return not any(secret[i : i + piece] in text for i in range(len(secret) - piece + 1))
