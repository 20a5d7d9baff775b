"""How many tokens a text costs, without a vocabulary: an estimate of what o200k would count.

The text is cut where o200k cuts it. Digits, blanks and short signs are then one token each; a word
is one token if it looks like words usually do, and more the stranger its letters are. The weights
were fitted to real text (``bench/tokens.py`` says how far off they are). The same text always gives
the same number, on every machine and every version of Python.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import ne

from warmstart.warm._token_weights import ALPHABET, BUCKETS, LENGTHS, SCALE, TRIPLES, ZERO

_PIECES = re.compile(
    r"(?:[^\w\r\n]|_)?(?:[A-Z]*(?:(?![A-Z])[^\W\d_])+|[A-Z]+)(?:'(?:s|t|re|ve|m|ll|d)(?![a-z]))?"
    r"|\d{1,3}"
    r"| ?(?:[^\s\w]|_)+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_WEIGHTS = {char: (place - ZERO) / SCALE for place, char in enumerate(ALPHABET)}
_TRIPLES = tuple(_WEIGHTS[char] for char in TRIPLES)
_LENGTHS = tuple(tuple(_WEIGHTS[char] for char in row) for row in LENGTHS)
_MAX_LENGTH = len(_LENGTHS[0]) - 1
_SIGNS = (0.0, 1.0, 1.01, 1.07, 1.36, 1.7, 1.96)
"""Tokens of a run of signs, by its length."""
_PER_RARE_SIGN = 1.1
_PER_CHANGE = 0.35
_PER_SIGN = 0.02
"""Of one sign repeated, o200k takes up to 64 at once: what counts is how often it changes."""
_BIAS = 0.985
"""A word costs one token at least, so that errors of the fit lean upwards; this takes it back."""
_PER_LETTER = (
    (0x024F, 0.32),  # Latin with accents
    (0x03FF, 0.42),  # Greek
    (0x052F, 0.29),  # Cyrillic
    (0x05FF, 0.45),  # Armenian, Hebrew
    (0x08FF, 0.39),  # Arabic
    (0x0DFF, 0.45),  # scripts of India
    (0x1FFF, 0.55),  # Thai and its neighbours
    (0x30FF, 0.75),  # kana
    (0x9FFF, 0.72),  # Han
    (0xD7FF, 0.63),  # Hangul
)
_PER_OTHER_LETTER = 1.5


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has; never less than one for a text that is not empty."""
    return max(round(_BIAS * sum(map(_cost, _PIECES.findall(text)))), 1) if text else 0


@lru_cache(maxsize=1 << 14)
def _cost(piece: str) -> float:
    word = _LETTERS.search(piece)
    if word is None:
        return _cost_of_signs(piece)
    letters = word.group()
    if not letters.isascii():
        return max(sum(map(_cost_of_letter, letters)), 1.0)
    lead = 0 if word.start() == 0 else 1 if piece[0] == " " else 2
    return _cost_of_word(letters, lead)


def _cost_of_signs(piece: str) -> float:
    length = len(piece)
    if piece.isspace() or piece.isdigit():
        return 1.0
    if not piece.isascii():
        # Signs beyond ASCII are rarely joined: each kind is a token or two of its own.
        return max(len(set(piece.strip())) * _PER_RARE_SIGN, 1.0 + length * _PER_SIGN)
    if length < len(_SIGNS):
        return _SIGNS[length]
    changes: int = sum(map(ne, piece, piece[1:]))
    return 1.0 + changes * _PER_CHANGE + length * _PER_SIGN


def _cost_of_word(letters: str, lead: int) -> float:
    """One token at least, and no more than one for each letter and the sign before them."""
    row = lead + 3 if len(letters) > 1 and letters.isupper() else lead
    cost = _LENGTHS[row][min(len(letters), _MAX_LENGTH)]
    codes = b"^%b$" % letters.lower().encode()
    for first, second, third in zip(codes, codes[1:], codes[2:], strict=False):
        cost += _TRIPLES[(first * 961 + second * 31 + third) % BUCKETS]
    return float(min(max(cost, 1.0), len(letters) + 1.0))


def _cost_of_letter(letter: str) -> float:
    code = ord(letter)
    return next((cost for last, cost in _PER_LETTER if code <= last), _PER_OTHER_LETTER)


__all__ = ["estimate_tokens"]
