#!/usr/bin/env python3
"""komp-order of polk/prune/komporder.go in Python: it removes the same elements.

    bin/runall compare --profile smoke --with mine=polk/prune/external/python/komp_order.py
"""

from polkprune import ORDER, run


def prune(s, order):
    while len(s) > order:
        s.remove(s.least(s.cost))


run(
    prune,
    about="removes the cheapest element and refits the rest until M are left",
    params=[ORDER],
    inverse=True,
    wants=["costs"],
)
