"""A session with sparse tables to publish: people by department, sex and city, and a public table of places."""

from __future__ import annotations

from typing import Any

import polars

from discreet.session.connect import connect
from discreet.session.session import Session

DEPARTMENTS, SEXES = ["er", "ward", "lab", "=1+1", "attic"], ["f", "m", "x"]
PLACES = polars.DataFrame({"city": ["a", "b", "c", "d", "e", "g"], "region": ["north", "south", "north", "south", "south", "east"]})
CUBE = "SELECT dept, sex, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM people GROUP BY CUBE(dept, sex)"
ROLLUP = "SELECT dept, sex, COUNT(*) AS n, SUM(weight) AS w FROM people GROUP BY ROLLUP(dept, sex)"
CITIES = """SELECT p.region, p.city, sex, COUNT(*) AS n FROM people JOIN places p ON people.city = p.city
GROUP BY GROUPING SETS ((p.region, p.city, sex), (p.region, p.city), (p.region), ())"""


def people() -> polars.DataFrame:
    """200 people, most of them in one department."""
    rows = range(200)
    return polars.DataFrame(
        {
            "person": list(rows),
            "dept": [DEPARTMENTS[0] if i % 10 else DEPARTMENTS[i % 4] for i in rows],
            "sex": [SEXES[i % 2] for i in rows],
            "city": ["abcdeg"[i * i % 7 % 6] for i in rows],
            "cost": [i * 37 % 100 for i in rows],
            "weight": [i / 7 % 1 for i in rows],
        }
    )


def session(**declared: Any) -> Session:
    said: dict[str, Any] = {
        "bounds": {"people.cost": (0, 100), "people.weight": (0, 1)},
        "keys": {"people.dept": DEPARTMENTS, "people.sex": SEXES},
        "contributions": {"rows": 1},
        "public": ["places"],
    }
    return connect({"people": people(), "places": PLACES}, unit="person", epsilon=100, delta=1e-6, ledger=":memory:", **said | declared)
