#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""runtime_times.py CLI RUNTIME-RUN [--quick] [--exports FOLDER] [--verbose] [NETWORK ...]: the times of exports beside those of
the float network, as forecast now and as once measured in ONNX Runtime (runtime-times.tsv, written by fit_costs.py). Nothing is
measured here: the processor does not matter. The middle error and the largest one stay within bounds, and nine of ten within the
margin that is told.
--quick: the usual placement and a sparing one; --exports: files of exports are kept there, and taken from there."""
import csv
import math
import os
import sys
import tempfile

import oracle

oracle.use_oracle_python()
import runtime    # noqa: E402
import runtime_exports as exports    # noqa: E402

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'runtime-times.tsv')
INSTRUCTIONS = 'vnni'    # of the processors that the forecast is of
QUICK = {'plain', 'placed'}
# Beyond FAR are networks of some microseconds, and forms that no other network has.
MIDDLE, FAR, FAR_SHARE, WORST, WITHIN = 0.12, 0.40, 0.03, 1.1, 0.9


def read_table():
    """{network: {variant: measured time beside float}}"""
    found = {}
    with open(TABLE, encoding='utf-8') as file:
        for row in csv.DictReader((line for line in file if not line.startswith('#')), delimiter='\t'):
            if row['instructions'] == INSTRUCTIONS:
                found.setdefault(row['network'], {})[row['variant']] = float(row['ratio'])
    return found


def main():
    args = sys.argv[1:]
    folder = args.pop(args.index('--exports') + 1) if '--exports' in args else None
    cli, runtime_run, *names = [a for a in args if not a.startswith('--')]
    if not os.path.isdir(exports.SHARED):
        oracle.skip('VN_SHARED is not set')
    table = read_table()
    errors, missing = [], []
    with tempfile.TemporaryDirectory() as made:
        for name in names or table:
            known = {label: ratio for label, ratio in table[name].items() if '--quick' not in args or label in QUICK}
            files = exports.export_all(cli, name, folder or made, known)
            heads = {label: runtime.list_forecast(runtime_run, path, name)[0] for label, path in files.items()}
            missing += [f'{name} {label}' for label in known if label not in heads]
            for label in set(known) & set(heads):
                told = float(heads[label][2]) / float(heads['float'][2])
                errors.append((abs(math.log(told / known[label])), told / known[label] - 1, name, label))
                if '--verbose' in args:
                    print(f'{name:34} {label:10} told x{told:.2f}, measured x{known[label]:.2f} ({100 * errors[-1][1]:+.0f} %)',
                          flush=True)
            margin = float(heads['float'][4])
    errors.sort()
    middle, worst = math.expm1(errors[len(errors) // 2][0]), math.expm1(errors[-1][0])
    far = sum(error[0] > math.log1p(FAR) for error in errors) / len(errors)
    within = sum(error[0] <= math.log(margin) for error in errors) / len(errors)
    print(f'{len(errors)} exports of {len(names or table)} networks: middle error {100 * middle:.0f} %, '
          f'largest {100 * worst:.0f} %, {100 * far:.1f} % of them beyond {100 * FAR:.0f} %; '
          f'{100 * within:.0f} % within a factor of {margin}; not exported: {", ".join(missing) or "none"}')
    for _, off, name, label in errors[-12:]:
        print(f'    {name} {label}: {100 * off:+.0f} %')
    sys.exit(bool(missing) or middle > MIDDLE or far > FAR_SHARE or worst > WORST or within < WITHIN)


if __name__ == '__main__':
    main()
