"""Estimates on a session: any function of people's rows, and robust statistics of one value for each."""
