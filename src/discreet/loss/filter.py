"""Privacy filters: budgets that hold when the analyst chooses each query, and its loss, after seeing all earlier answers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeAlias, assert_never, final

from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.errors import BudgetExceeded, Invalid
from discreet.exact import Number
from discreet.loss.certify import greatest
from discreet.loss.charge import NOTHING, Charge
from discreet.loss.convert import gaussian_budget, zcdp_budget
from discreet.loss.loss import ZERO, Loss
from discreet.loss.notions import Gdp, Pure, Zcdp

Notion: TypeAlias = Literal["basic", "zcdp", "gdp"]

_BASIC, _ZCDP, _GDP = Fraction(3, 8), Fraction(1, 8), Fraction(3, 16)  # 3/8 + 2·1/8 + 2·3/16 = 1


@final
@frozen
class Gate:
    """A filter for one notion of privacy: the limit of its parameter, and the limit of the revealed probability δ.

    Theorem (Rogers et al. 2016; Whitehouse et al. 2023; Smith & Thakurta 2022; Koskela, Tobaben & Honkela 2022).
        Questions may be chosen, with their prices, after all earlier answers. Stopping before Σεᵢ exceeds ε and Σδᵢ exceeds δ is
        (ε, δ)-DP; stopping before Σρᵢ exceeds ρ is ρ-zCDP; stopping before Σμᵢ² exceeds μ² is μ-GDP.

    Lemma (revealed mass). Let step i reveal with probability δᵢ and otherwise be ρᵢ-zCDP or μᵢ-GDP, with Σδᵢ ≤ d always.
        Replace "reveal" by "abort": a post-processing of the step that never reveals, so the filter's guarantee (ε, δ) holds for it.
        The two runs differ only if some step reveals, so
        P(O) ≤ P_abort(O, no abort) + Σδᵢ ≤ e^ε·P′_abort(O, no abort) + δ + d ≤ e^ε·P′(O) + δ + d.
    """

    notion: Notion
    limit: Fraction
    mass_limit: Fraction
    alive: bool = True

    def price(self, loss: Loss) -> tuple[Fraction | None, Fraction]:
        """The parameter of a loss under this notion, rounded up, None for ∞; and the δ that comes with it."""
        match self.notion:
            case "basic":
                charged: tuple[Fraction | None, Fraction] = loss.charged
                return charged
            case "zcdp":
                return loss.rho, loss.delta
            case "gdp":
                return loss.mu_squared, loss.delta
            case _:
                assert_never(self.notion)

    def admits(self, loss: Loss, spent: Charge = NOTHING) -> bool:
        """Whether a loss fits together with what was spent."""
        (price, mass), (before, mass_before) = self.price(loss), self.price(spent)
        if not self.alive or price is None or before is None:
            return False
        return before + price <= self.limit and mass_before + mass <= self.mass_limit

    def room(self, spent: Charge) -> Fraction:
        """The amount left."""
        before, _ = self.price(spent)
        return self.limit - before if self.alive and before is not None else ZERO

    def mass_room(self, spent: Charge) -> Fraction:
        """The δ left."""
        return self.mass_limit - self.price(spent)[1] if self.alive else ZERO


@final
@frozen
class Filter:
    """Admit losses while the whole run is certainly (ε, δ)-DP, however the analyst adapts.

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
    spent: Charge = field(default=NOTHING)

    @property
    def fresh(self) -> bool:
        """Nothing was spent yet, so δ is not yet split."""
        return not self.gates

    def _splits(self, loss: Loss) -> list[tuple[Gate, ...]]:
        """The ways to split δ at the first spend, the default first; each is a function of public values only."""
        if self.delta == 0:
            return [(Gate("basic", self.epsilon, ZERO),)]
        splits = [_split(self.epsilon, self.delta), (Gate("basic", self.epsilon, self.delta),)]
        slack = self.delta - loss.delta
        if slack > 0:
            splits.append((Gate("gdp", gaussian_budget(self.epsilon, slack), loss.delta),))
            splits.append((Gate("zcdp", zcdp_budget(self.epsilon, slack), loss.delta),))
        return splits

    def _opened(self, loss: Loss, whole: Loss | None = None) -> tuple[Gate, ...]:
        """The gates, or those that a first loss opens; the first step of a request never rules out basic composition for later steps."""
        if self.gates:
            return self.gates
        first, splits = whole or loss, self._splits(whole or loss)
        splits = splits if whole is None else splits[:2]
        return next((gates for gates in splits if any(gate.admits(first) for gate in gates)), splits[0])

    def admits(self, loss: Loss, whole: Loss | None = None) -> bool:
        """Decide whether a loss may still be spent; reads the state alone. `whole` is the request that a first loss is a step of."""
        if not isinstance(loss, Loss):
            raise Invalid("a budget is spent on losses: pass mechanism.loss")
        return any(gate.admits(loss, self.spent) for gate in self._opened(loss, whole))

    def spend(self, loss: Loss, whole: Loss | None = None) -> Filter:
        """Charge a loss and return the new state, or raise BudgetExceeded and change nothing.

        Amounts are rounded up to multiples of 10⁻⁴⁰, so the state never grows. If the loss is the first step of a larger request, δ is
        split for the whole of it, because that is the first request.

        >>> Filter(1, 1e-9).spend(Pure(2))
        Traceback (most recent call last):
        discreet.errors.BudgetExceeded: the budget does not admit this; ... ε ≤ 1 and δ ≤ 1e-09. Nothing was charged.
        """
        if not self.admits(loss, whole):
            epsilon, delta = self.remaining
            raise BudgetExceeded(
                "the budget does not admit this; it still admits one question of "
                f"ε ≤ {exact.float_down(epsilon):.6g} and δ ≤ {exact.float_down(delta):.6g}. Nothing was charged."
            )
        gates = tuple(evolve(gate, alive=gate.admits(loss, self.spent)) for gate in self._opened(loss, whole))
        charge = loss if isinstance(loss, Charge) else Charge.of(loss, pure=self.delta == 0)
        return evolve(self, gates=gates, spent=self.spent.plus(charge))

    def limited(self, epsilon: Number, delta: Number, first: Loss) -> Filter:
        """The same spends under another budget, as if it had applied from the beginning, or BudgetExceeded if they do not fit.

        Amounts only add up, so a gate that admits the sum would have admitted each spend. δ is split for `first`.
        """
        other = Filter(epsilon, delta)
        if self.fresh:
            return other
        gates = tuple(evolve(gate, alive=gate.admits(self.spent)) for gate in other._opened(first))
        if not any(gate.alive for gate in gates):
            raise BudgetExceeded("what was spent does not fit this budget, and nothing was changed: give a larger one")
        return evolve(other, gates=gates, spent=self.spent)

    @property
    def used(self) -> tuple[Fraction | None, Fraction]:
        """What was spent, as an (ε, δ) within the budget: under the notion that leaves the most, as `remaining` does."""
        if self.fresh:
            return ZERO, ZERO
        alive = [gate for gate in self.gates if gate.alive]
        return self._as_epsilon_delta(max(alive, key=lambda gate: evolve(self, gates=(gate,)).most(Pure)))

    def _as_epsilon_delta(self, gate: Gate) -> tuple[Fraction, Fraction]:
        price, mass = gate.price(self.spent)
        assert price is not None, "a gate that is alive has a price"
        if gate.notion == "basic" or not price:
            return price, mass
        share = gate.mass_limit if len(self.gates) > 1 else self.delta - gate.mass_limit  # of δ, for the conversion
        spent = Zcdp(price) if gate.notion == "zcdp" else Gdp(exact.rational_up(lambda: exact.ball(price).sqrt()))
        return min(Fraction(spent.epsilon_at(share)), self.epsilon), share + mass

    @property
    def remaining(self) -> tuple[Fraction, Fraction]:
        """The largest ε of one more pure query, and the largest δ of one more query, that are still admitted."""
        if self.fresh:
            return self.epsilon, self.delta
        mass = max(gate.mass_room(self.spent) for gate in self.gates)
        return self.most(Pure), mass

    def most(self, loss_of: Callable[[Fraction], Loss]) -> Fraction:
        """The largest parameter whose loss is still admitted, for a request of all that remains; the loss must grow with it.

        >>> Filter(1, 1e-9).spend(Pure("1/4")).most(Pure)
        Fraction(3, 4)
        """

        def admitted(value: Fraction) -> bool:
            return self.admits(Charge.of(loss_of(value), pure=self.delta == 0))  # as it will be charged

        rooms = {self.epsilon} if self.fresh else {gate.room(self.spent) for gate in self.gates}
        # a gate's own room is the exact result for a loss that is charged its parameter; a search only comes close to it
        exact_answer = max((room for room in rooms if room > 0 and admitted(room)), default=ZERO)
        found = greatest(admitted, 4 * (self.epsilon + 1), bits=40) if self.epsilon else ZERO
        return max(exact_answer, found) if not _close(exact_answer, found) else exact_answer

    def to_json(self) -> dict[str, Any]:
        """Write the state as plain values, numbers as text."""
        gates = [[gate.notion, exact.short(gate.limit), exact.short(gate.mass_limit), gate.alive] for gate in self.gates]
        return {"epsilon": exact.short(self.epsilon), "delta": exact.short(self.delta), "gates": gates, "spent": self.spent.to_json()}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Filter:
        """Read back what to_json wrote."""
        try:
            gates = tuple(
                Gate(_notion(notion), exact.non_negative(limit), exact.non_negative(mass_limit), _yes_or_no(alive))
                for notion, limit, mass_limit, alive in state["gates"]
            )
            found = cls(state["epsilon"], state["delta"], gates, Charge.from_json(state["spent"]))
        except (KeyError, TypeError, ValueError):
            raise Invalid("this is not the recorded state of a filter: pass what Filter.to_json wrote") from None
        if not _is_covered(found) or not _is_within(found):
            raise Invalid("this is not the recorded state of a filter: pass what Filter.to_json wrote")
        return found


