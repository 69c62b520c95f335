"""Threshold questions on a session: which totals are above? Request, plan, the stream, its transcript."""
