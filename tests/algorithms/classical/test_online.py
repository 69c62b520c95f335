"""What PMW and the median mechanism share: one budget, one statement of slack, one way to answer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.algorithms.classical.median import MedianMechanism, all_databases
from discreet.algorithms.classical.online import OnlineMechanism
from discreet.algorithms.classical.pmw import PMW
from discreet.errors import Invalid
from discreet.loss.loss import compose

KINDS: list[tuple[type[OnlineMechanism], dict[str, Any]]] = [
    (PMW, {"domain": 3}),
    (MedianMechanism, {"candidates": all_databases(3, 5)}),
]


def made(kind: type[OnlineMechanism], shape: dict[str, Any], **more: Any) -> Any:
    return kind(**(shape | {"accuracy": "1/4", "queries_expected": 50, "epsilon": 1} | more))


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_the_loss_is_the_number_of_records_and_all_rounds(kind: type[OnlineMechanism], shape: dict[str, Any]) -> None:
    measured, public = made(kind, shape), made(kind, shape, records=100)
    assert public.counting is None
    assert public.loss == compose(public.most_updates * [public.rounds.each])
    assert measured.counting.loss.epsilon == Fraction(1, 20)
    assert measured.loss == compose([measured.counting.loss, *measured.most_updates * [measured.rounds.each]])
    assert measured.loss.epsilon == public.loss.epsilon == 1


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_the_slack_covers_every_step(kind: type[OnlineMechanism], shape: dict[str, Any]) -> None:
    """Surer bounds are wider, a larger ε makes them narrower in proportion, and a public number of records is exact."""
    mechanism = made(kind, shape)
    assert mechanism.slack() == mechanism.slack("1/20")
    assert all(a > b for a, b in zip(mechanism.slack("1/1000"), mechanism.slack(), strict=True))
    assert made(kind, shape, epsilon=10).slack()[0] == pytest.approx(mechanism.slack()[0] / 10, rel=0.02)
    assert made(kind, shape, records=100).slack()[2] == 0
    assert mechanism.needs("1/1000") > mechanism.needs() > made(kind, shape, epsilon=10).needs()


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_no_error_is_stated_for_too_few_records(kind: type[OnlineMechanism], shape: dict[str, Any]) -> None:
    mechanism = made(kind, shape)
    assert mechanism.error(size=1) == math.inf
    assert mechanism.error(0.999, size=mechanism.needs()) == math.inf


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_an_answer_is_from_the_hypothesis_or_paid_for(kind: type[OnlineMechanism], shape: dict[str, Any]) -> None:
    """With so large an ε that no test errs: right at first, wrong on the next question, and one update later right again."""
    run = made(kind, shape, epsilon=10**6, records=900, accuracy="1/2").open([0, 0, 900])
    everyone = run.ask([1, 1, 1])
    assert (everyone.value, everyone.source) == (900, "hypothesis")
    skewed = run.ask([0, 0, 1])
    assert skewed.source == "paid"
    assert skewed.value == pytest.approx(900, abs=1)
    assert run.hits == 1
    assert run.hypothesis[2] > 1 / 2
    assert run.hypothesis.sum() == pytest.approx(1)


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_a_budget_must_be_stated_once(kind: type[OnlineMechanism], shape: dict[str, Any]) -> None:
    for wrong in ({"epsilon": None}, {"rho": 1}):
        with pytest.raises(Invalid, match="epsilon="):
            made(kind, shape, **wrong)
