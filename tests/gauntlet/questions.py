"""Questions by the hundred: every aggregate, kind of group, condition, join and way of bounding, combined by a seeded choice."""

from __future__ import annotations

import random
from typing import Any

from attrs import frozen

NUMBERS = [
    "cost",
    "part",
    "age",
    "qty",
    "site",
    "cost * qty",
    "cost / qty",
    "ABS(cost - 250)",
    "ROUND(cost)",
    "ROUND(cost, 2)",
    "FLOOR(cost / 7)",
    "CEIL(part * 3)",
    "SQRT(cost)",
    "LN(cost + 1)",
    "EXP(part)",
    "POWER(part, 2)",
    "LEAST(GREATEST(free, 0), 100)",
    "CLAMP(many, -5, 5)",
    "COALESCE(cost, 0)",
    "COALESCE(age, site)",
    "CASE WHEN urgent THEN cost ELSE 0 END",
    "CASE WHEN dept = 'er' THEN qty END",
    "-cost",
    "cost + age",
    "qty % 3",
    "qty // 2",
    "CAST(urgent AS INTEGER)",
    "CAST(cost AS BIGINT)",
    "age * age * age",
    "IF(cost IS NULL, 1, 0)",
    "MONTH(day)",
    "HOUR(at)",
    "LEAST(LENGTH(town), 20)",
    "part / (part + 1)",
    "SQRT(part * 0.7 - 0.07)",
    "SQRT(1 - part)",
    "LN(part)",
    "CAST(age AS DOUBLE)",
    "WIDTH_BUCKET(cost, 0, 500, 5)",
    "TRUNC(-cost)",
]
OPEN = [
    "free",
    "many",
    "free * 2",
    "many + 1",
    "free - cost",
    "ABS(many)",
    "-many",
    "LENGTH(town)",
    "free / qty",
    "COALESCE(free, cost)",
    "CASE WHEN free > 10 THEN free END",
    "many * many",
    "code",
]
KEYS = [
    "dept",
    "site",
    "urgent",
    "age",
    "qty",
    "MONTH(day)",
    "WIDTH_BUCKET(cost, 0, 500, 4)",
    "FLOOR(cost / 100)",
    "CASE WHEN cost > 100 THEN 'high' ELSE 'low' END",
    "site % 3",
    "cost > 50",
    "age // 30",
    "HOUR(at)",
    "FLOOR(cost / 20) * 20 + 10",
    "ROUND(age, -1)",
    "MONTHNAME(day)",
    "WEEK(at)",
]
HIDDEN = [
    "town",
    "code",
    "day",
    "at",
    "UPPER(town)",
    "LEFT(town, 2)",
    "DATE_TRUNC('month', day)",
    "YEAR(day)",
    "dept || '-' || town",
    "COALESCE(town, 'none')",
    "LENGTH(town)",
    "code % 5",
    "CAST(at AS DATE)",
    "TRIM(LOWER(town))",
    "STRFTIME(day, '%Y-%m')",
    "DATE_TRUNC('hour', at)",
    "DATE_DIFF('month', DATE '2024-01-01', day)",
]
WHERE = [
    "cost > 10",
    "dept = 'er'",
    "NOT urgent",
    "urgent",
    "cost BETWEEN 1 AND 250.5",
    "dept IN ('er', 'lab')",
    "cost IS NULL",
    "town IS NOT NULL",
    "town LIKE 'y%'",
    "town NOT LIKE '%a%'",
    "STARTS_WITH(town, 'b')",
    "day >= '2024-01-15'",
    "at < TIMESTAMP '2024-02-01 12:00:00'",
    "free > 5",
    "many % 2 = 0",
    "many > 0 OR free < 3",
    "LENGTH(town) = 4",
    "COALESCE(cost, 0) > 1",
    "qty % 2 = 0 AND age < 50",
    "free IS NOT NULL",
    "free = free",
    "NULLIF(dept, 'er') IS NULL",
    "MONTH(day) = 2",
    "code IN (0, 1, 2)",
    "SQRT(cost) > 3",
    "1 = 0",
    "many < 9223372036854775807",
    "day + INTERVAL 90 DAY > '2024-03-01'",
    "at - INTERVAL 1 MONTH < '2024-01-15 00:00:00'",
    "day - DATE '2024-01-01' BETWEEN 0 AND 90",
    "at - TIMESTAMP '2024-01-01' < INTERVAL 36 HOUR",
    "EXTRACT(YEAR FROM AGE(day, DATE '1999-12-31')) > 23",
]
DISTINCT = ["town", "dept", "day", "code", "site", "urgent", "MONTH(day)", "UPPER(town)", "at"]
MODES = ["dept", "town", "site", "urgent", "code", "day", "age", "at", "CAST(at AS DATE)", "HOUR(at)"]
FROM = {
    "visits": "visits",
    "public join": "visits JOIN sites ON site = id",
    "left join": "visits LEFT JOIN sites ON site = id AND beds > 100",
    "many to many": "(SELECT visits.*, tag FROM visits JOIN tags ON visits.dept = tags.dept) v",
    "unit join": "(SELECT v.*, drug, dose FROM visits v JOIN rx r ON v.pid = r.pid) j",
    "left unit join": "(SELECT v.*, drug, dose FROM visits v LEFT JOIN rx r ON v.pid = r.pid) j",
    "self join": "(SELECT a.*, b.cost AS cost_b FROM visits a JOIN visits b ON a.pid = b.pid) s",
    "people join": "(SELECT v.*, sex, income FROM visits v JOIN people p ON v.pid = p.pid) w",
    "union": "(SELECT * FROM visits WHERE cost > 100 UNION ALL SELECT * FROM visits WHERE NOT urgent) u",
    "cte": "c",
}
MORE_NUMBERS = {
    "public join": ["beds"],
    "left join": ["beds"],
    "unit join": ["dose", "cost * dose"],
    "left unit join": ["dose"],
    "self join": ["cost_b", "cost - cost_b"],
}
MORE_KEYS = {"public join": ["region"], "left join": ["region"], "people join": ["sex"], "many to many": ["dept"]}
MORE_HIDDEN = {"unit join": ["drug"], "left unit join": ["drug"], "many to many": ["tag"]}

