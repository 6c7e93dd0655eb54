#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""contributing.py SOURCE_DIR: CONTRIBUTING.md against the tree: each path it names exists, each layer has its line, in order,
and each table of the source (.def) is named by a row that says how to add to it."""
import glob
import itertools
import os
import re
import sys

root = sys.argv[1]
text = open(os.path.join(root, 'CONTRIBUTING.md'), encoding='utf-8').read()
failures = []


def expand(path):
    """src/{a,b}/c.h: both."""
    parts = [part.strip('{}').split(',') if part.startswith('{') else [part] for part in re.split(r'({[^}]*})', path)]
    return [''.join(choice) for choice in itertools.product(*parts)]


def section(title):
    start = text.index('## ' + title)
    end = text.find('\n## ', start)
    return text[start:end if end > 0 else len(text)]


paths = [path for span in re.findall(r'`([^`]+)`', text) if re.match(r'(src|ui|po|tests|data)/\S+$', span)
         for path in expand(span)]
for path in paths:
    if not glob.glob(os.path.join(root, path)):
        failures.append(f'{path}: named, but there is no such file')

layers = re.search(r'layer_names = \[(.*?)\]', open(os.path.join(root, 'src', 'meson.build'), encoding='utf-8').read(), re.S)
built = re.findall(r"'([a-z]+)'", layers.group(1))
told = re.findall(r'^\| `([a-z]+)` \|', section('Layers'), re.M)
if built != told:
    failures.append(f'layers: src/meson.build has {built}, CONTRIBUTING.md {told}')

rows = section('How to add')
tables = [os.path.relpath(path, root) for path in glob.glob(os.path.join(root, 'src', '**', '*.def'), recursive=True)]
FIXED = {'src/tensor/vn-dtypes.def'}   # the types of the ONNX standard: nobody adds to it
for table in tables:
    if '`' + table + '`' not in rows and table not in FIXED:
        failures.append(f'{table}: no row says how to add to it')

for failure in failures:
    print('not ok', failure)
compared = len(paths) + len(built) + len(tables)
print(f'{compared} compared, {len(failures)} failures')
sys.exit(1 if failures or compared < 60 else 0)
