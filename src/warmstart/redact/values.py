"""Whether a value that stands next to a telling name is a secret, or a word, a path, some code.

Everything here looks at one short value: which characters, how they alternate, whether it splits
into words, and whether the *whole* of it is a placeholder, a reference or an expression. One sign
in it never decides. Where it stands (``Place``) says how much may be code.
"""

from __future__ import annotations

import re
from enum import IntEnum

from warmstart.redact.names import Strength


class Place(IntEnum):
    """What a value may be where it stands."""

    BARE = 0
    """Without quotes in the middle of a line: code as likely as not."""
    LINE = 1
    """Without quotes to the end of its line: YAML, INI, or a statement."""
    QUOTED = 2
    """A string in quotes: a literal, though it may be a label or a type."""
    LITERAL = 3
    """``NAME=value`` of a shell or .env file, a flag, an element, SQL: never an expression."""


def words(text: str) -> frozenset[str]:
    """A set of words from a line of them."""
    return frozenset(text.split())


MIN_VALUE_LENGTH = 6
MAX_VALUE_LENGTH = 4096
LOOK = 256
"""How much of a value is looked at; more would tell nothing new."""
_CLASSES = str.maketrans(
    {**dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "U"),
     **dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "l"), **dict.fromkeys("0123456789", "d")}
)  # fmt: skip
_EXAMPLE = re.compile(
    r"example|xxxx|\*\*\*|\.\.\.|…|(?<![a-z])your|placeholder|change[-_]?(?:me|it|this)|redacted"
    r"|(?<![a-z])(?:replace|insert|dummy|fake|sample|todo|hidden|masked|lorem|none|null)(?![a-z])"
    r"|deadbeef|foobar|not[-_]?a[-_]?real|replace[-_]?(?:me|with|this)|insert[-_]?your"
)
_COUNTED = re.compile("abcdefgh|12345678|01234567|87654321|abc123|123abc|a1b2c3|abcd1234|1234abcd")
_REPEATED = re.compile(r"(.)\1{3}")
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
_MEMBER = re.compile(
    r"^(?:process|os|env|config|settings|self|this|args|options|params|request|req|ctx"
    r"|secrets?|vars?|data|local|module|import\.meta)\.[A-Za-z_]"
)
_SUBSTITUTION = re.compile(
    r"\$\{\{[^{}]{0,80}\}\}|\$\{[^{}]{0,80}\}|\$\([^()]{0,80}\)|\{\{[^{}]{0,80}\}\}|#\{[^{}]{0,80}\}"
    r"|%\(\w{1,40}\)[sdr]|%[sdvqr]|\{[\w.:!\[\]]{0,40}\}|<%[=-]?[^%]{0,80}%>"
    r"|</?[A-Za-z_][\w .:/|-]{0,60}>"
    r"|@\w{2,40}@|%\w{2,40}%|\$[A-Za-z_]\w{0,60}|\[[A-Za-z][\w -]{0,40}\]|`[^`]{0,80}`"
)
"""What templates, shells, printf and documents write where a value goes."""
_CUT_REFERENCE = re.compile(r"\$\([A-Za-z]{2}|\$?\{\{\s?[a-z]*$|<%[=-]?$|\$\{[A-Z_]+[:?+-]")
"""The beginning of a substitution that has blanks in it."""
_AROUND = re.compile(r"[A-Za-z_./:@ -]{0,120}")
"""What may stand around a substitution."""
_CALL = re.compile(r"[&*!]?(?P<name>[A-Za-z_$][\w$.:?>-]{0,80}?)(?P<sign>[(\[{<])")
_NO_CALL = re.compile(r"\)[A-Za-z0-9]")
_UNCLOSED = re.compile(r"[^\s)\]}>\"'`,]{3,}+")
"""Never in code: a word right after the arguments, or one word and no end of them."""
_PATH_OF_NAMES = re.compile(
    r"[&*!]?[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+[;,)\]}]*"
)
_STATEMENT = re.compile(
    r"(?:await|new|return|not|lambda|async|function|typeof|yield|if|else|in|is|or|and|for|from|as)"
    r"(?=[ (])|[\w.\[\]():'\"]+"
    r" (?:[-+*/%|&?:=!<>]{1,3}|if|or|and|in|is|as|not) |\S*=> ?[\w({]|//|/\*"
)
_BARE_CODE = re.compile(r"^[@&*#/~.|]|[|;)]$")
"""Signs that are code in the middle of bare text and ordinary in a password."""
_RULES = re.compile(r"[a-z_]{2,}+(?::[\w,.]++)?(?:\|[a-z_]{2,}+(?::[\w,.]++)?)++\Z")
"""What frameworks write to check a field: ``required|string|min:8``."""
_REGEX = re.compile(r"^\^.*\$$|^/.*/[gimsuy]{0,4}$|\\[dwsS][+*{]|\[\^?(?:a-z|A-Z|0-9)")
_PLAIN_WORDS = words(
    "null none nil true false undefined string str bytes number integer boolean optional object "
    "required password passwd secret token apikey api_key unknown empty default missing invalid "
    "disabled enabled postgres postgresql mysql mongodb mongo redis rabbitmq guest root admin "
    "administrator user username pass test testing tester demo login localhost public private "
    "basic bearer oauth qwerty letmein passw0rd password1 password123 hunter2 test1234 "
    "test123 secret123 admin123 s3cret changeit minioadmin pass123 pass1234 user123 "
    "mypassword mysecret mytoken sha1 sha256 sha384 sha512 md5 oauth2 base64 argon2 argon2id "
    "argon2i pbkdf2 pbkdf2_sha256 bcrypt scrypt hs256 hs512 rs256 es256 utf-8 utf8 hashed plain "
    "plaintext encrypted incorrect forbidden expired rejected accepted mismatch matches correct "
    "confirm confirmation validator validate validation visible toggle numeric minimum maximum "
    "wachtwoord passwort kennwort motdepasse contrasena contraseña senha parola haslo hasło "
    "lösenord adgangskode salasana jelszo secretary interactive keyboard same-origin "
    "include omit same-site memory session cookie header query system global internal external "
    "postgres: unset unused nothing something anything whatever random generated automatic stdin "
    "prompt environment variable reference literal callable function method property attribute "
    "supabase firebase keycloak kerberos trust ident peer gssapi scram-sha-256 reject allowed "
    "denied success failed failure change reset update create delete remove forgot lowercase "
    "uppercase alphanumeric security current-password new-password one-time-code one-time "
    "service account provider managed identity workspace repository organization project"
)
_LABELS = words(
    "password passwords passwd pass pwd passphrase secret secrets token tokens key keys apikey "
    "auth authentication authorization credential credentials name value field input form user "
    "username users email login logout test tests testing example examples your my dev default "
    "bearer "
    "header headers param parameter type types id ids reset forgot confirm confirmation change "
    "current new old invalid required missing expired error errors label title text message hint "
    "placeholder help here file path url uri env environment variable config configuration access "
    "refresh client server session cookie api oauth oidc jwt saml sso ssl tls cert certificate pem "
    "hash hashed encrypted plain reader writer manager service store provider is not must should "
    "set unset get the this that with without for and or of to in from rotation rotate policy "
    "grants flow code implicit device read write admin repo scope scopes class btn button icon "
    "visible toggle hide show group kubernetes docker github gitlab aws azure google database db"
)
"""A value of words with one of these among them is a label, a field or a placeholder."""
_WITHOUT_SIGNS = re.compile(r"[^\d!@#$%^&*+=?~]*+")
_NO_SIGNS = str.maketrans("", "", "-_./'")
_SEPARATED = re.compile(r"[^\W\d_]+")
_CHUNK = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+")
_PATH = re.compile(r"^(?:~|\.{0,2})/[\w@.~-]++(?:/|$)|^\.?[\w-]++(?:/[\w.-]++){2,}+$")
_FILE = re.compile(r"(?i)^[\w./@-]*\.(?:py|[jt]sx?|[cm]js|json|ya?ml|md|txt|go|rs|java|rb|php|sh|"
                   r"html?|css|toml|lock|env|pem|crt|cer|key|cfg|ini|log|csv|xml|sql|com|org|io|"
                   r"net|dev|local|example)$")  # fmt: skip
