#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""figures.py ROOT: does tests/perf/figures.py keep the rows of other machines, and refuse what load makes worthless?

The page of figures has a place for each of its parts; rows of two machines are joined as a table says; and load.py is asked about
machines whose processors were as busy as another table says.
"""
import os
import shutil
import sys
import tempfile

root = sys.argv[1]
sys.path[:0] = [os.path.join(root, 'tests', 'perf'), os.path.join(root, 'tests', 'oracle')]
sys.dont_write_bytecode = True
import figures
import load

PAGE = os.path.join(root, 'data', 'help', 'vernier-figures.md')
NEW = ['| network | s |', '|---|---|', '| one | 1 |', '| two | 2 |']
HEAD = ['| machine | network | s |', '|---|---|---|']
# What is in the page, and what is after rows of the machine "A" were written.
JOINED = [
    (['No machine has been measured yet.'], HEAD + ['| A | one | 1 |', '| A | two | 2 |']),
    (HEAD + ['| A | one | 9 |', '| A | gone | 9 |'], HEAD + ['| A | one | 1 |', '| A | two | 2 |']),
    (HEAD + ['| A | one | 9 |', '| B | one | 7 |'], HEAD + ['| B | one | 7 |', '| A | one | 1 |', '| A | two | 2 |']),
    (HEAD + ['| A, 2 cores | one | 9 |'], HEAD + ['| A, 2 cores | one | 9 |', '| A | one | 1 |', '| A | two | 2 |']),
]
# Seconds that two processors worked, that were stolen, and that we worked, of ten; whether that is too much load.
BUSY = [(20.0, 0, 20.0, False), (0.5, 0, 0, False), (1.5, 0, 0, True), (21.5, 0, 20.0, True), (10, 0.5, 10, True),
        (10, 0.1, 10, False)]
SPREADS = [([1, 1.1, 5], False), ([1, 1.5, 1.6], True), ([0.01, 0.03], False), ([2], False), ([None, 1, 1.2], False)]

failed = checked = 0


def check(good, what):
    global failed, checked
    checked += 1
    failed += not good
    if not good:
        print('not ok: %s' % what)


for old, wanted in JOINED:
    check(figures.join_rows(old, NEW, 'A') == wanted, 'rows behind %s: %s' % (old, figures.join_rows(old, NEW, 'A')))
check(figures.join_machines(['- A: old', '- B: b'], ['- A: new'], 'A') == ['- B: b', '- A: new'], 'lines of machines')
for worked, stolen, own, wanted in BUSY:
    readings = [iter(pair) for pair in (((5, 1), (5 + worked, 1 + stolen)), (3, 3 + own), (100, 110))]
    watch = load.Watch(*[lambda values=values: next(values) for values in readings], cores=2)
    check((watch.find_fault() is not None) == wanted, 'busy %s' % ((worked, stolen, own),))
for times, wanted in SPREADS:
    check((load.find_spread(times) is not None) == wanted, 'spread of %s' % times)
with tempfile.TemporaryDirectory() as folder:
    page = shutil.copy(PAGE, folder)
    for part in figures.PARTS:
        figures.write_part(page, part, NEW)
        with open(page, encoding='utf-8') as file:
            written = file.read().split('<!-- %s:' % part)[1].split('<!-- %s end' % part)[0]
        check('| %s | two | 2 |' % figures.name_machine() in written, 'the page has no place for %s' % part)
print('%d checked, %d failed' % (checked, failed))
sys.exit(failed > 0 or checked == 0)