CONTRIBUTIONS: list[dict[str, int] | None] = [
    None,
    None,
    {"rows": 1},
    {"rows": 3},
    {"rows": 7},
    {"groups": 1, "per_group": 1},
    {"groups": 2, "per_group": 3},
    {"groups": 3, "per_group": 50},
    {"groups": 5},
    {"per_group": 2},
]


@frozen
class Asked:
    """A question: its text, what it says about contributions, δ, whether neighbours replace, whether there is an "other" group."""

    text: str
    contributions: dict[str, int] | None
    delta: str | None
    adjacency: str
    other: bool = False

    def __call__(self, session: Any) -> Any:
        asked = session.sql(self.text, other=self.other, contributions=self.contributions)
        return asked.release(epsilon=None if "OPTIONS" in self.text else 8, delta=self.delta)


OTHERS = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT sex, COUNT(*) AS n, AVG(age) AS m, AVG(income) AS i FROM people GROUP BY sex",
    "SELECT sex, MEDIAN(age) AS q, MAX(age) AS top, STDDEV(age) AS s FROM people GROUP BY sex",
    "SELECT MEDIAN(income) AS q, VARIANCE(income) AS v FROM people",
    "SELECT age, COUNT(*) AS n FROM people GROUP BY age HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 5",
    "SELECT kind, COUNT(*) AS n, SUM(amount) AS s, AVG(level) AS m FROM events GROUP BY kind",
    "SELECT level, COUNT(*) AS n, SUM(load) AS s FROM events GROUP BY level",
    "SELECT COUNT(*) AS n, AVG(load) AS m, MEDIAN(load) AS q FROM events WHERE amount > 0",
    "SELECT kind, QUANTILE(amount, 0.9) AS q FROM events GROUP BY kind",
    "SELECT MODE(kind) AS m, MODE(level) AS l, COUNT(DISTINCT kind) AS d FROM events",
    "SELECT sku, COUNT(*) AS n, AVG(price) AS m FROM items GROUP BY sku",
    "SELECT COUNT_UNITS() AS n, SUM(price) AS s FROM items",
    "SELECT sku, SUM(total) AS s FROM items i JOIN orders o ON i.oid = o.oid GROUP BY sku",
    "SELECT AVG(s) AS m FROM (SELECT pid, SUM(total) AS s FROM orders GROUP BY pid)",
    "SELECT n, COUNT(*) AS people FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) GROUP BY n",
    "SELECT AVG(n) AS m, AVG(s) AS t FROM (SELECT pid, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY pid HAVING COUNT(*) > 1)",
    "SELECT dept, AVG(s) AS m FROM (SELECT pid, dept, SUM(cost) AS s FROM visits GROUP BY pid, dept) GROUP BY dept",
    "SELECT AVG(hi - lo) AS spread FROM (SELECT pid, MIN(cost) AS lo, MAX(cost) AS hi FROM visits GROUP BY pid)",
    "SELECT AVG(SQRT(m - 0.1)) AS r FROM (SELECT pid, AVG(part) AS m FROM visits GROUP BY pid)",
    "SELECT AVG(LN(m)) AS r, MEDIAN(m) AS q FROM (SELECT pid, AVG(part) AS m FROM visits GROUP BY pid)",
    "SELECT AVG(m) AS r FROM (SELECT pid, MAX(free) AS m FROM visits GROUP BY pid)",
    "SELECT SUM(m) AS r FROM (SELECT pid, SUM(many) AS m FROM visits GROUP BY pid)",
    "SELECT AVG(d) AS m FROM (SELECT pid, COUNT(DISTINCT town) AS d FROM visits GROUP BY pid)",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=8, delta=0.001, max_groups_contributed=2, privacy_unit_column=pid) dept, COUNT(*) AS n FROM visits GROUP BY dept",  # noqa: E501
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=8, max_groups_contributed=2, privacy_unit_column=pid) dept, COUNT(*, contribution_bounds_per_group => (0, 5)) AS n, AVG(cost, contribution_bounds_per_group => (0, 100)) AS m FROM visits GROUP BY dept",  # noqa: E501
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=8, delta=0) SUM(cost, contribution_bounds_per_row => (-1, 10.5)) AS s FROM visits",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=8, max_rows_contributed=4) SUM(cost) AS s FROM visits",
    "SELECT dept, SUM(cost, contribution_bounds_per_group => (0, 50)) AS s, COUNT(*) AS n, COUNT(DISTINCT pid) AS p FROM visits GROUP BY dept",  # noqa: E501
    "SELECT age, AVG(n) AS m FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) t JOIN people p ON p.pid = t.pid GROUP BY age",
    "SELECT COUNT(*) AS n FROM (SELECT pid, dept FROM visits GROUP BY pid, dept)",
    "SELECT COUNT(*) AS n FROM visits WHERE site IN (SELECT id FROM sites WHERE beds > 100) AND cost > 1",
    "SELECT dept, COUNT(*) AS n FROM visits WHERE site NOT IN (SELECT beds FROM sites) GROUP BY dept",
    "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM tags t WHERE t.dept = v.dept)",
    "SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM sites s WHERE s.id = v.site AND s.region = 'n')",
    "SELECT DISTINCT town FROM visits",
    "SELECT DISTINCT dept, urgent FROM visits ORDER BY dept",
    "SELECT dept, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY dept) AS running, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY dept",  # noqa: E501
    "SELECT town, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share, LAG(COUNT(*)) OVER (ORDER BY town) AS b FROM visits GROUP BY town",
    "SELECT AVG(cost / NULLIF(qty, 0)) AS m, SUM(free / NULLIF(cost, 0)) AS s FROM visits",
    "SELECT DATE_TRUNC('month', f) AS cohort, COUNT(*) AS people FROM (SELECT pid, MIN(day) AS f FROM visits GROUP BY pid) GROUP BY cohort",
    "SELECT AVG(b - a) AS days FROM (SELECT pid, MIN(day) AS a, MAX(day) AS b FROM visits GROUP BY pid)",
]


