"""PostgreSQL: tables are queried in place."""
