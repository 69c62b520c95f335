"""A connection to private tables: connect, ask, pay, receive."""
