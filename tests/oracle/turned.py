#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""turned.py ENGINE_RUN CLI: the form of a network that oracle.open_session() makes for processors whose kernels saturate is
computed by onnxruntime as the engine computes the network itself: every kind of product, constant operands and others, inside If,
Loop and Scan. Other tests use that form on such processors only, this one everywhere."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import contrib
import oracle
import subgraphs


def main():
    oracle.use_oracle_python()
    program, cli = sys.argv[1:3]
    turn, counts = oracle.turn_operands, []

    def count(graph, types, ending):
        counts.append((turn(graph, types, ending), ending != '_turned0'))
        return counts[-1][0]

    oracle.saturates, oracle.turn_operands = lambda: True, count
    names = sorted(set(oracle.PRODUCTS) & set(contrib.GENERATORS))
    sys.argv[2:] = names
    failed = contrib.main()
    products = sum(n for n, _ in counts)
    with tempfile.TemporaryDirectory() as folder:
        subgraphs.check_networks(cli, folder)
    inside = sum(n for n, inner in counts if inner)
    print('%d operators, %d operands turned, %d of graphs inside others' % (len(names), products, inside))
    return 1 if failed or len(names) < len(oracle.PRODUCTS) or products < 4 * len(names) or inside == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
