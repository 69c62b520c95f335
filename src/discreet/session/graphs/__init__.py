"""Graphs on a session of their own: edge tables, with request, plan, release and receipt as everywhere."""
