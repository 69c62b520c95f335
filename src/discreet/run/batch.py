"""The results of questions that were measured together, each as if it had been asked by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from attrs import evolve

from discreet.plan.arrangement import question_of_set
from discreet.plan.compile import notes_about, remarks_on
from discreet.plan.key_values import Group
from discreet.plan.merge import places_of
from discreet.plan.profiled_keys import in_others
from discreet.plan.steps import EstimatedTotal
from discreet.query.question import Question
from discreet.run.output_column import Values
from discreet.run.results import PlanResults
from discreet.run.tables import arrangement_of, results_of_sets, totals_behind
from discreet.run.tidy import tidy_values


def results_by_question(questions: Sequence[Question], answers: PlanResults, confidence: float) -> list[PlanResults]:
    """The results of each question, from those of the question that they were merged into."""
    if len(questions) == 1:
        return [answers]
    sets, tidy = results_of_sets(answers, confidence), tidy_values(answers) if any(question.sets for question in questions) else {}
    found = []
    for question, places in zip(questions, places_of(questions), strict=True):
        shown = [_rows(question_of_set(question, at), answers, place, question.other) for at, place in enumerate(places)]
        parts = [
            _part(question_of_set(question, at), answers, sets[place], rows)
            for at, (place, rows) in enumerate(zip(places, shown, strict=True))
        ]
        notes = (*in_others(question), *notes_about(question, parts[0].groups), *remarks_on(question, totals_behind(answers.plan)))
        if not question.sets:
            found.append(evolve(parts[0], plan=evolve(parts[0].plan, notes=notes)))
            continue
        named = {statistic: name for name, statistic in answers.plan.question.statistics}
        mine = {name: tidy[named[one]] for name, one in question.statistics if named[one] in tidy}
        kept: dict[str, dict[int, Values]] = {
            name: {at: [values[place][row] for row in shown[at]] for at, place in enumerate(places)} for name, values in mine.items()
        }
        plan = evolve(answers.plan, question=question, arrangement=None, totals=(), parts=(), notes=notes)
        found.append(PlanResults(plan, (), {}, {}, sets=tuple(parts), tidy=kept))
    return found


def _rows(question: Question, answers: PlanResults, place: int, other: bool) -> list[int]:
    """The cells of one merged grouping set that a question shows, in the order of its own keys; those of others if it asks for them."""
    merged, values = answers.plan.question, arrangement_of(answers.plan).values
    order = [merged.keys[key][1] for key in merged.sets[place]]
    axes = [order.index(expr) for expr in dict.fromkeys(expr for _, expr in question.keys)]
    sizes = [len(values[key]) for key in merged.sets[place]]  # the last value of each key is all others
    cells = np.arange(np.prod(sizes, dtype=np.int64)).reshape(sizes).transpose(axes)
    return list((cells if other else cells[tuple(slice(-1) for _ in axes)]).ravel().tolist())


def _part(question: Question, answers: PlanResults, part: PlanResults, rows: list[int]) -> PlanResults:
    """The results in these rows of one grouping set, with the names of the question's own keys and statistics."""
    order = [expr for _, expr in part.plan.question.keys]
    at = [order.index(expr) for _, expr in question.keys]
    listed = list(part.groups)  # to look one up again and again is slow where they are combinations
    groups: tuple[Group, ...] = tuple(tuple(listed[row][place] for place in at) for row in rows)
    totals: Any = tuple(one.taken(rows) for one in cast("tuple[EstimatedTotal, ...]", part.plan.totals))
    cells = {total: values[rows] for total, values in part.totals.items()}
    return evolve(part, plan=evolve(part.plan, question=question, totals=totals), groups=groups, totals=cells)
