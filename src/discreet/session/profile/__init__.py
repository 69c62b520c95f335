"""The profile of a table: everything that later questions need to know about its columns, bought once."""
