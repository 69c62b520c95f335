"""Accepted questions: lists of groups, IN and EXISTS over public tables."""

LISTS: list[tuple[str, str]] = [
    (
        "SELECT DISTINCT dept FROM visits",
        "visits BY dept ASK count=count() SHOW dept",
    ),
    (
        "SELECT DISTINCT dept, MONTH(day) AS m FROM visits WHERE cost > 10 ORDER BY dept",
        "visits[greater(cost, 10)] BY dept, m=month(day) ASK count=count() SHOW dept, m ORDER dept",
    ),
    (
        "SELECT dept FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW dept",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE site_id IN (SELECT id FROM sites WHERE beds > 5) AND urgent",
        "visits[urgent][in sites[greater(beds, 5)]{id} on site_id=id] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE site_id NOT IN (SELECT id FROM sites)",
        "visits[not in sites{id} on site_id=id] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM sites s WHERE s.id = v.site_id AND s.region = 'n')",
        "visits[exists sites[equal(region, 'n')] on site_id=id] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM sites s WHERE s.id = v.site_id)",
        "visits[not exists sites on site_id=id] ASK count=count()",
    ),
]