_DIGEST = re.compile(r"(?i)^(?:(?:sha(?:1|256|384|512)|md5)[-:~=].+|[0-9a-f]{16}|[0-9a-f]{24}|"
                     r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|"
                     r"[0-9a-f]{128})$")  # fmt: skip
_UUID = re.compile(r"(?i)^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$")
_BUILT = re.compile(
    r"^\d{4}-\d\d-\d\d|^\d{8}[_T-]\d{4,6}|/.*/|/.*\.\w{1,5}$|\w=\w|\||\.(?:jsonl?|py|md|txt)\b|#\d{1,6}$"
)
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


def is_secret_value(
    value: str, strength: Strength, *, place: Place, head: bool = True, vendor: bool = False
) -> bool:
    """Whether the value beside a telling name has to go.

    ``head`` says that the name is about the secret itself, ``vendor`` that it names a vendor.
    """
    if not MIN_VALUE_LENGTH <= len(value) <= MAX_VALUE_LENGTH:
        return False
    value = value[:LOOK]
    if _is_harmless(value, strength, place):
        return False
    if strength is Strength.WEAK:
        return (is_random(value) and not _BUILT.search(value)) or (
            vendor and is_digest_or_uuid(value)
        )
    if strength is Strength.STRONG:
        return _is_token(value, place=place, head=head)
    return _is_password(value, place=place, head=head)


