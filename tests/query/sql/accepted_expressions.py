"""Accepted questions: conditions, expressions and post-processing."""
# ruff: noqa: E501

EXPRESSIONS: list[tuple[str, str]] = [
    (
        "SELECT AVG(cost / NULLIF(site_id, 0)) AS m FROM visits",
        "visits ASK m=mean(divide_or_null(cost, site_id))",
    ),
    (
        "SELECT dept, SUM(cost) / NULLIF(SUM(quantity), 0) AS m FROM visits GROUP BY dept",
        "visits BY dept ASK sum_cost=sum(cost), sum_quantity=sum(quantity) SHOW dept, m=divide_or_null(sum_cost, sum_quantity)",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost > 10 AND dept = 'er' AND NOT urgent",
        "visits[and(greater(cost, 10), equal(dept, 'er'), not(urgent))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE (cost > 10 AND (dept = 'er')) AND urgent",
        "visits[and(greater(cost, 10), equal(dept, 'er'), urgent)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost > 10 OR dept = 'er' OR urgent",
        "visits[or(greater(cost, 10), equal(dept, 'er'), urgent)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost BETWEEN 1 AND 2.5",
        "visits[and(greater_equal(cost, 1), less_equal(cost, 5/2))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost NOT BETWEEN 1 AND 2",
        "visits[not(and(greater_equal(cost, 1), less_equal(cost, 2)))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept IN ('er', 'lab')",
        "visits[in(dept, 'er', 'lab')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept NOT IN ('er')",
        "visits[not(in(dept, 'er'))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost IS NULL",
        "visits[is_null(cost)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE cost IS NOT NULL",
        "visits[not(is_null(cost))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE urgent IS TRUE",
        "visits[coalesce(urgent, False)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE urgent IS NOT FALSE",
        "visits[not(coalesce(not(urgent), False))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE urgent = TRUE",
        "visits[equal(urgent, True)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day >= '2024-01-01'",
        "visits[greater_equal(day, 2024-01-01)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day = DATE '2024-02-29'",
        "visits[equal(day, 2024-02-29)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day BETWEEN '2024-01-01' AND CAST('2024-12-31' AS DATE)",
        "visits[and(greater_equal(day, 2024-01-01), less_equal(day, 2024-12-31))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day IN ('2024-01-01', '2024-01-02')",
        "visits[in(day, 2024-01-01, 2024-01-02)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen < '2024-01-01 12:30:00'",
        "visits[less(seen, 2024-01-01 12:30:00)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen < TIMESTAMP '2024-01-01 12:30:00'",
        "visits[less(seen, 2024-01-01 12:30:00)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE seen >= DATE '2024-01-01'",
        "visits[greater_equal(seen, 2024-01-01 00:00:00)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE '2024-01-01' <= day",
        "visits[less_equal(2024-01-01, day)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept LIKE 'e%'",
        "visits[like(dept, 'e%')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept NOT LIKE 'e%'",
        "visits[not(like(dept, 'e%'))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE dept ILIKE 'E%'",
        "visits[like(lower(dept), 'e%')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE STARTS_WITH(dept, 'e')",
        "visits[starts_with(dept, 'e')] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE LENGTH(TRIM(LOWER(dept))) = 2",
        "visits[equal(length(trim(lower(dept))), 2)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE COALESCE(cost, 0) > 1",
        "visits[greater(coalesce(cost, 0), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE IFNULL(cost, 0) > 1",
        "visits[greater(coalesce(cost, 0), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE NULLIF(dept, 'er') IS NULL",
        "visits[is_null(case(equal(dept, 'er'), NULL, dept))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE IF(urgent, cost, 0) > 1",
        "visits[greater(case(urgent, cost, 0), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE quantity % 2 = 0 AND MOD(quantity, 3) = 1",
        "visits[and(equal(modulo(quantity, 2), 0), equal(modulo(quantity, 3), 1))] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE quantity // 2 = 1",
        "visits[equal(truncate(divide(quantity, 2)), 1)] ASK count=count()",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE -cost < -5 AND +cost > 1",
        "visits[and(less(negate(cost), -5), greater(cost, 1))] ASK count=count()",
    ),
    (
        "SELECT SUM(cost * quantity) AS revenue FROM visits",
        "visits ASK revenue=sum(multiply(cost, quantity))",
    ),
    (
        "SELECT SUM(cost / quantity) FROM visits",
        "visits ASK sum=sum(divide(cost, quantity))",
    ),
    (
        "SELECT SUM(ABS(cost - 250)), SUM(ROUND(cost)), SUM(ROUND(cost, 2)), SUM(CEIL(cost)), SUM(TRUNC(cost)) FROM visits",
        "visits ASK sum=sum(abs(subtract(cost, 250))), sum_2=sum(round(cost)), sum_3=sum(round(cost, 2)), sum_4=sum(ceil(cost)), sum_5=sum(truncate(cost))",
    ),
    (
        "SELECT SUM(SQRT(cost)), SUM(LN(cost + 1)), SUM(EXP(cost / 100)), SUM(POWER(cost, 2)), SUM(cost ** 3), SUM(POW(cost, 0.5)) FROM visits",
        "visits ASK sum=sum(sqrt(cost)), sum_2=sum(ln(add(cost, 1))), sum_3=sum(exp(divide(cost, 100))), sum_4=sum(multiply(cost, cost)), sum_5=sum(multiply(multiply(cost, cost), cost)) SHOW sum, sum_2, sum_3, sum_4, sum_5, sum_6=sum",
    ),
    (
        "SELECT SUM(LEAST(GREATEST(open, 0), 100)) FROM visits",
        "visits ASK sum=sum(least(greatest(open, 0), 100))",
    ),
    (
        "SELECT SUM(CLAMP(open, 0, 100)), AVG(CLIP(open, -5, 5)) FROM visits",
        "visits ASK sum=sum(least(greatest(open, 0), 100)), avg=mean(least(greatest(open, -5), 5))",
    ),
    (
        "SELECT SUM(CASE WHEN urgent THEN cost ELSE 0 END) FROM visits",
        "visits ASK sum=sum(case(urgent, cost, 0))",
    ),
    (
        "SELECT AVG(CAST(urgent AS INTEGER)) AS share FROM visits",
        "visits ASK share=mean(case(urgent, 1, not(urgent), 0, NULL))",
    ),
    (
        "SELECT AVG(urgent::INT) AS share FROM visits",
        "visits ASK share=mean(case(urgent, 1, not(urgent), 0, NULL))",
    ),
    (
        "SELECT SUM(CAST(quantity AS DOUBLE)) FROM visits",
        "visits ASK sum=sum(to_real(quantity))",
    ),
    (
        "SELECT SUM(CAST(cost AS BIGINT)) FROM visits",
        "visits ASK sum=sum(round(cost))",
    ),
    (
        "SELECT SUM(1.5e2 * cost) FROM visits",
        "visits ASK sum=sum(multiply(150, cost))",
    ),
    (
        "SELECT SUM(CASE WHEN TRUE THEN NULL ELSE cost END) FROM visits",
        "visits ASK sum=sum(case(True, NULL, cost))",
    ),
    (
        "SELECT MODE(CASE WHEN urgent THEN TRUE END), MODE(CASE WHEN urgent THEN 1 END) FROM visits",
        "visits ASK mode=mode(case(urgent, True, NULL)), mode_2=mode(case(urgent, 1, NULL))",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING COUNT(*) > 100",
        "visits BY dept ASK n=count() HAVING greater(n, 100)",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING n > 100 AND dept <> 'er'",
        "visits BY dept ASK n=count() HAVING and(greater(n, 100), not_equal(dept, 'er'))",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept HAVING AVG(cost) > 3 ORDER BY SUM(cost) DESC, dept",
        "visits BY dept ASK n=count(), avg_cost=mean(cost), sum_cost=sum(cost) SHOW dept, n HAVING greater(avg_cost, 3) ORDER sum_cost desc, dept",
    ),
    (
        "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept ORDER BY 2 DESC NULLS LAST, 1 ASC",
        "visits BY dept ASK n=count() ORDER n desc, dept",
    ),
    (
        "SELECT dept, 100.0 * COUNTIF(urgent) / COUNT(*) AS share FROM visits GROUP BY dept ORDER BY share",
        "visits BY dept ASK count=count_of(case(urgent, 1, NULL)), count_2=count() SHOW dept, share=divide(multiply(100, count), count_2) ORDER divide(multiply(100, count), count_2)",
    ),
    (
        "SELECT dept, ROUND(AVG(cost), 2) AS mean, COALESCE(SUM(cost), 0) AS total FROM visits GROUP BY dept",
        "visits BY dept ASK avg_cost=mean(cost), sum_cost=sum(cost) SHOW dept, mean=round(avg_cost, 2), total=coalesce(sum_cost, 0)",
    ),
    (
        "SELECT dept, CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END AS size FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW dept, size=case(greater(count, 10), 'many', 'few')",
    ),
    (
        "SELECT SQRT(VAR_POP(cost)) AS sd, EXP(AVG(LN(cost + 1))) AS geo FROM visits",
        "visits ASK variance_pop_cost=variance(cost, population), avg=mean(ln(add(cost, 1))) SHOW sd=sqrt(variance_pop_cost), geo=exp(avg)",
    ),
    (
        "SELECT AVG(cost) - MEDIAN(cost) AS skew, GREATEST(COUNT(*), 0) AS n FROM visits",
        "visits ASK avg_cost=mean(cost), median_cost=quantile(cost, 1/2), count=count() SHOW skew=subtract(avg_cost, median_cost), n=greatest(count, 0)",
    ),
    (
        "SELECT COUNT(*), COUNT(*) FROM visits",
        "visits ASK count=count() SHOW count, count_2=count",
    ),
    (
        "SELECT dept, dept AS again, COUNT(*) FROM visits GROUP BY dept",
        "visits BY dept ASK count=count() SHOW dept, again=dept, count",
    ),
    (
        "SELECT v.dept, COUNT(*) FROM visits v GROUP BY v.dept",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT visits.dept, COUNT(*) FROM visits GROUP BY dept",
        "visits BY dept ASK count=count()",
    ),
    (
        "SELECT v.dept, COUNT(*) FROM visits AS v(p, s, cost, quantity, dept, day, seen, urgent, open) WHERE s > 1 GROUP BY v.dept",
        "visits{p=person_id, s=site_id, cost, quantity, dept, day, seen, urgent, open}[greater(s, 1)] BY dept ASK count=count()",
    ),
    (
        'SELECT "dept", COUNT(*) AS "How many" FROM "visits" GROUP BY "dept"',
        "visits BY dept ASK How many=count()",
    ),
    (
        'SELECT a, "A", COUNT(*) FROM "Mixed Case" GROUP BY a, "A"',
        "Mixed Case BY a, A ASK count=count()",
    ),
]
