"""Attacks on published statistics: what released numbers reveal about individuals."""

from typing import TYPE_CHECKING

from discreet.exports import exports

if TYPE_CHECKING:
    from discreet.attacks.membership import membership_bound as membership_bound
    from discreet.attacks.membership import membership_inference as membership_inference
    from discreet.attacks.membership import tracing_scores as tracing_scores

__getattr__, __dir__, __all__ = exports(__name__, __file__)