def _is_harmless(value: str, strength: Strength, place: Place) -> bool:
    """Placeholders, references, file names and numbers."""
    if _is_plain(value) or (" " in value and (place < Place.QUOTED or value.count(" ") > 3)):
        return True
    if _stands_for_another(value) or (place is Place.BARE and _is_bare_code(value)):
        return True
    return is_example(value) and (strength is not Strength.PASSWORD or _is_marked(value))


def _is_bare_code(value: str) -> bool:
    """Begins or ends as code does; a random value with one such sign is a password."""
    if not _BARE_CODE.search(value):
        return False
    return value.count("/") > 1 or not is_random(value, least=12)


def _is_plain(value: str) -> bool:
    """A word of no secrecy, or a short number."""
    return value.lower() in _PLAIN_WORDS or bool(_NUMBERS.match(value) and len(value) < 12)


def _stands_for_another(value: str) -> bool:
    """A reference, a file, an address, a version or an expression to match against."""
    return (
        is_reference(value)
        or bool(_CUT_REFERENCE.match(value) or _VERSION.match(value) or _REGEX.search(value))
        or _RULES.match(value) is not None
        or _is_file(value)
    )


def _is_marked(value: str) -> bool:
    """An example that says so in words, or nothing but one sign; not a password with a few dots."""
    few = len(set(value)) <= 4 or _REPEATED.search(value) is not None
    return few or not value.isascii() or is_wordy(value) or value.isalnum()


def _is_file(value: str) -> bool:
    """A file's name, a path of words, or an address."""
    if "://" in value and value[0].isalpha() and value.partition("://")[0].isalnum():
        return True
    return bool(_FILE.match(value) or (_PATH.match(value) and is_wordy(value)))


def is_reference(value: str) -> bool:
    """The whole of it stands for a value kept elsewhere: ``${X}``, ``<token>``, ``%(x)s``."""
    if _MEMBER.match(value):
        return is_wordy(value)
    rest, count = _SUBSTITUTION.subn("", value)
    if not count or not all(map(_is_name, _SUBSTITUTION.findall(value))):
        return False
    if not any(map(str.isalnum, rest)):
        return len(rest) < 6
    return bool(_AROUND.fullmatch(rest)) and is_wordy(rest)


def _is_name(piece: str) -> bool:
    inner = piece.strip("$#%@<>{}()[]`/= ")
    return len(inner) <= 2 or inner.isupper() or is_wordy(inner)


