"""Budgets that stay valid when the analyst chooses the next question, and its price, after seeing the answers so far."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeAlias, assert_never, final

from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.errors import BudgetExceeded, Invalid
from discreet.loss.certify import greatest
from discreet.loss.convert import gaussian_budget, zcdp_budget
from discreet.loss.loss import ZERO, Loss
from discreet.loss.notions import Pure

Language: TypeAlias = Literal["basic", "zcdp", "gdp"]

_BASIC, _ZCDP, _GDP = Fraction(3, 8), Fraction(1, 8), Fraction(3, 16)  # 3/8 + 2·1/8 + 2·3/16 = 1


@final
@frozen
class Gate:
    """One filter, in one language: what it may spend, what it has, and how much revealed mass it tolerates.

    Theorem (Rogers et al. 2016; Whitehouse et al. 2023; Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2022).
        Questions may be chosen, with their prices, after all earlier answers. Stopping before Σεᵢ exceeds ε and Σδᵢ exceeds δ is
        (ε, δ)-DP; stopping before Σρᵢ exceeds ρ is ρ-zCDP; stopping before Σμᵢ² exceeds μ² is μ-GDP.

    Lemma (revealed mass). Let step i reveal with probability δᵢ and otherwise be ρᵢ-zCDP or μᵢ-GDP, with Σδᵢ ≤ d always.
        Replace "reveal" by "abort": a post-processing of the step that never reveals, so the filter's guarantee (ε, δ) holds for it.
        The two runs differ only if some step reveals, so
        P(O) ≤ P_abort(O, no abort) + Σδᵢ ≤ e^ε·P′_abort(O, no abort) + δ + d ≤ e^ε·P′(O) + δ + d.
    """

    language: Language
    limit: Fraction
    mass_limit: Fraction
    spent: Fraction = ZERO
    mass: Fraction = ZERO
    alive: bool = True

    def charge(self, loss: Loss) -> tuple[Fraction | None, Fraction]:
        """The price of a loss in this language, rounded up, None for ∞; and the mass that comes with it."""
        match self.language:
            case "basic":
                return loss.basic
            case "zcdp":
                return loss.rho, loss.delta
            case "gdp":
                return loss.mu_squared, loss.delta
            case _:
                assert_never(self.language)

    def admits(self, loss: Loss) -> bool:
        price, mass = self.charge(loss)
        return self.alive and price is not None and self.spent + price <= self.limit and self.mass + mass <= self.mass_limit

    def spend(self, loss: Loss) -> Gate:
        """Charge what is admitted; close for ever at the first loss that is not."""
        if not self.admits(loss):
            return evolve(self, alive=False)
        price, mass = self.charge(loss)
        return evolve(self, spent=self.spent + (price or ZERO), mass=self.mass + mass)

    @property
    def room(self) -> Fraction:
        return self.limit - self.spent if self.alive else ZERO


@final
@frozen
class Filter:
    """Admit losses while the whole run is sure to stay (ε, δ)-DP, however the analyst adapts.

    Theorem (union of filters).
        Let gates j = 1 … m each guarantee (ε, dⱼ)-DP when run alone, dead gates stay dead, and let the run go on while at least
        one is alive. Then the run is (ε, Σdⱼ)-DP.

    Proof. Let Aⱼ be the transcripts on which j is the first gate alive to the end; they partition all transcripts. On Aⱼ the run
        coincides with the run under gate j alone, so P(O) = Σⱼ Pⱼ(O ∩ Aⱼ) ≤ Σⱼ (e^ε·P′ⱼ(O ∩ Aⱼ) + dⱼ) = e^ε·P′(O) + Σⱼ dⱼ. The
        shares dⱼ may depend on the first request, as nothing has been released before it. (Composing privacy loss distributions until a
        target curve is crossed is no filter: Honkela, Koskela, Tran & Räisä 2026; so there is no such gate.)

    >>> budget = Filter(1)
    >>> for _ in range(10):
    ...     budget = budget.spend(Pure(0.1))
    >>> budget.admits(Pure(0.1)), budget.remaining
    (False, (Fraction(0, 1), Fraction(0, 1)))
    """

    epsilon: Fraction = field(converter=parameter.any_epsilon, repr=str)
    delta: Fraction = field(default=ZERO, converter=parameter.any_delta, repr=str)
    gates: tuple[Gate, ...] = field(default=())

    @property
    def fresh(self) -> bool:
        """Nothing was spent yet, so δ is not yet split."""
        return not self.gates

    def _splits(self, loss: Loss) -> list[tuple[Gate, ...]]:
        """The ways δ may be split at the first spend, the default one first; each is a function of public things only."""
        if self.delta == 0:
            return [(Gate("basic", self.epsilon, ZERO),)]
        splits = [_split(self.epsilon, self.delta), (Gate("basic", self.epsilon, self.delta),)]
        slack = self.delta - loss.delta
        if slack > 0:
            splits.append((Gate("gdp", gaussian_budget(self.epsilon, slack), loss.delta),))
            splits.append((Gate("zcdp", zcdp_budget(self.epsilon, slack), loss.delta),))
        return splits

    def _opened(self, loss: Loss) -> tuple[Gate, ...]:
        if self.gates:
            return self.gates
        splits = self._splits(loss)
        return next((gates for gates in splits if any(gate.admits(loss) for gate in gates)), splits[0])

    def admits(self, loss: Loss) -> bool:
        """Decide whether this may still be spent; reads nothing but the state."""
        if not isinstance(loss, Loss):
            raise Invalid("a budget is spent on losses: give mechanism.loss")
        return any(gate.admits(loss) for gate in self._opened(loss))

    def spend(self, loss: Loss) -> Filter:
        """Charge a loss and give the new state, or raise BudgetExceeded and change nothing.

        >>> Filter(1, 1e-9).spend(Pure(2))
        Traceback (most recent call last):
        discreet.errors.BudgetExceeded: the budget does not admit this; ... ε ≤ 1 and δ ≤ 1e-09. Nothing was charged.
        """
        if not self.admits(loss):
            epsilon, delta = self.remaining
            raise BudgetExceeded(
                "the budget does not admit this; it still admits one question of "
                f"ε ≤ {exact.float_down(epsilon):.6g} and δ ≤ {exact.float_down(delta):.6g}. Nothing was charged."
            )
        return evolve(self, gates=tuple(gate.spend(loss) for gate in self._opened(loss)))

    @property
    def remaining(self) -> tuple[Fraction, Fraction]:
        """The largest single further ε of a pure question still admitted, and the largest δ a question may still bring."""
        if self.fresh:
            return self.epsilon, self.delta
        mass = max((gate.mass_limit - gate.mass for gate in self.gates if gate.alive), default=ZERO)
        return self.most(Pure), mass

    def most(self, loss_of: Callable[[Fraction], Loss]) -> Fraction:
        """The largest parameter whose loss is still admitted, for a request of all that remains; loss must grow with it.

        >>> Filter(1, 1e-9).spend(Pure("1/3")).most(Pure)
        Fraction(2, 3)
        """

        def admitted(value: Fraction) -> bool:
            return self.admits(loss_of(value))

        rooms = {self.epsilon} if self.fresh else {gate.room for gate in self.gates}
        # a gate's own room is the exact answer for a loss priced by its parameter; a search would only come close to it
        exact_answer = max((room for room in rooms if room > 0 and admitted(room)), default=ZERO)
        found = greatest(admitted, 4 * (self.epsilon + 1), bits=40) if self.epsilon else ZERO
        return max(exact_answer, found) if not _close(exact_answer, found) else exact_answer

    def to_json(self) -> dict[str, Any]:
        """Write the state as plain values, fractions as strings."""
        gates = [
            {"language": g.language, "limit": str(g.limit), "mass_limit": str(g.mass_limit), "spent": str(g.spent),
             "mass": str(g.mass), "alive": g.alive}
            for g in self.gates
        ]  # fmt: skip
        return {"epsilon": str(self.epsilon), "delta": str(self.delta), "fresh": self.fresh, "gates": gates}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Filter:
        """Read back what to_json wrote."""
        try:
            gates = tuple(
                Gate(
                    _language(g["language"]),
                    exact.non_negative(g["limit"], "limit"),
                    exact.non_negative(g["mass_limit"], "mass_limit"),
                    exact.non_negative(g["spent"], "spent"),
                    exact.non_negative(g["mass"], "mass"),
                    _yes_or_no(g["alive"]),
                )
                for g in state["gates"]
            )
            found = cls(state["epsilon"], state["delta"], gates)
            if _yes_or_no(state["fresh"]) != found.fresh or not _is_covered(found):
                raise Invalid("this is not the recorded state of a filter")
            return found
        except (KeyError, TypeError):
            raise Invalid("this is not the recorded state of a filter") from None


def _yes_or_no(value: Any) -> bool:
    if value is not True and value is not False:
        raise Invalid("this is not the recorded state of a filter")
    return value


def _is_covered(state: Filter) -> bool:
    """Whether the gates are those of some way to split this budget, with limits no larger."""
    if state.fresh:
        return True
    mass = state.gates[0].mass_limit
    honest: list[tuple[Gate, ...]] = [(Gate("basic", state.epsilon, state.delta),)]
    if state.delta:
        honest.append(_split(state.epsilon, state.delta))
    if mass < state.delta:
        honest.append((Gate("gdp", gaussian_budget(state.epsilon, state.delta - mass), mass),))
        honest.append((Gate("zcdp", zcdp_budget(state.epsilon, state.delta - mass), mass),))
    return any(
        len(gates) == len(state.gates)
        and all(
            found.language == gate.language and found.limit <= gate.limit and found.mass_limit <= gate.mass_limit
            for found, gate in zip(state.gates, gates, strict=True)
        )
        for gates in honest
    )


def _close(exact_answer: Fraction, found: Fraction) -> bool:
    return exact_answer <= found <= exact_answer * (1 + Fraction(1, 2**30))


def _language(name: str) -> Language:
    match name:
        case "basic" | "zcdp" | "gdp":
            return name
        case _:
            raise Invalid(f"no filter speaks {name!r}")


def _split(epsilon: Fraction, delta: Fraction) -> tuple[Gate, ...]:
    """The default split: basic composition admits twelve questions of δ/32; each other gate gives as much to its conversion as to mass."""
    return (
        Gate("basic", epsilon, delta * _BASIC),
        Gate("zcdp", zcdp_budget(epsilon, delta * _ZCDP), delta * _ZCDP),
        Gate("gdp", gaussian_budget(epsilon, delta * _GDP), delta * _GDP),
    )
