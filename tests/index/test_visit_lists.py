"""Tables of entries against sets."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphreach.index.visit_lists import COUNT, VisitLists
from graphreach.walks.kernels import DEAD

LENGTH, BITS, NODES, WALKS = 4, 2, 5, 40
places = st.sampled_from([*range(NODES), DEAD])


def path(data):
    """Where a walk is at steps 1 .. LENGTH; it stays dead once it is."""
    out = [DEAD]
    for _ in range(LENGTH):
        out.append(DEAD if len(out) > 1 and out[-1] == DEAD else data.draw(places))
    return out


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_entries_move_with_their_walks(data):
    lists = VisitLists(np.zeros(NODES, np.int64), (WALKS << BITS) - 1)
    now = {}
    for _ in range(data.draw(st.integers(1, 6))):
        walks = sorted(data.draw(st.sets(st.integers(0, WALKS - 1), min_size=1, max_size=WALKS)))
        after = [data.draw(st.integers(0, LENGTH - 1)) if walk in now else 0 for walk in walks]
        old = [now.get(walk, [DEAD] * (LENGTH + 1)) for walk in walks]
        new = [before[: step + 1] + path(data)[step + 1 :] for before, step in zip(old, after, strict=True)]
        lists.exchange(
            np.array(walks), np.array(after, np.uint16), np.array(old, np.uint32), np.array(new, np.uint32), BITS
        )
        now |= dict(zip(walks, new, strict=True))
        for node in range(NODES):
            expected = {(w << BITS) | t for w, steps in now.items() for t in range(1, LENGTH) if steps[t] == node}
            entries = lists.entries(node).tolist()
            assert len(entries) == len(set(entries)) == lists.head[node, COUNT]
            assert set(entries) == expected
        if data.draw(st.booleans()):
            lists.widen()
    assert lists.num_entries == sum(lists.head[:, COUNT])