def is_expression(line: str) -> bool:
    """The rest of a line after a name reads as code: a call, a member, a condition, a comment."""
    line = line.rstrip()
    if _STATEMENT.match(line) or _PATH_OF_NAMES.fullmatch(line):
        return is_wordy(line[:LOOK]) or " " in line
    if (line[:1], line.rstrip(",;")[-1:]) in {("(", ")"), ("[", "]"), ("{", "}")}:
        return True
    return is_call(line) or line in {"{", "[", "(", "|", ">", "|-", ">-"}


def is_call(line: str) -> bool:
    """A name of words with its arguments, with an index, or with members."""
    if _is_path_of_names(line):
        return True
    call = _CALL.match(line)
    if call is None:
        return False
    name, after = call["name"], line[call.end() :].rstrip(",;")
    if _NO_CALL.search(line) or _UNCLOSED.fullmatch(after):
        return False
    if call["sign"] == "(" and (_is_identifier(name) or is_wordy(name)):
        return True
    return after.rstrip(")]}>?") != after and (name.islower() or is_wordy(name))


def _is_path_of_names(line: str) -> bool:
    """``a.b.c``, of words or of single letters."""
    if not _PATH_OF_NAMES.fullmatch(line):
        return False
    return is_wordy(line[:LOOK]) or len(line) < 2 * len(line.split(".")) + 2


def _is_identifier(name: str) -> bool:
    """Of words of three letters or more, and without digits."""
    chunks = _CHUNK.findall(name)
    return sum(map(len, chunks)) >= 3 * len(chunks) and not any(map(str.isdigit, chunks))


def _is_label(value: str) -> bool:
    """Words that name a field, a kind or a state, or that only say where a value goes."""
    chunks = [chunk.lower() for chunk in _CHUNK.findall(value)]
    return any(chunk in _LABELS for chunk in chunks) or len(set(value.lower())) <= 4


def _is_token(value: str, *, place: Place, head: bool) -> bool:
    if len(value) < 8 or " " in value:
        return False
    if is_digest_or_uuid(value):
        return not value.lower().startswith(("sha", "md5"))
    if place is Place.LITERAL and head and _is_phrase(value):
        return True
    if is_wordy(value) or (place < Place.QUOTED and _BARE_CODE.search(value)):
        return False
    return _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Letters with digits or in changing case, or letters no word has."""
    if any(map(str.isdigit, value)) or count_changes(value) * 3 >= len(value):
        return any(map(str.isalpha, value))
    return len(value) >= 16 and bool(_CONSONANTS.search(value))


def _is_phrase(value: str) -> bool:
    """Words joined by signs, none of them a label: chosen by a person."""
    joined = len(value) >= 12 and len(_SEPARATED.findall(value)) >= 2
    return joined and value.isascii() and not _is_label(value)


def _is_password(value: str, *, place: Place, head: bool) -> bool:
    if " " in value:
        return any(map(str.isdigit, value)) and not is_wordy(value)
    core = value.strip(".,:;!?")
    if all(character.isalpha() or character in "-_./'" for character in core):
        return _is_word_password(core, place=place, head=head)
    if place < Place.QUOTED:
        return not _WITHOUT_SIGNS.fullmatch(value) or _is_jumbled(value)
    return head or not is_wordy(value)


def _is_jumbled(value: str) -> bool:
    """Ten or more characters whose kind changes too often for words."""
    return len(value) >= 10 and not is_wordy(value) and count_changes(value) * 3 >= len(value)


def _is_word_password(value: str, *, place: Place, head: bool) -> bool:
    """A password without digits: random letters, or words where nothing else can stand."""
    literal = place >= Place.QUOTED
    if not value.isascii():
        return False
    if not is_wordy(value):
        return _changes_case(value.translate(_NO_SIGNS)) or (literal and len(value) >= 10)
    if "/" in value or _is_label(value):
        return False
    return literal and (_changes_case(value) or (head and _is_chosen(value, place)))


def _changes_case(value: str) -> bool:
    return value.isalpha() and not value.islower() and count_changes(value) * 3 >= len(value)


def _is_chosen(value: str, place: Place) -> bool:
    """Words that a person may have chosen, as long as they must be where they stand."""
    if place is Place.LITERAL:
        return len(value) >= MIN_VALUE_LENGTH
    return value.count("-") >= 3 or (len(value) >= 8 and value.isalpha() and value.islower())
