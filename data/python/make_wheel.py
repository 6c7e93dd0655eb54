#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make_wheel.py SOURCE TREE STAGE VERSION GLIBC OUT: packs the wheel and prints its path.

SOURCE has the Python package, TREE what “meson install” wrote below its prefix, STAGE the licences and versions of the libraries
that are linked into the program. The same files give the same bytes: files are sorted, and dated $SOURCE_DATE_EPOCH.
"""
import base64
import csv
import hashlib
import io
import os
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Of TREE: what goes along with the program, where pip puts it: beside the folder of programs.
SHARED = ('share/locale', 'share/man', 'share/vernier/demo')
SBOM = 'share/doc/vernier/vernier.spdx.json'


def read_below(folder, inside):
    """(name in the wheel, bytes) of all files in there."""
    for path in sorted(folder.rglob('*')):
        if path.is_file() and '__pycache__' not in path.parts:
            yield f'{inside}/{path.relative_to(folder).as_posix()}', path.read_bytes()


def describe(source, version):
    metadata = (HERE / 'METADATA.in').read_text().replace('@VERSION@', version)
    return metadata + '\n' + (source / 'README.md').read_text()


def collect(source, tree, stage, version, tag):
    data, info = f'vernier-{version}.data', f'vernier-{version}.dist-info'
    files = dict(read_below(source / 'src' / 'python' / 'vernier', 'vernier'))
    files[f'{data}/scripts/vernier-cli'] = (tree / 'bin' / 'vernier-cli').read_bytes()
    for folder in SHARED:
        files.update(read_below(tree / folder, f'{data}/data/{folder}'))
    files.update(read_below(stage / 'copyright', f'{info}/licenses/libraries'))
    files[f'{info}/licenses/libraries/VERSIONS'] = (stage / 'versions').read_bytes()
    files[f'{info}/licenses/COPYING'] = Path('/usr/share/common-licenses/GPL-3').read_bytes()
    files[f'{info}/sboms/vernier.spdx.json'] = (tree / SBOM).read_bytes()
    files[f'{info}/METADATA'] = describe(source, version).encode()
    files[f'{info}/WHEEL'] = (f'Wheel-Version: 1.0\nGenerator: vernier (data/python/make_wheel.py)\nRoot-Is-Purelib: false\n'
                              f'Tag: {tag}\n').encode()
    return files, f'{info}/RECORD'


def make_record(files, name):
    text = io.StringIO()
    rows = csv.writer(text, lineterminator='\n')
    for path in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).rstrip(b'=').decode()
        rows.writerow([path, f'sha256={digest}', len(files[path])])
    rows.writerow([name, '', ''])
    return text.getvalue().encode()


def pack(path, files, last):
    date = time.gmtime(int(os.environ['SOURCE_DATE_EPOCH']))[:6]
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in [*sorted(files.keys() - {last}), last]:    # the list of all stands last
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3
            entry.external_attr = (0o100755 if '/scripts/' in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])


def main():
    source, tree, stage = (Path(path) for path in sys.argv[1:4])
    version, glibc, out = sys.argv[4:]
    tag = f'py3-none-manylinux_{glibc}_x86_64'
    files, record = collect(source, tree, stage, version, tag)
    files[record] = make_record(files, record)
    path = Path(out) / f'vernier-{version}-{tag}.whl'
    pack(path, files, record)
    print(path)


if __name__ == '__main__':
    main()
