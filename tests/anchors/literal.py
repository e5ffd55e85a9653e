"""Section 3.2 and Algorithm 2 (App. D) written down plainly, from stored walks."""

import numpy as np

from graphreach.anchors.bipartite import NUM_SAMPLES, SAMPLE_SHARE, CollectVisits, bipartite_graph
from graphreach.walks import random_walks
from graphreach.walks.engine import LocalWalker
from graphreach.walks.rng import hash_nodes, start_key, walk_key
from graphreach.walks.visits import ALL_WALKS, sample_mask


def walked(graph, starts, num_walks, walk_length, seed):
    """The package's bipartite graph."""
    job = CollectVisits(num_walks=num_walks, length=walk_length, seed=seed)
    return bipartite_graph(LocalWalker(graph), starts, job)


def reachability_sets(graph, starts, num_walks, walk_length, seed):
    """For each bit the set rho(u) of (numbers of) starts of each node u, and the visits that u gets."""
    walks = random_walks(graph, starts, num_walks, walk_length, seed)
    sets = {bit: [set() for _ in range(graph.num_nodes)] for bit in (*range(NUM_SAMPLES), ALL_WALKS)}
    visits = np.zeros(graph.num_nodes, int)
    for i, start in enumerate(starts):
        key = np.uint64(start_key(seed, start))
        for number, walk in enumerate(walks[i].tolist()):
            mask = sample_mask(np.uint64(walk_key(key, number)), NUM_SAMPLES, SAMPLE_SHARE)
            for u in walk[1:]:
                if u >= 0 and u != start:
                    visits[u] += 1
                    for bit, rho in sets.items():
                        if mask >> bit & 1:
                            rho[u].add(i)
    return sets, visits


def rank_of(visits, seed):
    """More visits first, then the seeded hash."""
    hashed = hash_nodes(seed, np.arange(len(visits))).tolist()
    order = sorted(range(len(visits)), key=lambda u: (-visits[u], hashed[u]))
    return {u: place for place, u in enumerate(order)}


def plain_greedy(rho, rank, k, rounds=True):
    """Algorithm 2, every gain of every node in every iteration; a new round when nothing gains anything."""
    chosen, gained, covered, round_began = [], [], set(), 0
    left = set(range(len(rho)))
    while len(chosen) < k and left:
        u = min(left, key=lambda u: (-len(rho[u] - covered), rank[u]))
        gain = len(rho[u] - covered)
        if gain == 0:
            if not rounds or len(chosen) == round_began:
                break
            covered, round_began = set(), len(chosen)
            continue
        chosen.append(u)
        gained.append(gain)
        covered |= rho[u]
        left.remove(u)
    return chosen, gained


def plain_consensus(sets, rank, k):
    """Nodes by votes, then summed marginal coverage, then visits, then the hash."""
    n = len(sets[ALL_WALKS])
    votes, total = [0] * n, [0] * n
    for sample in range(NUM_SAMPLES):
        for u, gain in zip(*plain_greedy(sets[sample], rank, k), strict=True):
            votes[u] += 1
            total[u] += gain
    return sorted(range(n), key=lambda u: (-votes[u], -total[u], rank[u]))[:k]
