"""PostgreSQL, where the tables are already."""
