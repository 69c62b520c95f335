"""Conversations on a session: counts and means on the fly, paid only where what is known is not enough."""
