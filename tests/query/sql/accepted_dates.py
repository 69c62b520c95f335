"""Accepted questions: dates and timestamps."""
# ruff: noqa: E501

DATES: list[tuple[str, str]] = [
    (
        "SELECT COUNT(*) FROM visits WHERE day + INTERVAL 90 DAY >= '2024-06-01'",
        "visits[greater_equal(add_days(day, 90), 2024-06-01)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen - INTERVAL '90 days' < TIMESTAMP '2024-06-01'",
        "visits[less(add_microseconds(seen, -7776000000000), 2024-06-01 00:00:00)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day + 3 * INTERVAL '1 month' >= '2024-06-01'",
        "visits[greater_equal(add_months(day, 3), 2024-06-01)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen - TIMESTAMP '2024-01-01' <= INTERVAL 90 DAY",
        "visits[less_equal(subtract(microsecond_number(seen), microsecond_number(2024-01-01 00:00:00)), 7776000000000)] ASK count=count()",
    ),
    (
        "SELECT AVG(day - DATE '2024-01-01') AS days FROM visits",
        "visits ASK days=mean(subtract(day_number(day), day_number(2024-01-01)))",
    ),
    (
        "SELECT AVG(DATE_DIFF('day', DATE '2024-01-01', seen)) AS days FROM visits",
        "visits ASK days=mean(subtract(day_number(seen), day_number(2024-01-01 00:00:00)))",
    ),
    (
        "SELECT DATE_DIFF('month', DATE '2024-01-01', day) AS m, COUNT(*) FROM visits GROUP BY m",
        "visits BY m=subtract(month_number(day), month_number(2024-01-01)) ASK count=count()",
    ),
    (
        "SELECT DATE_DIFF('week', DATE '2024-01-01', day) AS w, COUNT(*) FROM visits GROUP BY w",
        "visits BY w=truncate(divide(subtract(day_number(day), day_number(2024-01-01)), 7)) ASK count=count()",
    ),
    (
        "SELECT EXTRACT(YEAR FROM AGE(DATE '2024-01-01', day)) AS years, COUNT(*) FROM visits GROUP BY years",
        "visits BY years=truncate(divide(subtract(calendar_number(2024-01-01), calendar_number(day)), 10000)) ASK count=count()",
    ),
    (
        "SELECT WEEK(day) AS w, EXTRACT(DOY FROM day) AS d, EXTRACT(DOW FROM day) AS wd, COUNT(*) FROM visits GROUP BY w, d, wd",
        "visits BY w=week(day), d=day_of_year(day), wd=modulo(weekday(day), 7) ASK count=count()",
    ),
    (
        "SELECT STRFTIME(day, '%Y-%m') AS month, COUNT(*) FROM visits GROUP BY month",
        "visits BY month=date_text(day, '%Y-%m') ASK count=count()",
    ),
    (
        "SELECT STRFTIME(DATE_TRUNC('month', day), '%b %Y') AS month, COUNT(*) FROM visits GROUP BY DATE_TRUNC('month', day)",
        "visits BY start_of_month=start_of_month(day) ASK count=count() SHOW month=date_text(start_of_month, '%b %Y'), count",
    ),
    (
        "SELECT dept, EXTRACT(YEAR FROM day) AS y, COUNT(*) FROM visits GROUP BY dept, day",
        "visits BY dept, day ASK count=count() SHOW dept, y=year(day), count",
    ),
    (
        "SELECT MONTHNAME(day) AS m, COUNT(*) FROM visits GROUP BY m",
        "visits BY m=date_text(day, '%B') ASK count=count()",
    ),
    (
        "SELECT DATE_TRUNC('hour', seen) AS h, COUNT(*) FROM visits GROUP BY h",
        "visits BY h=start_of_hour(seen) ASK count=count()",
    ),
    (
        "SELECT DATE_TRUNC('month', first_day) AS cohort, COUNT(*) AS people FROM (SELECT person_id, MIN(day) AS first_day FROM visits GROUP BY person_id) GROUP BY cohort",
        "visits/(person_id; ; first_day=min(day)) BY cohort=start_of_month(first_day) ASK people=count()",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT person_id, MIN(day) AS first_day, MAX(day) AS last_day FROM visits GROUP BY person_id) WHERE last_day - first_day >= 90",
        "visits/(person_id; ; first_day=min(day), last_day=max(day))[greater_equal(subtract(day_number(last_day), day_number(first_day)), 90)] ASK count=count()",
    ),
    (
        "SELECT DATE_TRUNC('month', f.first_day) AS cohort, DATE_DIFF('month', f.first_day, v.day) AS age, COUNT(DISTINCT v.person_id) AS people FROM visits v JOIN (SELECT person_id, MIN(day) AS first_day FROM visits GROUP BY person_id) f ON f.person_id = v.person_id GROUP BY cohort, age",
        "(visits ⋈ visits/(person_id; ; first_day=min(day)){person_id_2=person_id, first_day} on unit) BY cohort=start_of_month(first_day), age=subtract(month_number(day), month_number(first_day)) ASK people=count_units()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE CAST(day AS TIMESTAMP) + INTERVAL 2 HOUR > seen",
        "visits[greater(add_microseconds(to_timestamp(day), 7200000000), seen)] ASK count=count()",
    ),
]
