"""One contract for everything that can be bought, and broken variants that it catches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from session.contract.contract import CHECKS
from session.contract.things import SERVED, THINGS

from discreet.ledger import payment
from discreet.ledger.receipt import Kind as ReceiptKind
from discreet.ledger.receipt import PricedRequest, Receipt, get_args
from discreet.noise.bits import SystemBits
from discreet.session import exported
from discreet.session.estimate import request as estimates
from discreet.session.estimate import run as estimating
from discreet.session.graphs.release import GraphRelease
from discreet.session.query import Query
from discreet.session.released import Released
from discreet.session.synthesize.request import SynthesisRequest


def test_everything_that_can_be_bought_is_here() -> None:
    assert set(THINGS) == set(get_args(ReceiptKind))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("thing", THINGS)
def test_contract(thing: str, check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    CHECKS[check](THINGS[thing], tmp_path, monkeypatch)


@pytest.mark.parametrize("check", [name for name in CHECKS if name != "interrupted_run_is_clear"])  # a server is not interrupted by Ctrl-C
@pytest.mark.parametrize("thing", SERVED)
def test_contract_of_a_remote_session(thing: str, check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    CHECKS[check](SERVED[thing], tmp_path, monkeypatch)


# ── broken variants ──────────────────────────────────────────────────────────────────────────────────────────────────

Break = Callable[[pytest.MonkeyPatch], None]


def plan_spends(patch: pytest.MonkeyPatch) -> None:
    sound = SynthesisRequest.plan

    def plan(self: SynthesisRequest, *price: Any) -> Any:
        made = sound(self, *price)
        self.pipeline.payments.claim(made.decided, "a look", "a look", "planning")
        return made

    patch.setattr(SynthesisRequest, "plan", plan)


def plan_reads(patch: pytest.MonkeyPatch) -> None:
    sound = Query.plan

    def plan(self: Query, *price: Any) -> Any:
        self.pipeline.engine.run("SELECT COUNT(*) AS n FROM people")
        return sound(self, *price)

    patch.setattr(Query, "plan", plan)


def pays_after_reading(patch: pytest.MonkeyPatch) -> None:
    sound = estimating.release

    def release(plan: Any, pipeline: Any) -> Any:
        pipeline.engine.run(plan.statement.text, plan.statement.given)
        return sound(plan, pipeline)

    patch.setattr(estimates, "release", release)


def pays_twice(patch: pytest.MonkeyPatch) -> None:
    """Names that nobody finds again."""
    patch.setattr(PricedRequest, "question", property(lambda self: f"{SystemBits().word():016x}"))


def receipt_without_seal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Receipt, "from_json", classmethod(lambda cls, said: cls._read(said)))


def answers_unchecked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Released, "_verify_answers", lambda self, ledger: None)


def csv_without_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(exported, "_harmless", lambda value: value)


def open_leaks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(GraphRelease, "open", classmethod(lambda cls, path: cls.from_text(Path(path).read_text(encoding="utf-8"))))


def any_ledger_will_do(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Receipt, "_verify_paid", lambda self, ledger: None)
    patch.setattr(Released, "_verify_answers", lambda self, ledger: None)


def nothing_is_said(patch: pytest.MonkeyPatch) -> None:
    class Silent:
        def __init__(self, *_: Any) -> None: ...

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    patch.setattr(payment, "_note_if_unanswered", Silent)


BROKEN: dict[str, tuple[Break, str, str, str]] = {
    "the plan spends": (plan_spends, "synthetic table", "plan_before_paying", "the plan read or spent"),
    "the plan reads": (plan_reads, "question", "plan_before_paying", "the plan read or spent"),
    "it pays after reading": (pays_after_reading, "estimate", "pay_first", "read before paying"),
    "it pays twice": (pays_twice, "graph", "repeat_free", "a repeat was charged"),
    "the receipt is not sealed": (receipt_without_seal, "feed", "tampering_is_found", "is not sealed"),
    "answers are not checked": (answers_unchecked, "synthetic table", "tampering_is_found", "answers were forged"),
    "CSV without the guard": (csv_without_guard, "synthetic table", "cells_are_no_formulas", "a formula"),
    "open leaks the system's errors": (open_leaks, "graph", "bad_files_give_our_errors", "was opened: "),
    "any ledger will do": (any_ledger_will_do, "conversation", "others_are_refused", "another ledger accepts it"),
    "nothing is said of what was paid": (nothing_is_said, "estimate", "interrupted_run_is_clear", "nothing is said"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_variant_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken, thing, check, said = BROKEN[name]
    broken(monkeypatch)
    with pytest.raises(AssertionError, match=said):
        CHECKS[check](THINGS[thing], tmp_path, monkeypatch)
