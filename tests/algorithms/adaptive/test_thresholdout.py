"""Thresholdout: what one record can move, what is told, when it ends, and how near it is."""

from __future__ import annotations

import copy
import itertools
import math
import os
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.adaptive import thresholdout
from discreet.algorithms.adaptive.thresholdout import Thresholdout, ThresholdoutRun
from discreet.errors import BudgetExceeded, Invalid
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams.sparse_vector import SparseVectorRun, ThresholdAnswer
from discreet.private import Private, reveal

TRAIN = [0.0, 0.5, 1.0, 0.25]
RECORDS: list[Any] = [0.0, 0.3, 1.0, 7.0, -2.0, math.nan, None, "many"]


def identity(x: Any) -> Any:
    return x


def fails(x: Any) -> Any:
    return 1 / (x - 0.3)


def strange(x: Any) -> Any:
    return {0.0: "text", 0.3: [1, 2], 1.0: math.inf}.get(x, 0.7)


# ── privacy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def seen(monkeypatch: pytest.MonkeyPatch, records: tuple[Any, ...], phi: Any) -> tuple[Fraction, Fraction]:
    """The two exact numbers that noise is added to: the difference that is tested, and the mean that is told."""
    tested: list[Fraction] = []
    told: list[Fraction] = []
    with monkeypatch.context() as patch:
        patch.setattr(SparseVectorRun, "ask", lambda self, answer: tested.append(reveal(answer)) or ThresholdAnswer(True))
        patch.setattr(Laplace, "release", lambda self, answer: told.append(reveal(answer)) or 0.5)
        Thresholdout(size=len(records), sigma=1).open(TRAIN, Private(list(records))).query(phi)
    return tested[0], told[0]


def worst(monkeypatch: pytest.MonkeyPatch, phi: Any) -> Fraction:
    """By how much replacing one record moves them at most, over all holdouts of three records."""
    found = {records: seen(monkeypatch, records, phi) for records in itertools.product(RECORDS, repeat=3)}
    return max(
        abs(one - other)
        for records, pair in found.items()
        for place, new in itertools.product(range(3), RECORDS)
        for one, other in zip(pair, found[(*records[:place], new, *records[place + 1 :])], strict=True)
    )


@pytest.mark.parametrize("phi", [identity, fails, strange])
def test_one_record_moves_everything_by_at_most_one_in_size(monkeypatch: pytest.MonkeyPatch, phi: Any) -> None:
    rule = Thresholdout(size=3, sigma=1)
    assert worst(monkeypatch, phi) == Fraction(1, 3) == rule.test.sensitivity == rule.fresh.sensitivity


def test_without_clamping_the_check_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(values: Any, most: int) -> int:
        numbers = [v for v in values if isinstance(v, float) and not math.isnan(v)]
        return round(sum(numbers) * thresholdout._STEPS)

    monkeypatch.setattr(thresholdout, "_total", total)
    assert worst(monkeypatch, identity) > Fraction(1, 3)


def test_the_loss_is_that_of_its_parts() -> None:
    rule = Thresholdout(size=1000, threshold="0.1", sigma="0.01", hits=4)
    assert rule.loss.epsilon == rule.epsilon == Fraction(4 * 3, 10)
    assert rule.test.loss.epsilon + rule.fresh.loss.epsilon == rule.epsilon / 4  # type: ignore[operator]
    assert rule.fresh.scale == rule.sigma
    assert rule.loss.group(2).epsilon_at(0) == pytest.approx(2 * float(rule.epsilon))
    assert Thresholdout(size=1000, epsilon="1.2", hits=4).sigma == rule.sigma
    many = Thresholdout(size=10_000, sigma="0.01", hits=1000)
    assert many.loss.epsilon_at(1e-6) < 0.6 * many.epsilon  # many small rounds compose well


def test_each_round_has_noise_of_its_own() -> None:
    run = Thresholdout(size=100, threshold="0.1", sigma="0.0001", hits=3).open([0], Private([1] * 100))
    noises = []
    for _ in range(3):
        run.query(lambda x: 0)  # 0 on both: below
        assert run._run is not None
        noises.append(run._run._threshold_noise)
        assert run.query(identity).source == "holdout"
        assert run._run is None
    assert len(set(noises)) == 3


def test_a_miss_gives_no_hit_back() -> None:
    """Noise of scale 0.0001 and differences 0 and 1 around a threshold of 0.1: an error has probability below e⁻⁴⁰⁰."""
    run = Thresholdout(size=100, threshold="0.1", sigma="0.0001", hits=2).open([0], Private([1] * 100))
    heard = []
    for phi in (identity, lambda x: 0, lambda x: 0, identity):  # hit, miss, miss, hit
        heard.append((run.query(phi).source, run.left))
    assert heard == [("holdout", 1), ("train", 1), ("train", 1), ("holdout", 0)]
    for phi in (identity, lambda x: 0):
        with pytest.raises(BudgetExceeded):
            run.query(phi)


class Panic(BaseException):
    """As libraries written elsewhere raise it."""


class Trap(float):
    """A number that fails where it is read."""

    def as_integer_ratio(self) -> Any:
        raise Panic


