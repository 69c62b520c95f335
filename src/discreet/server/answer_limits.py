"""What an answer may have and use: limits that the owner declares, which depend on no row.

An answer with declared groups has a size that is known before it is paid for, and one that is too large is refused then. How many groups a
discovery finds is released by its mechanism; it is not limited beforehand. A statement that takes more memory or time than the engine may
use fails as any statement that fails: after it was paid for, with one message, at the end of a slot.
"""

from __future__ import annotations

from typing import Any, final

from attrs import field, frozen

from discreet.engines.limits import EngineLimits
from discreet.errors import Refused
from discreet.session.plan import Plan


@final
@frozen
class AnswerLimits:
    """The most values of an answer (groups times outputs), and what the engine may use for it."""

    values: int = 1_000_000
    engine: EngineLimits = field(factory=EngineLimits)

    def require_small(self, plan: Any) -> None:
        """Raise Refused if an answer of this plan could have more values than are answered, as far as its groups are declared."""
        groups = plan.steps.public_groups if isinstance(plan, Plan) else None
        if groups is None:
            return
        outputs = max(1, len(plan.steps.question.outputs))
        if len(groups) * outputs > self.values:
            raise Refused(
                f"this answer has {len(groups):,} groups with {outputs} outputs each, and this server answers at most {self.values:,} "
                "values at once: group by fewer columns, or ask for a part of the groups"
            )

    def to_json(self) -> dict[str, Any]:
        """As they are told to everybody who may ask."""
        return {"values": self.values, "statement_seconds": self.engine.seconds}
