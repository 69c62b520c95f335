"""Accepted questions: joins, subqueries, WITH, privacy clauses and dialects."""
# ruff: noqa: E501

SOURCES: list[tuple[str, str]] = [
    (
        "SELECT region, SUM(cost) FROM visits v JOIN sites s ON v.site_id = s.id GROUP BY region",
        "(visits ⋈ sites on site_id=id) BY region ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT region, SUM(cost) FROM sites s JOIN visits v ON v.site_id = s.id GROUP BY region",
        "(sites ⋈ visits on id=site_id) BY region ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT region, SUM(cost) FROM visits v, sites s WHERE v.site_id = s.id AND cost > 1 GROUP BY region",
        "(visits ⋈ sites on site_id=id)[greater(cost, 1)] BY region ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v LEFT JOIN sites s ON v.site_id = s.id AND s.beds > 10 GROUP BY region",
        "(visits ⟕ sites[greater(beds, 10)] on site_id=id) BY region ASK count=count()",
    ),
    (
        "SELECT r.population, COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id JOIN regions r USING (region) GROUP BY 1",
        "((visits ⋈ sites on site_id=id) ⋈ regions{region_2=region, population} on region=region_2) BY population ASK count=count()",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id JOIN regions USING (region) GROUP BY region",
        "((visits ⋈ sites on site_id=id) ⋈ regions{region_2=region, population} on region=region_2) BY region ASK count=count()",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v INNER JOIN (SELECT id, region FROM sites WHERE beds > 5) s ON s.id = v.site_id GROUP BY region",
        "(visits ⋈ sites[greater(beds, 5)]{id, region} on site_id=id) BY region ASK count=count()",
    ),
    (
        "SELECT region, COUNT(*) FROM visits v JOIN sites s ON v.site_id = s.id AND v.cost > s.beds GROUP BY region",
        "(visits ⋈ sites on site_id=id)[greater(cost, beds)] BY region ASK count=count()",
    ),
    (
        "SELECT age, COUNT(*) FROM persons GROUP BY age",
        "persons BY age ASK count=count()",
    ),
    (
        "WITH v AS (SELECT person_id AS pid, cost * 2 AS c FROM visits WHERE cost > 0), j AS (SELECT v.pid, p.age, v.c FROM v JOIN persons p ON p.id = v.pid) SELECT age, SUM(c) FROM j GROUP BY 1",
        "(visits[greater(cost, 0)]{pid=person_id, c=multiply(cost, 2)} ⋈ persons on unit){pid, age, c} BY age ASK sum_c=sum(c)",
    ),
    (
        "SELECT r.drug, AVG(v.cost) FROM visits v JOIN rx r USING (person_id) GROUP BY r.drug",
        "(visits ⋈ rx{person_id_2=person_id, drug, dose} on unit) BY drug ASK avg_cost=mean(cost)",
    ),
    (
        "SELECT COUNT(DISTINCT person_id) FROM visits JOIN rx USING (person_id)",
        "(visits ⋈ rx{person_id_2=person_id, drug, dose} on unit) ASK count_units=count_units()",
    ),
    (
        "SELECT drug, COUNT(*) FROM visits v LEFT JOIN rx r ON v.person_id = r.person_id AND r.dose > 1 GROUP BY drug",
        "(visits ⟕ rx[greater(dose, 1)]{person_id_2=person_id, drug, dose} on unit) BY drug ASK count=count()",
    ),
    (
        "SELECT a.dept, b.dept AS other, COUNT(*) FROM visits a JOIN visits b ON a.person_id = b.person_id GROUP BY a.dept, b.dept",
        "(visits ⋈ visits{person_id_2=person_id, site_id_2=site_id, cost_2=cost, quantity_2=quantity, dept_2=dept, day_2=day, seen_2=seen, urgent_2=urgent, open_2=open} on unit) BY dept, other=dept_2 ASK count=count()",
    ),
    (
        "SELECT sku, COUNT(*), AVG(price) FROM items GROUP BY sku",
        "items→orders BY sku ASK count=count(), avg_price=mean(price)",
    ),
    (
        "SELECT sku, SUM(total) FROM items i JOIN orders o ON i.order_id = o.order_id GROUP BY sku",
        "(items→orders ⋈ orders{order_id_2=order_id, person_id, total} on order_id=order_id_2) BY sku ASK sum_total=sum(total)",
    ),
    (
        "SELECT sku, SUM(amount) FROM items i JOIN payments p ON i.order_id = p.order_id GROUP BY sku",
        "(items→orders ⋈ payments→orders{order_id_2=order_id, amount} on order_id=order_id_2) BY sku ASK sum_amount=sum(amount)",
    ),
    (
        "SELECT age, SUM(total) FROM orders o JOIN persons p ON o.person_id = p.id GROUP BY age",
        "(orders ⋈ persons on unit) BY age ASK sum_total=sum(total)",
    ),
    (
        "SELECT n, COUNT(*) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) GROUP BY n",
        "visits/(person_id; ; n=count()) BY n ASK count=count()",
    ),
    (
        "SELECT AVG(n) FROM (SELECT person_id, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY person_id HAVING COUNT(*) > 1) t",
        "visits/(person_id; ; n=count(), s=sum(cost))[greater(n, 1)] ASK avg_n=mean(n)",
    ),
    (
        "SELECT dept, AVG(s) FROM (SELECT person_id, dept, SUM(cost) AS s FROM visits GROUP BY person_id, dept) GROUP BY dept",
        "visits/(person_id; dept; s=sum(cost)) BY dept ASK avg_s=mean(s)",
    ),
    (
        "SELECT dept, AVG(s) FROM (SELECT dept, SUM(cost) AS s FROM visits GROUP BY person_id, dept) GROUP BY dept",
        "visits/(; dept; s=sum(cost)) BY dept ASK avg_s=mean(s)",
    ),
    (
        "SELECT AVG(hi - lo) FROM (SELECT person_id, MIN(cost) AS lo, MAX(cost) AS hi FROM visits GROUP BY 1)",
        "visits/(person_id; ; lo=min(cost), hi=max(cost)) ASK avg=mean(subtract(hi, lo))",
    ),
    (
        "SELECT AVG(d) FROM (SELECT person_id, COUNT(DISTINCT dept) AS d FROM visits GROUP BY person_id)",
        "visits/(person_id; ; d=count_distinct(dept)) ASK avg_d=mean(d)",
    ),
    (
        "SELECT AVG(m) FROM (SELECT AVG(cost) / 2 AS m, person_id FROM visits GROUP BY person_id)",
        "visits/(person_id; ; avg_cost=mean(cost)){m=divide(avg_cost, 2), person_id} ASK avg_m=mean(m)",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT person_id, dept FROM visits GROUP BY person_id, dept)",
        "visits/(person_id; dept; ) ASK count=count()",
    ),
    (
        "SELECT age, AVG(n) FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id) t JOIN persons p ON p.id = t.person_id GROUP BY age",
        "(visits/(person_id; ; n=count()) ⋈ persons on unit) BY age ASK avg_n=mean(n)",
    ),
    (
        "SELECT n, COUNT(*) FROM (SELECT person_id, COUNT(*) FILTER (WHERE urgent) AS n FROM visits GROUP BY person_id) GROUP BY n",
        "visits/(person_id; ; n=count_of(case(urgent, 1, NULL))) BY n ASK count=count()",
    ),
    (
        "SELECT x, COUNT(*) FROM (SELECT site_id AS x, person_id FROM visits UNION ALL SELECT 0, person_id FROM rx) u GROUP BY x",
        "(visits{x=site_id, person_id} + rx{x=0, person_id}) BY x ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT dept FROM visits UNION ALL SELECT drug FROM rx UNION ALL SELECT sku FROM items)",
        "(visits{dept} + rx{dept=drug} + items→orders{dept=sku}) ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) FROM (SELECT * FROM visits) GROUP BY dept",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) FROM (SELECT * EXCLUDE (cost, open) FROM visits) GROUP BY dept",
        "visits{person_id, site_id, quantity, dept, day, seen, urgent} BY dept ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) FROM (SELECT v.*, region FROM visits v JOIN sites s ON s.id = v.site_id) GROUP BY dept",
        "(visits ⋈ sites on site_id=id){person_id, site_id, cost, quantity, dept, day, seen, urgent, open, region} BY dept ASK count=count()",
    ),
    (
        "FROM visits SELECT dept, COUNT(*) GROUP BY ALL",
        "visits BY dept ASK count=count()",
    ),
    (
        "(SELECT COUNT(*) FROM visits)",
        "visits ASK count=count()",
    ),
    (
        "WITH visits AS (SELECT * FROM visits WHERE cost > 1) SELECT COUNT(*) FROM visits",
        "visits[greater(cost, 1)] ASK count=count()",
    ),
    (
        "WITH a AS (SELECT person_id, cost FROM visits), b AS (SELECT * FROM a WHERE cost > 1) SELECT AVG(cost) FROM b",
        "visits{person_id, cost}[greater(cost, 1)] ASK avg_cost=mean(cost)",
    ),
    (
        "WITH a(who, what) AS (SELECT person_id, cost FROM visits) SELECT AVG(what) FROM a",
        "visits{who=person_id, what=cost} ASK avg_what=mean(what)",
    ),
    (
        "SELECT AVG(x) FROM (WITH a AS (SELECT cost AS x FROM visits) SELECT x FROM a WHERE x > 0) t",
        "visits{x=cost}[greater(x, 0)] ASK avg_x=mean(x)",
    ),
    (
        "SELECT AVG(c) FROM (SELECT cost AS c FROM (SELECT cost FROM visits WHERE cost > 1) a WHERE cost < 9) b",
        "visits[greater(cost, 1)]{cost}[less(cost, 9)]{c=cost} ASK avg_c=mean(c)",
    ),
    (
        "SELECT kind, AVG(level) FROM events WHERE level > 0 GROUP BY kind",
        "events[greater(level, 0)] BY kind ASK avg_level=mean(level)",
    ),
    (
        "SELECT /* hello */ COUNT(*) FROM visits -- there",
        "visits ASK count=count()",
    ),
    (
        "SELECT SUM(cost) /* sqlglot.anonymous */ FROM visits",
        "visits ASK sum_cost=sum(cost)",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.5, delta=1e-6, max_groups_contributed=3, privacy_unit_column=person_id) dept, COUNT(*) AS n FROM visits GROUP BY dept",
        "visits BY dept ASK n=count() PRIVACY 1/2 1/1000000 None 3 None",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_groups_contributed=2, privacy_unit_column=person_id) dept, COUNT(*, contribution_bounds_per_group => (0, 5)) AS n, AVG(cost, contribution_bounds_per_group => (0, 100)) AS m FROM visits GROUP BY dept",
        "visits/(; dept; share=count(), share_2=mean(cost)) BY dept ASK n=sum(least(greatest(share, 0), 5)), m=mean(least(greatest(share_2, 0), 100)) PRIVACY 1 None None 2 1",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=0) SUM(cost, contribution_bounds_per_row => (-1, 10.5)) AS s FROM visits",
        "visits ASK s=sum(least(greatest(cost, -1), 21/2)) PRIVACY 1 0 None None None",
    ),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, max_rows_contributed=4) SUM(cost) AS s FROM visits",
        "visits ASK s=sum(cost) PRIVACY 1 None 4 None None",
    ),
    (
        "SELECT dept, SUM(cost, contribution_bounds_per_group => (0, 50)) AS s, COUNT(*) AS n, COUNT(DISTINCT person_id) AS p FROM visits GROUP BY dept",
        "visits/(; dept; share=sum(cost), share_2=count()) BY dept ASK s=sum(least(greatest(share, 0), 50)), n=sum(share_2), p=count_units() PRIVACY None None None None 1",
    ),
    (
        "SELECT kind, SUM(level, contribution_bounds_per_group => (0, 3)) AS s FROM events GROUP BY kind",
        "events BY kind ASK s=sum(least(greatest(level, 0), 3)) PRIVACY None None None None 1",
    ),
    (
        "SELECT dept, COUNT(*) FROM visits GROUP BY (dept)",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING n BETWEEN 1 AND 5 OR dept IN ('er')",
        "visits BY dept ASK n=count() HAVING or(and(greater_equal(n, 1), less_equal(n, 5)), in(dept, 'er'))",
    ),
    (
        "SELECT dept, -COUNT(*) AS minus FROM visits GROUP BY dept ORDER BY -COUNT(*)",
        "visits BY dept ASK count=count() SHOW dept, minus=negate(count) ORDER negate(count)",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept = 'it''s -- not a comment; /* nor this */'",
        'visits[equal(dept, "it\'s -- not a comment; /* nor this */")] ASK count=count()',
    ),
    (
        "SELECT COUNT(*) FROM visits LIMIT 1",
        "visits ASK count=count() LIMIT 1",
    ),
    (
        "SELECT site_id + 1 AS s, COUNT(*) FROM visits GROUP BY site_id + 1 HAVING site_id + 1 > 2",
        "visits BY s=add(site_id, 1) ASK count=count() HAVING greater(s, 2)",
    ),
    (
        "SELECT (site_id + 1) * 2 AS s, COUNT(*) FROM visits GROUP BY site_id + 1",
        "visits BY add=add(site_id, 1) ASK count=count() SHOW s=multiply(add, 2), count",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE DATE(seen) = '2024-01-01'",
        "visits[equal(to_date(seen), 2024-01-01)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE MINUTE(seen) < 30 AND DAY(seen) = 1",
        "visits[and(less(minute(seen), 30), equal(day(seen), 1))] ASK count=count()",
    ),
    (
        "SELECT AVG(n) FROM (SELECT o.person_id, COUNT(*) AS n FROM items i JOIN orders o ON i.order_id = o.order_id GROUP BY o.person_id)",
        "(items→orders ⋈ orders{order_id_2=order_id, person_id, total} on order_id=order_id_2)/(person_id; ; n=count()) ASK avg_n=mean(n)",
    ),
    (
        "SELECT APPROX_COUNT_DISTINCT(dept) AS d FROM visits",
        "visits ASK d=count_distinct(dept)",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING UPPER(dept) = 'ER' AND LENGTH(dept) > 1",
        "visits BY dept ASK n=count() HAVING and(equal(upper(dept), 'ER'), greater(length(dept), 1))",
    ),
    (
        "SELECT site_id, COUNT(*) AS n FROM visits GROUP BY site_id HAVING site_id BETWEEN 2 AND 4",
        "visits BY site_id ASK n=count() HAVING and(greater_equal(site_id, 2), less_equal(site_id, 4))",
    ),
    (
        "SELECT s.region, r.population, COUNT(*) AS n FROM sites s JOIN regions r ON s.region = r.region JOIN visits v ON v.site_id = s.id GROUP BY ALL",
        "((sites ⋈ regions{region_2=region, population} on region=region_2) ⋈ visits on id=site_id) BY region, population ASK n=count()",
    ),
    (
        "SELECT AVG(v.cost - t.m) AS d FROM visits v JOIN (SELECT person_id, AVG(cost) AS m FROM visits GROUP BY person_id) t ON t.person_id = v.person_id",
        "(visits ⋈ visits/(person_id; ; m=mean(cost)){person_id_2=person_id, m} on unit) ASK d=mean(subtract(cost, m))",
    ),
]