@pytest.mark.parametrize("end", [ValueError, SystemExit, GeneratorExit, StopIteration, MemoryError, Panic, Trap])
def test_whatever_a_question_raises_counts_as_0_on_that_record_alone(monkeypatch: pytest.MonkeyPatch, end: Any) -> None:
    def phi(x: Any) -> Any:
        if x == 7.0:
            if end is Trap:
                return Trap(1.0)
            raise end
        return 0.5

    without, with_it = seen(monkeypatch, (0.0, 1.0, None), phi), seen(monkeypatch, (0.0, 1.0, 7.0), phi)
    assert without[1] == Fraction(1, 2)
    assert with_it[1] == Fraction(1, 3)


def test_somebody_may_stop_it() -> None:
    def stopped(x: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Thresholdout(size=1, sigma=1).open([0], Private([0])).query(stopped)


def test_a_failure_after_noise_was_drawn_ends_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Thresholdout(size=100, sigma="0.001", hits=2).open([0], Private([0] * 100))

    def interrupted(self: SparseVectorRun, answer: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SparseVectorRun, "ask", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.query(identity)
    assert run.left == 1
    assert run._run is None


# ── what is told ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_training_data_answers_where_both_agree_and_the_holdout_where_not() -> None:
    """Noise of scale 0.0005 and differences 0.1 and 0.9 around a threshold of 0.5: an error has probability below e⁻⁴⁰⁰."""
    run = Thresholdout(size=1000, threshold="0.5", sigma="0.0005", hits=2).open([0.2] * 10, Private([0.3] * 1000))
    told = [run.query(identity) for _ in range(50)]
    assert {one.source for one in told} == {"train"}
    assert all(abs(one.value - 0.2) < 1e-9 for one in told)
    assert run.left == 2
    own = run.query(lambda x: 1 if x > 0.25 else 0)
    assert own.source == "holdout"
    assert own.value == pytest.approx(1, abs=0.05)
    assert 0 <= own.value <= 1
    assert run.query(lambda x: 1 if x > 0.25 else 0).source == "holdout"
    with pytest.raises(BudgetExceeded, match="fresh holdout"):
        run.query(identity)


def test_answers_are_as_near_as_is_said() -> None:
    """Differences of every size; the bound at confidence 1 − 10⁻⁹ holds for all answers together."""
    rule = Thresholdout(size=2000, threshold="0.1", sigma="0.01", hits=60)
    run = rule.open([0], Private([0] * 2000))
    reach = rule.error(1 - Fraction(1, 10**9))
    sources = set()
    for step in range(60):
        ones = 10 * step
        told = run.values([0.0], Private(np.arange(2000) < ones))
        sources.add(told.source)
        assert abs(told.value - ones / 2000) <= reach
    assert sources == {"train", "holdout"}


def test_the_error_is_not_much_too_large() -> None:
    """At 50 % confidence, a difference as large as it passes for agreement with probability above 0.1: never in 300 rounds is 10⁻¹³."""
    rule = Thresholdout(size=2000, threshold="0.1", sigma="0.02", hits=1)
    values = np.arange(2000) < math.ceil(rule.error(0.5) * 2000)
    assert any(rule.open([0], Private([0] * 2000)).values([0.0], Private(values)).source == "train" for _ in range(300))


def test_batches_of_values_and_single_records_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.1, 0.7, math.nan, 3.0, -1.0]
    exact = thresholdout._total(values, 5)
    assert exact == sum(thresholdout._total([v], 1) for v in values) == thresholdout._total(np.array(values), 5)
    assert thresholdout._total(np.array([[1.0], [1.0]]), 5) == 0  # no list of values
    assert thresholdout._total([1, 1, 1], 2) == 2 * thresholdout._STEPS  # never more than there are records


def test_a_question_that_warns_says_nothing(recwarn: pytest.WarningsRecorder, capsys: pytest.CaptureFixture[str]) -> None:
    def warns(x: float) -> float:
        warnings.warn("a record of this kind", UserWarning, stacklevel=1)
        return float(np.log(np.float64(x)))

    run = Thresholdout(size=3, sigma=1).open([1.0], Private([0.0, -1.0, 1.0]))
    run.query(warns)
    assert not recwarn.list
    assert capsys.readouterr().err == ""


# ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_is_not_copied() -> None:
    run = Thresholdout(size=2, sigma=1).open([0], [0, 1])
    for way in (copy.copy, copy.deepcopy):
        with pytest.raises(Invalid, match="copied"):
            way(run)
    child = os.fork()
    if not child:
        status = 1
        try:
            run.query(identity)
        except Invalid:
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"threshold": 0}, {"sigma": 0}, {"hits": 0}, {"sigma": None}, {"epsilon": 1}, {"threshold": math.nan}]
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Thresholdout(**({"size": 10, "threshold": 0.1, "sigma": 0.1} | wrong))


def test_wrong_records() -> None:
    rule = Thresholdout(size=3, sigma=1)
    with pytest.raises(Invalid, match="number of records"):
        rule.open([1], [1, 2])
    with pytest.raises(Invalid, match="training data is empty"):
        rule.open([], [1, 2, 3])
    with pytest.raises(Invalid, match="as Private"):
        rule.open([1], [1, 2, 3]).values([1], [1, 2, 3])  # type: ignore[arg-type]
    short: ThresholdoutRun = rule.open([0], Private([1]))  # a private holdout of another size is no error
    assert short.query(identity).source in ("train", "holdout")
