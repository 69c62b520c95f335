"""The results of questions that were measured together, each as if it had been asked by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from attrs import evolve

from discreet.plan.compile import notes_about, remarks_on
from discreet.plan.steps import EstimatedTotal
from discreet.query.question import Question
from discreet.run.results import PlanResults
from discreet.run.tables import arrangement_of, set_plans, totals_behind


def results_by_question(questions: Sequence[Question], answers: PlanResults, confidence: float) -> list[PlanResults]:
    """The results of each question, from those of the question that they were merged into; groups that nobody listed are left out."""
    if len(questions) == 1:
        return [answers]
    merged, values = answers.plan.question, arrangement_of(answers.plan).values
    found = []
    for question, keys, part, plan in zip(questions, merged.sets, answers.sets, set_plans(answers.plan, confidence), strict=True):
        order = [merged.keys[place][1] for place in keys]
        places = [order.index(expr) for _, expr in question.keys]
        sizes = [len(values[place]) for place in keys]  # the last value of each key is all others
        shown = [row for row, at in enumerate(np.ndindex(*sizes)) if all(i + 1 < size for i, size in zip(at, sizes, strict=True))]
        groups = tuple(tuple(part.groups[row][place] for place in places) for row in shown)
        totals: Any = tuple(one.taken(shown) for one in cast("tuple[EstimatedTotal, ...]", plan.totals))
        notes = (*notes_about(question, groups), *remarks_on(question, totals_behind(plan)))
        cells = {total: values[shown] for total, values in part.totals.items()}
        found.append(evolve(part, plan=evolve(plan, question=question, totals=totals, notes=notes), groups=groups, totals=cells))
    return found