def _measure(rng: random.Random, numbers: list[str]) -> str:
    x = rng.choice(numbers)
    return rng.choice(
        [
            "COUNT(*)",
            "COUNT(*)",
            f"COUNT({x})",
            "COUNT(DISTINCT pid)",
            f"COUNT(DISTINCT {rng.choice(DISTINCT)})",
            f"COUNTIF({rng.choice(WHERE)})",
            f"COUNT(*) FILTER (WHERE {rng.choice(WHERE)})",
            f"SUM({x})",
            f"SUM({x})",
            f"SUM({x}) FILTER (WHERE {rng.choice(WHERE)})",
            f"AVG({x})",
            f"AVG({x})",
            f"VARIANCE({x})",
            f"STDDEV({x})",
            f"VAR_POP({x})",
            f"MEDIAN({x})",
            f"QUANTILE({x}, 0.9)",
            f"MIN({x})",
            f"MAX({x})",
            f"MODE({rng.choice(MODES)})",
            f"SUM({x}) / COUNT(*)",
            f"ROUND(AVG({x}), 1)",
            f"SUM({x}) / SUM(qty)",
            "CASE WHEN COUNT(*) > 20 THEN 'many' ELSE 'few' END",
        ]
    )


def _after(rng: random.Random, keys: list[str]) -> str:
    text = rng.choice(["", "", " HAVING COUNT(*) > 3", " HAVING m0 IS NOT NULL"])
    text += rng.choice(["", "", " ORDER BY m0 DESC", f" ORDER BY {', '.join(keys)}", " ORDER BY -COUNT(*), m0"])
    return text + rng.choice(["", "", " LIMIT 2"])


