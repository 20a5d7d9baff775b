"""Distribution functions: normal, beta, Student's t and the exact binomial test.

Accurate to about 1e-12 in the range that tests and intervals need, and tails of the normal and of
Student's t to as many of their own digits; the tests hold them against scipy.
"""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = [
    "beta_cdf",
    "binomial_two_sided",
    "normal_cdf",
    "normal_quantile",
    "t_cdf",
    "t_quantile",
]

_ROOT_TWO = math.sqrt(2.0)
_ROOT_PI = math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_TINY = 1e-300
_MAX_STEPS = 20_000
_SMOOTH_DF = 2e4
"""From here on an expansion gives every digit we keep, and takes no longer for more of them."""
_NORMAL_DF = 1e18
"""From here on Student's t is the normal to every digit we keep."""


def normal_cdf(x: float) -> float:
    """P(Z <= x) for a standard normal Z."""
    return 0.5 * math.erfc(-x / _ROOT_TWO)


@lru_cache(maxsize=256)
def normal_quantile(p: float) -> float:
    """The x with P(Z <= x) = p; -inf and inf at 0 and 1.

    Starts from Abramowitz and Stegun (1964) 26.2.23 and polishes with Halley's method.
    """
    if p <= 0.0:
        return -math.inf
    if p >= 1.0:
        return math.inf
    if p > 0.5:
        return -normal_quantile(1.0 - p)
    if p == 0.5:
        return 0.0
    t = math.sqrt(-2.0 * math.log(p))
    top = 2.515517 + t * (0.802853 + t * 0.010328)
    x = top / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    for _ in range(3):
        error = (normal_cdf(x) - p) * _ROOT_TWO_PI * math.exp(x * x / 2.0)
        x -= error / (1.0 + x * error / 2.0)
    return x


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b).

    Continued fraction of Abramowitz and Stegun (1964) 26.5.8, evaluated by Lentz's method.
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    front = math.exp(log_front)
    if x < (a + 1.0) / (a + b + 2.0):
        return min(1.0, front * _beta_fraction(x, a, b) / a)
    return max(0.0, 1.0 - front * _beta_fraction(1.0 - x, b, a) / b)


def _beta_fraction(x: float, a: float, b: float) -> float:
    c = 1.0
    d = 1.0 / (1.0 - (a + b) * x / (a + 1.0) or _TINY)
    result = d
    for m in range(1, _MAX_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        # Lentz's method stumbles over an exact nought only; _TINY in its place.
        d = 1.0 / (1.0 + even * d or _TINY)
        c = 1.0 + even / c or _TINY
        change = c * d
        d = 1.0 / (1.0 + odd * d or _TINY)
        c = 1.0 + odd / c or _TINY
        change *= c * d
        result *= change
        if abs(change - 1.0) < 1e-15:
            break
    return result


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) for Student's t; 0.5 everywhere if there are no degrees of freedom."""
    if df <= 0.0 or math.isnan(t):
        return 0.5
    if df > _NORMAL_DF:
        return normal_cdf(t)
    tail = _t_tail(abs(t), df)
    return tail if t < 0.0 else 1.0 - tail


def _t_tail(t: float, df: float) -> float:
    """P(T > t) for t >= 0; a small tail is never what a subtraction has left of something large."""
    if math.isinf(t):
        return 0.0
    if df > _SMOOTH_DF:
        return normal_cdf(-_as_normal(t, df))
    square, half = t * t, df / 2.0
    if square == 0.0:
        return 0.5
    ratio = square / df
    growth = math.log1p(ratio) if ratio < math.inf else 2.0 * math.log(t) - math.log(df)
    # I_x(df/2, 1/2) at x = df / (df + t^2), by logarithms that keep their digits near x = 1.
    front = math.exp(_log_gamma_step(half) - half * growth - 0.5 * math.log1p(df / square))
    front /= _ROOT_PI
    if square * (df + 2.0) < 3.0 * df:  # where the fraction converges; the tail is above 4 %
        return 0.5 - front * _beta_fraction(square / (df + square), 0.5, half)
    return front * _beta_fraction(df / (df + square), half, 0.5) / df


def _log_gamma_step(a: float) -> float:
    """Logarithm of gamma(a + 1/2) / gamma(a), without two large ones to subtract for large a.

    Series in 1/a of Tricomi and Erdelyi (1951).
    """
    if a < 100.0:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    r = 1.0 / a
    series = r * (-1 / 8 + r * (1 / 128 + r * (5 / 1024 + r * (-21 / 32768 - r * 399 / 262144))))
    return 0.5 * math.log(a) + math.log1p(series)


def _as_normal(t: float, df: float) -> float:
    """The normal deviate with the same tail as ``t`` (Hill 1970, algorithm 395)."""
    a = df - 0.5
    b = 48.0 * a * a
    z = math.sqrt(a * math.log1p(t / df * t))
    if z > 100.0:  # a tail of nothing, and powers that may overflow
        return z
    square = z * z
    second = z * (855.0 + square * (240.0 + square * (33.0 + square * 4.0)))
    first = z * (3.0 + square)
    return z + first / b - second / (10.0 * b * (b + 0.8 * square * square + 100.0))


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The t with P(T <= t) = p; infinite where there are no degrees of freedom."""
    if p == 0.5:
        return 0.0
    if p > 0.5:
        return -t_quantile(1.0 - p, df)
    if df <= 0.0 or p <= 0.0:
        return -math.inf
    if df > _NORMAL_DF:
        return normal_quantile(p)
    return -_t_upper(p, df)


def _t_upper(tail: float, df: float) -> float:
    """Newton inside a bracket, which halves wherever Newton would leave it."""
    low, high = 0.0, 1.0
    while _t_tail(high, df) > tail:
        low, high = high, high * 2.0
    x = min(max(-normal_quantile(tail), low), high)
    log_density = _log_gamma_step(df / 2) - 0.5 * math.log(df * math.pi)
    for _ in range(200):
        excess = _t_tail(x, df) - tail
        low, high = (x, high) if excess > 0 else (low, x)
        density = math.exp(log_density - (df + 1) / 2 * math.log1p(x * x / df))
        step = x + excess / density if density > 0.0 else math.inf
        following = step if low < step < high else (low + high) / 2.0
        if abs(following - x) <= 1e-15 * following:
            return following
        x = following
    return x


def binomial_two_sided(k: int, n: int, p: float = 0.5) -> float:
    """Exact two-sided binomial p: the probability of all counts no likelier than ``k``.

    Clopper and Pearson (1934) tails joined by the method of small p-values. 1.0 without trials.
    """
    if n <= 0 or not 0.0 < p < 1.0:
        return 1.0
    if p == 0.5:
        smaller = min(k, n - k)
        if 2 * smaller == n:
            return 1.0
        return min(1.0, 2.0 * beta_cdf(0.5, float(n - smaller), float(smaller + 1)))
    logs = _binomial_logs(n, p)
    limit = logs[k] + 1e-7
    return min(1.0, math.fsum(math.exp(log) for log in logs if log <= limit))


def _binomial_logs(n: int, p: float) -> list[float]:
    whole = math.lgamma(n + 1)
    yes, no = math.log(p), math.log1p(-p)
    return [
        whole - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * yes + (n - i) * no
        for i in range(n + 1)
    ]
