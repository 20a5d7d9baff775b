"""Whether a value that stands next to a telling name is a secret, or a word, a path, some code.

Everything here looks at one short value. The questions are about shape only (which characters, how
they alternate, whether it splits into words), so that the answer is the same everywhere.
"""

from __future__ import annotations

import re
from enum import IntEnum


class Strength(IntEnum):
    """How telling the name beside a value is."""

    WEAK = 0
    """``key``, ``auth``, ``session``: the value must look random and be no digest."""
    STRONG = 1
    """``token``, ``secret``, ``api_key``: the value must not look like words or code."""
    PASSWORD = 2
    """People choose passwords: words with a digit or sign count too."""


def words(text: str) -> frozenset[str]:
    """A set of words from a line of them."""
    return frozenset(text.split())


MIN_VALUE_LENGTH = 6
MAX_VALUE_LENGTH = 4096
_CLASSES = str.maketrans(
    {**dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "U"),
     **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "l"), **dict.fromkeys("0123456789", "d")}
)  # fmt: skip
_EXAMPLE = re.compile(
    r"example|xxxx|\*\*\*|\.\.\.|…|your[-_ ]?|placeholder|change[-_]?(?:me|it)|redacted|replace"
    r"|insert|dummy|fake|sample|todo|deadbeef|foobar|not[-_]?a[-_]?real"
    r"|lorem|hidden|masked"
)
_COUNTED = re.compile("abcdefgh|12345678|01234567|87654321|abc123|123abc|a1b2c3|abcd1234|1234abcd")
_COUNTED_WITHIN = 24
"""Counting up is an example at the beginning; further on it may be what stands after a key."""
_DOCUMENTED = (
    "16c7e42f292c69",
    "_test_4ec39hqlyjwd",
    "_test_bqokikjovbii",
    "hdqtcvch1vgwjx",
    "pdfzkvetue8sk7",
    "sydagmwka4jsxz",
    "eyjzdwiioiixmjm0nty3odkw",
)
"""Pieces of the keys that vendors print in their own manuals, in lower case."""
_CODE = re.compile(
    r"^(?:process|os|env|config|settings|self|this|args|options|params|request|req|ctx"
    r"|secrets?|vars?|data|var|local|module)\.|^[$%{(<\[]|\$[{(]|\{\{|#\{|%[sdvqr(]|://|->|\\"
)
_BARE_CODE = re.compile(r"^[@&*#/~.|]|[|;)]$")
"""Signs that are code in bare text and ordinary in a quoted password."""
_PLAIN_WORDS = words(
    "null none nil true false undefined string str bytes number integer boolean optional "
    "required password passwd secret token apikey api_key unknown empty default missing "
    "disabled enabled postgres postgresql mysql mongodb mongo redis rabbitmq guest root admin "
    "administrator user username pass test testing tester demo login localhost public private "
    "basic bearer oauth qwerty letmein passw0rd password1 password123 hunter2 test1234 "
    "test123 secret123 admin123 s3cret changeit minioadmin pass123 pass1234 user123 "
    "mypassword mysecret mytoken"
)
_CHUNK = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+")
_PATH = re.compile(r"^(?:~|\.{0,2})/[\w@.~-]+(?:/|$)|^\.?[\w-]+(?:/[\w.-]+){2,}$")
_FILE = re.compile(r"(?i)^[\w./@-]*\.(?:py|[jt]sx?|[cm]js|json|ya?ml|md|txt|go|rs|java|rb|php|sh|"
                   r"html?|css|toml|lock|env|pem|crt|cer|key|cfg|ini|log|csv|xml|sql|com|org|io|"
                   r"net|dev|local|example)$")  # fmt: skip
_DIGEST = re.compile(r"(?i)^(?:(?:sha(?:1|256|384|512)|md5)[-:~=].+|[0-9a-f]{32}|[0-9a-f]{40}|"
                     r"[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$")  # fmt: skip
_UUID = re.compile(r"(?i)^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$")
_BUILT = re.compile(r"^\d{4}-\d\d-\d\d|/.*/|/.*\.\w{1,5}$|\w=\w|\|")
"""Dates, paths and lists: put together by a program, not drawn at random."""
_VERSION = re.compile(r"^[v^~>=<]*\d+(?:\.\d+)+(?:[-+.][\w.]{1,16})?$")
_NUMBERS = re.compile(r"^[\d.,:_/+\-TZ ]+$")
_SPRINKLED = re.compile(r"[A-Za-z][0-9]+[A-Za-z]+[0-9]+[A-Za-z]")
_CONSONANTS = re.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{6}")


