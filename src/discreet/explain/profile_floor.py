"""The part of an error that no ε makes smaller: what a profile does not know about the values that are clipped."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from discreet.plan.removed import whole_table
from discreet.plan.steps import Steps
from discreet.query.relation.expr import Column
from discreet.query.totals import Cells
from discreet.run.intervals import corrected_widths

_MOST = 0.5  # a floor is mentioned if it is more than this share of the whole error


@final
@frozen
class ProfileFloor:
    """How far off an output is, apart from its noise, because a profile is not exact; and what to declare instead."""

    width: float
    table: str
    declare: str

    def dominates(self, width: float) -> bool:
        """Whether most of an error is the profile's."""
        return self.width > _MOST * width

    def remark(self) -> str:
        """The part of an error, as the end of a line that states the whole."""
        return f", of which ± {self.width:,.4g} come from the profile of {self.table}, not from noise"

    def advice(self, name: str, target: float) -> str:
        """Why a target is out of reach, and what to do."""
        return (
            f"no ε reaches ± {target:,.4g} for {name}: ± {self.width:,.4g} come from the profile of {self.table}, not from noise. Declare "
            f"{self.declare}, buy a better profile, db.profile({self.table!r}, epsilon=…), with a larger epsilon, or ask for a larger error"
        )


def profile_floors(plan: Steps, cells: Cells, level: float) -> dict[str, ProfileFloor]:
    """The floors of a resolved plan's outputs, for groups with these totals; only where a profile corrects them."""
    table, of = whole_table(plan.question.relation), plan.available_totals
    if plan.removed is None or table is None or of is None:
        return {}
    floors: dict[str, ProfileFloor] = {}
    for name, expr in plan.question.outputs:
        statistic = plan.question.additive.get(expr.name) if isinstance(expr, Column) else None
        correction = None if statistic is None else statistic.correction(of, cells, plan.removed)
        if statistic is None or correction is None:
            continue
        declare = [f'bounds={{"{one.name}": (low, high)}}' for one in statistic.numbers if isinstance(one, Column)]
        declare += ['contributions={"rows": …}'] if plan.removed.most_rows else []
        width = float(corrected_widths(np.zeros(1), correction, level).max())
        floors[name] = ProfileFloor(width, table.name, " and ".join(declare))
    return floors
