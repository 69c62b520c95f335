"""Graphs: edges or nodes are protected, and counts of edges, degrees and triangles are released."""