def _yes_or_no(value: Any) -> bool:
    if value is not True and value is not False:
        raise Invalid("this is not the recorded state of a filter: pass what Filter.to_json wrote")
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
            found.notion == gate.notion and found.limit <= gate.limit and found.mass_limit <= gate.mass_limit
            for found, gate in zip(state.gates, gates, strict=True)
        )
        for gates in honest
    )


def _is_within(state: Filter) -> bool:
    """Whether what was spent fits all gates that are alive; a budget that was used has at least one."""
    if state.fresh:
        return state.spent == NOTHING
    alive = [gate for gate in state.gates if gate.alive]
    # the last spend was admitted exactly; its sum, rounded up, may exceed a limit that is not on the grid
    limits = [evolve(gate, limit=exact.grid_up(gate.limit), mass_limit=exact.grid_up(gate.mass_limit)) for gate in alive]
    return bool(alive) and all(gate.admits(state.spent) for gate in limits)


def _close(exact_answer: Fraction, found: Fraction) -> bool:
    return exact_answer <= found <= exact_answer * (1 + Fraction(1, 2**30))


def _notion(name: str) -> Notion:
    match name:
        case "basic" | "zcdp" | "gdp":
            return name
        case _:
            raise Invalid(f"no filter has the notion {name!r}: it must be basic, zcdp or gdp")


def _split(epsilon: Fraction, delta: Fraction) -> tuple[Gate, ...]:
    """By default basic composition admits twelve queries of δ/32; the other gates split their δ equally between conversion and mass."""
    return (
        Gate("basic", epsilon, delta * _BASIC),
        Gate("zcdp", zcdp_budget(epsilon, delta * _ZCDP), delta * _ZCDP),
        Gate("gdp", gaussian_budget(epsilon, delta * _GDP), delta * _GDP),
    )
