from __future__ import annotations

import pytest

from warmstart.errors import UsageError
from warmstart.experiment.ablation import choose_variants, list_ablations
from warmstart.experiment.arms import ArmKind, parse_arm
from warmstart.experiment.variants import PARTS, STRATEGIES, shape_template
from warmstart.model import Marker, MarkerKind
from warmstart.model.outcome import ErrorClass
from warmstart.model.template import Example, Guidance, PatternType, Recovery, Template
from warmstart.warm import build_warmup


def example(number: int, kind: PatternType = PatternType.SEQUENCE) -> Example:
    return Example(
        tool=f"tool{number % 3}", arguments={"n": str(number)}, result=f"result {number} " * 60,
        intent=f"Do number {number}.", closing="Done.", pattern_type=kind,
    )  # fmt: skip


TEMPLATE = Template(
    name="shop",
    system_context="A shop.",
    guidance=(Guidance(tool="tool0", text="Give n as text.", calls=9, errors=3),),
    examples=(
        example(0, PatternType.INIT), *(example(n) for n in range(1, 5)),
        example(5, PatternType.FINAL),
    ),
    recoveries=(
        Recovery(
            tool="tool1", error_class=ErrorClass.BAD_ARGUMENTS, signature="n is no number",
            failed_arguments={"n": 1}, error="n is no number", repaired_by="tool1",
            arguments={"n": "1"}, result="fine", change="n as text",
        ),
    ),
    markers=(Marker(MarkerKind.FILE, "stock.csv", 9),),
)  # fmt: skip


def parts(variant: str, budget: int = 4000) -> tuple[str, ...]:
    form = shape_template(TEMPLATE, variant, budget)
    return build_warmup(
        form.template, template_id="x", budget=form.budget, limits=form.limits
    ).parts  # fmt: skip


def test_an_arm_may_name_a_form_of_its_template() -> None:
    assert parse_arm("warm:shop@2/no-guidance+budget-300") == (
        ArmKind.WARM, "shop@2", "no-guidance+budget-300",
    )  # fmt: skip
    assert parse_arm("warm:shop").variant == ""
    assert parse_arm("cold:a/b").template == "a/b"


@pytest.mark.parametrize("arm", ["warm:shop/", "warm:shop/smaller", "warm:shop/examples-0"])
def test_a_form_that_is_none_is_refused(arm: str) -> None:
    with pytest.raises(UsageError, match="no such form"):
        parse_arm(arm)


@pytest.mark.parametrize("part", PARTS)
def test_one_part_is_left_out_and_the_others_stay(part: str) -> None:
    word = {"examples": "example:", "recoveries": "recovery:"}.get(part, part)
    assert any(one.startswith(word) for one in parts("whole"))
    left = parts(f"whole+no-{part}")
    assert not any(one.startswith(word) for one in left)
    assert len(left) >= 3


def test_numbers_cap_examples_and_tokens() -> None:
    assert sum(one.startswith(("example", "recovery")) for one in parts("examples-2")) == 2
    small = shape_template(TEMPLATE, "budget-500", 2000)
    assert small.budget == 500
    assert shape_template(TEMPLATE, "budget-5000", 2000).budget == 2000


def test_head_and_tail_keep_where_sessions_began_and_ended() -> None:
    form = shape_template(TEMPLATE, "head-tail", 4000)
    assert [one.arguments["n"] for one in form.template.examples] == ["0", "5"]
    plain = Template(name="x", examples=tuple(example(n) for n in range(4)))
    kept = shape_template(plain, "head-tail", 4000).template.examples
    assert [one.arguments["n"] for one in kept] == ["0", "3"]
    assert shape_template(Template(name="x"), "head-tail", 4000).template.examples == ()


def test_the_whole_comes_before_what_shortens_it() -> None:
    assert shape_template(TEMPLATE, "short-results+whole", 9) == shape_template(
        TEMPLATE, "whole+short-results", 9
    )


def test_forms_that_do_not_differ_get_no_arm() -> None:
    bare = Template(name="x", examples=(example(1),))
    wanted = ["no-guidance", "no-examples", "examples-1", "short-results"]
    chosen, skipped = choose_variants(bare, wanted, 2000)
    assert [one.variant for one in chosen] == ["short-results"]
    reasons = dict(skipped)
    assert reasons["no-guidance"] == "it is the same as the full one"
    assert reasons["no-examples"] == "nothing is left of the template"


def test_an_ablation_takes_every_part_out_and_goes_down_in_size() -> None:
    wanted = list(list_ablations(TEMPLATE, 2000))
    assert wanted[:4] == [f"no-{part}" for part in PARTS]
    assert "examples-4" in wanted
    sizes = [int(one.partition("-")[2]) for one in wanted if one.startswith("budget-")]
    assert sizes == sorted(sizes, reverse=True)
    named = list(list_ablations(TEMPLATE, 2000, budgets=[300], examples=[3], parts=["markers"]))
    assert named == ["no-markers", "examples-3", "budget-300"]


def test_every_strategy_makes_it_smaller() -> None:
    wanted = [f"whole+{word}" for word in STRATEGIES]
    chosen, skipped = choose_variants(TEMPLATE, wanted, 8000, full="whole")
    assert skipped == []
    whole = shape_template(TEMPLATE, "whole", 8000)
    full = build_warmup(whole.template, template_id="", budget=8000, limits=whole.limits).tokens
    assert all(one.tokens < full for one in chosen)