def is_example(value: str) -> bool:
    """A value written to show a format: marked as such, or of hardly any different characters."""
    lowered = value.lower()
    if _EXAMPLE.search(lowered) or _COUNTED.search(lowered[:_COUNTED_WITHIN]):
        return True
    if any(piece in lowered for piece in _DOCUMENTED):
        return True
    body = value[-24:]
    return len(set(body)) <= max(2, len(body) // 5)


def count_changes(value: str) -> int:
    """How often the kind of character (upper, lower, digit, other) changes along a value."""
    kinds = value.translate(_CLASSES)
    return sum(map(str.__ne__, kinds, kinds[1:]))


def is_wordy(value: str) -> bool:
    """It splits into words and small numbers, as names in code and prose do."""
    chunks = _CHUNK.findall(value)
    if not chunks:
        return True
    digits = sum(len(chunk) for chunk in chunks if chunk.isdigit())
    letters = [chunk for chunk in chunks if not chunk.isdigit()]
    if digits > 6 or not letters or _CONSONANTS.search(value) or _SPRINKLED.search(value):
        return False
    average = sum(map(len, letters)) / len(letters)
    return average >= 3.2 or (average >= 2.6 and not digits)


def is_random(value: str, *, least: int = 16) -> bool:
    """Long and mixed enough that nobody typed it, and no digest or identifier."""
    if len(value) < least or _DIGEST.match(value) or _UUID.match(value):
        return False
    has_letter = any(map(str.isalpha, value))
    has_digit = any(map(str.isdigit, value))
    if not has_letter or not (has_digit or count_changes(value) * 3 >= len(value)):
        return False
    return not is_wordy(value)


def is_digest_or_uuid(value: str) -> bool:
    """A bare hash or UUID, which is a secret only where a vendor's name says so."""
    return bool(_DIGEST.match(value) or _UUID.match(value))


def is_secret_value(value: str, strength: Strength, *, quoted: bool, vendor: bool = False) -> bool:
    """Whether the value beside a telling name has to go."""
    if not MIN_VALUE_LENGTH <= len(value) <= MAX_VALUE_LENGTH or _is_harmless(value, quoted=quoted):
        return False
    if strength is Strength.WEAK:
        return (is_random(value) and not _BUILT.search(value)) or (
            vendor and is_digest_or_uuid(value)
        )
    if strength is Strength.STRONG:
        return _is_token(value)
    return _is_password(value, quoted=quoted)


def _is_harmless(value: str, *, quoted: bool) -> bool:
    """Code, placeholders, file names and numbers."""
    lowered = value.lower()
    if lowered in _PLAIN_WORDS or (_NUMBERS.match(value) and len(value) < 12):
        return True
    if " " in value and (not quoted or value.count(" ") > 3):
        return True
    if _is_code(value, quoted=quoted) or _is_file(value) or _VERSION.match(value):
        return True
    return is_example(value)


def _is_file(value: str) -> bool:
    """A file's name, or a path of words."""
    return bool(_FILE.match(value) or (_PATH.match(value) and is_wordy(value)))


def _is_code(value: str, *, quoted: bool) -> bool:
    return bool(_CODE.search(value) or (not quoted and _BARE_CODE.search(value)))


def _is_token(value: str) -> bool:
    if len(value) < 8 or " " in value:
        return False
    if is_digest_or_uuid(value):
        return not value.lower().startswith(("sha", "md5"))
    has_digit = any(map(str.isdigit, value))
    if not has_digit and count_changes(value) * 3 < len(value):
        return len(value) >= 16 and bool(_CONSONANTS.search(value)) and not is_wordy(value)
    return any(map(str.isalpha, value)) and not is_wordy(value)


def _is_password(value: str, *, quoted: bool) -> bool:
    has_digit = any(map(str.isdigit, value))
    has_sign = not value.isalnum()
    if value.isalpha():
        return not value.islower() and count_changes(value) * 3 >= len(value)
    if not has_digit and not any(c in value for c in "!@#$%^&*+=?~"):
        return quoted and value.count("-") >= 3 and " " not in value
    if " " in value:
        return has_digit and not is_wordy(value)
    return has_digit or has_sign
