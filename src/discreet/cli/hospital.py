"""The demonstration's made-up hospitals: a million visits by a hundred thousand people who do not exist, the same in every run."""

from __future__ import annotations

from typing import final

from attrs import field, frozen

VISITS, PEOPLE = 1_000_000, 100_000


def _even(salt: int) -> str:
    """A number between 0 and 1 that looks random and is a function of the row."""
    return f"((hash(i * 16 + {salt}) % 1000003) / 1000003.0)"


def _listed(options: list[str] | list[float]) -> str:
    return f"[{', '.join(repr(option) for option in options)}]"


def _pick(options: list[str], number: str) -> str:
    return f"{_listed(options)}[1 + CAST(floor({number} * {len(options)}) AS INTEGER)]"


DEPARTMENTS = ["general", "emergency", "cardiology", "orthopedics", "pediatrics", "maternity", "oncology", "neurology"]
_COSTLY = [0.7, 1.0, 1.4, 1.3, 0.6, 1.6, 1.9, 1.2]
_DIAGNOSES = {
    "general": ["influenza", "influenza", "hypertension", "back pain", "allergy"],
    "emergency": ["fracture", "wound", "wound", "chest pain", "poisoning"],
    "cardiology": ["hypertension", "hypertension", "arrhythmia", "heart failure", "chest pain"],
    "orthopedics": ["back pain", "fracture", "fracture", "arthritis", "sprain"],
    "pediatrics": ["influenza", "ear infection", "ear infection", "allergy", "asthma"],
    "maternity": ["pregnancy", "pregnancy", "pregnancy", "birth", "birth"],
    "oncology": ["breast cancer", "lung cancer", "breast cancer", "leukemia", "melanoma"],
    "neurology": ["migraine", "migraine", "epilepsy", "stroke", "multiple sclerosis"],
}
_CITIES = ["Aachen", "Bergen", "Coimbra", "Delft", "Ferrara", "Leuven"]
_DIAGNOSIS = " ".join(f"WHEN '{name}' THEN {_pick(of, _even(3))}" for name, of in _DIAGNOSES.items())

TABLES = {
    "visits": f"""
        SELECT patient_id, hospital_id, day, department,
               CASE WHEN i % 1250 = 7 THEN 'rare fever' WHEN i % 250000 = 11 THEN 'unheard-of disease'
                    ELSE CASE department {_DIAGNOSIS} END END AS diagnosis,
               round(60 * {_listed(_COSTLY)}[place] * (-ln({_even(4)} + 1e-6) - ln({_even(5)} + 1e-6)), 2) AS cost
        FROM (SELECT *, {_listed(DEPARTMENTS)}[place] AS department
              FROM (SELECT i, CAST(floor({PEOPLE} * {_even(1)}) AS BIGINT) AS patient_id,
                           CAST(1 + floor(12 * pow({_even(6)}, 1.3)) AS BIGINT) AS hospital_id,
                           DATE '2025-01-01' + CAST(floor(365 * {_even(7)}) AS INTEGER) AS day,
                           1 + CAST(floor({len(DEPARTMENTS)} * pow({_even(2)}, 1.6)) AS INTEGER) AS place
                    FROM range({VISITS}) AS t(i)))""",
    "persons": f"SELECT i AS patient_id, CAST(floor(95 * pow({_even(8)}, 0.8)) AS BIGINT) AS age FROM range({PEOPLE}) AS t(i)",
    "hospitals": f"SELECT i + 1 AS hospital_id, {_listed(_CITIES)}[1 + i % 6] AS city, 80 + 40 * (i % 5) AS beds FROM range(12) AS t(i)",
}

POLICY = f"""\
# Who is protected in the made-up hospitals, the privacy budget, and what is declared to be public.
version = "2025"

[budget]
epsilon = 3.0
delta = 1e-6

[tables.visits]
source = "visits.parquet"
unit = "patient_id"
contributions = {{ rows = 24 }}
columns.department.keys = {DEPARTMENTS}
columns.cost.bounds = [0, 800]
columns.cost.nullable = false

[tables.persons]
source = "persons.parquet"
unit = "patient_id"
one_row_per_unit = true
columns.age.bounds = [0, 100]

[tables.hospitals]
source = "hospitals.parquet"
public = true
columns.hospital_id.unique = true
"""


@final
@frozen
class Asked:
    """One question of the demonstration: what it shows, its SQL and its price."""

    title: str
    about: str
    sql: str
    epsilon: str
    guess: dict[str, float] = field(factory=dict)  # where a mean will lie, said with the forecast


QUESTIONS = (
    Asked(
        "How many visits has each department?",
        "the departments are declared, so each is shown",
        "SELECT department, COUNT(*) AS visits FROM visits GROUP BY department",
        "0.4",
    ),
    Asked(
        "What does a visit cost on average?",
        "bounds 0 … 800 are declared, and a mean of 120 is guessed for the forecast",
        "SELECT department, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits WHERE cost > 0 GROUP BY department",
        "0.4",
        {"mean_cost": 120.0},
    ),
    Asked(
        "And the middle one?",
        "a quantile is chosen by its rank, with the exponential mechanism",
        "SELECT MEDIAN(cost) AS median_cost FROM visits",
        "0.2",
    ),
    Asked(
        "Where are patients over 65 treated?",
        "two private tables joined on the person, and a public one whose cities are public",
        "SELECT h.city, COUNT(*) AS visits, AVG(v.cost) AS mean_cost\n"
        "FROM visits AS v JOIN persons AS p ON v.patient_id = p.patient_id JOIN hospitals AS h ON v.hospital_id = h.hospital_id\n"
        "WHERE p.age > 65 GROUP BY h.city",
        "0.5",
        {"mean_cost": 120.0},
    ),
    Asked(
        "Which diagnoses are there?",
        "nobody declared them: they are discovered privately, and those of few people are suppressed",
        "SELECT diagnosis, COUNT(*) AS visits FROM visits GROUP BY diagnosis ORDER BY visits DESC",
        "1.0",
    ),
    Asked(
        "Which is the most common in pediatrics?",
        "only the name of the winner leaves, by noisy max",
        "SELECT MODE(diagnosis) AS most_common FROM visits WHERE department = 'pediatrics'",
        "0.3",
    ),
)
HOSTILE = "SELECT patient_id, cost FROM visits WHERE patient_id = 4711"
TOO_MUCH = ("SELECT AVG(age) AS mean_age FROM persons", "1.0")
