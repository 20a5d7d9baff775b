"""The estimate of tokens: known counts, and what must hold for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.warm import estimate_tokens

ENGLISH = (
    "The quick repair of the checkout took an afternoon. We found that the total of the cart "
    "was rounded twice, once for every item and once at the end, and removed the first of "
    "them. All tests pass now, and the amounts shown to the customer agree with the invoice."
)
CODE = (
    "def total(items: list[Item]) -> Decimal:\n    amount = Decimal(0)\n"
    "    for item in items:\n        amount += item.price * item.quantity\n"
    '    return amount.quantize(Decimal("0.01"))\n'
)
JSON = (
    '{"output": "1 failed, 3 passed in 0.12s", "exit_code": 1, "error": null, '
    '"files": ["cart.py", "tests/test_cart.py"]}'
)
CHINESE = (
    "数据库的备份每天凌晨两点自动开始。如果磁盘空间不足，脚本会先删除三十天以前的旧文件，"  # noqa: RUF001 - Chinese
    "然后再尝试一次。运行失败时，系统会给值班人员发送邮件。"  # noqa: RUF001 - same
)
COUNTED = {"english": (ENGLISH, 56), "code": (CODE, 45), "json": (JSON, 43), "zh": (CHINESE, 47)}
"""Texts with the number of tokens that o200k gives them."""


@pytest.mark.parametrize("kind", COUNTED)
def test_estimates_are_within_a_tenth_of_the_real_count(kind: str) -> None:
    text, real = COUNTED[kind]
    assert estimate_tokens(text) == pytest.approx(real, rel=0.1)


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") == estimate_tokens("a") == 1


@given(st.text(max_size=200))
def test_any_text_has_an_estimate_of_its_own_order(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= 2 * len(text.encode()) + 1


@given(st.text(min_size=1, max_size=80), st.integers(2, 5))
def test_a_text_repeated_on_lines_of_its_own_costs_its_multiple(text: str, times: int) -> None:
    line = f"x {text}x\n"
    single = estimate_tokens(line * 10)
    assert estimate_tokens(line * 10 * times) == pytest.approx(times * single, rel=0.02, abs=times)


def test_a_line_of_one_sign_is_cheap_and_a_mixed_one_is_not() -> None:
    assert estimate_tokens("-" * 64) < 4
    assert estimate_tokens("}])>" * 16) > 10


def test_strange_words_cost_more_than_known_ones() -> None:
    assert estimate_tokens("xqzvkwjj") > estimate_tokens("function")
