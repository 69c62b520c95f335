"""Privacy losses of mechanisms: losses as terms, their composition, and budgets."""

from typing import TYPE_CHECKING

from discreet.exports import exports

if TYPE_CHECKING:
    from discreet.loss.amplify import subsampled as subsampled
    from discreet.loss.filter import Filter as Filter
    from discreet.loss.loss import Loss as Loss
    from discreet.loss.loss import parallel as parallel
    from discreet.loss.notions import Approx as Approx
    from discreet.loss.notions import Gdp as Gdp
    from discreet.loss.notions import Pure as Pure
    from discreet.loss.notions import Zcdp as Zcdp
    from discreet.loss.promise import Promised as Promised
    from discreet.loss.shuffle import Shuffled as Shuffled

__getattr__, __dir__, __all__ = exports(__name__, __file__)
