"""An estimate is bought: pay, read the rows, release, store."""

from __future__ import annotations

import math

from discreet.ledger.chain import Entry
from discreet.mechanisms.robust.bootstrap import BootstrapEstimate
from discreet.session.estimate.estimate import Estimate
from discreet.session.estimate.functions import LONGEST
from discreet.session.estimate.plan import EstimatePlan
from discreet.session.pipeline import Pipeline


def release(plan: EstimatePlan, pipeline: Pipeline) -> Estimate:
    """Give the stored value; else charge the ledger, then read, then store, then answer."""

    def run(paid: Entry) -> Estimate:
        told = plan.mechanism.release(pipeline.engine.run(plan.statement.text, plan.statement.given).map(plan.prepare))
        value, spread = told if isinstance(told, BootstrapEstimate) else (told, None)
        value = None if isinstance(value, float) and not math.isfinite(value) else value  # of stable answers: no number that can be kept
        return Estimate(value, spread, plan.what, plan.how, plan.priced.receipt(paid, notes=plan.notes))

    return pipeline.payments.pay_once(plan, plan.priced.question, f"estimate {plan.what}"[:LONGEST], run, Estimate.from_text)
