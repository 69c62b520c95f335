"""Bodies: strict, and described."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from discreet.server.api import bodies

MODELS = [one for one in vars(bodies).values() if isinstance(one, type) and issubclass(one, BaseModel) and one.__name__.endswith("Body")]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_unknown_fields_are_refused(model: type[BaseModel]) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model.model_validate({"nobody_knows_this": 1})


def test_limits() -> None:
    for wrong in ({"label": "", "days": 1}, {"label": "x", "days": 0}, {"label": "x", "days": 367}, {"label": "x", "scope": "root"}):
        with pytest.raises(ValidationError):
            bodies.TokenBody.model_validate(wrong)
    with pytest.raises(ValidationError):
        bodies.PlanBody.model_validate({"request": []})
    with pytest.raises(ValidationError):
        bodies.PlanBody.model_validate({"request": [["sql", [], {}]] * 1001})
