"""Graphs: edges or nodes are protected; counts of edges, degrees and triangles are released."""
