"""The package's defaults for walks and anchors, written here and nowhere else."""

NUM_WALKS = 50
"""Walks from each node, n_w, as in the paper's experiments."""

WALK_LENGTH = "diameter"
"""Jumps of a walk, l_w (section 3.5)."""

STORED_WALK_LENGTH = 20
"""Jumps of a walk that is stored rather than counted."""

PAIR_WALK_LENGTH = 5
"""Jumps of a walk between the nodes of a listed pair: the exact method's cost grows with their neighbourhood."""

NUM_ANCHORS = "log2"
"""Anchors: floor(log2 n)^2, at most n."""

STRATEGY = "greedy"
"""How anchors are chosen."""

NODE2VEC_WALKS, NODE2VEC_WALK_LENGTH = 10, 40
"""Walks from each node and their jumps in node2vec."""