def question(number: int) -> Asked:
    """The question of this number; the first ones are the odd ones."""
    rng = random.Random(number)
    adjacency = "add/remove" if number % 4 else "replace-one"
    contributions = rng.choice(CONTRIBUTIONS)
    if number % 500 < len(OTHERS):
        text = OTHERS[number % 500]
        return Asked(
            text,
            None if "OPTIONS" in text or "contribution" in text else contributions,
            rng.choice([None, "0.001"]) if "OPTIONS" not in text else None,
            adjacency,
        )
    source = rng.choice([*FROM, "visits", "visits"])
    numbers = NUMBERS + MORE_NUMBERS.get(source, []) * 6 + (OPEN * 3 if rng.random() < 0.4 else [])
    hidden = rng.random() < 0.4
    keys = rng.sample(
        (HIDDEN + MORE_HIDDEN.get(source, []) * 4 if hidden else []) + KEYS + MORE_KEYS.get(source, []) * 4, rng.choice([0, 1, 1, 1, 2])
    )
    named = [f"k{i}" for i in range(len(keys))]
    shown = [f"{key} AS {name}" for key, name in zip(keys, named, strict=True)]
    shown += [f"{_measure(rng, numbers)} AS m{i}" for i in range(rng.choice([1, 1, 2, 3]))]
    text = f"SELECT {', '.join(shown)} FROM {FROM[source]}"
    if source == "cte":
        text = f"WITH b AS (SELECT * FROM visits WHERE {rng.choice(WHERE)}), c AS (SELECT * FROM b) {text}"
    text += f" WHERE {rng.choice(WHERE)}" if rng.random() < 0.5 else ""
    text += f" GROUP BY {', '.join(named)}{_after(rng, named)}" if keys else ""
    public_keys = not any(key in HIDDEN or key in MORE_HIDDEN.get(source, []) for key in keys)
    delta = rng.choice(["0", "0.001", None]) if public_keys and "MODE" not in text else rng.choice(["0.01", None])
    return Asked(text, contributions, delta, adjacency, other=bool(keys) and rng.random() < 0.12)
