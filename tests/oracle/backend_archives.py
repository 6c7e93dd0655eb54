#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""backend_archives.py ONNX_BACKEND XFAIL, or backend_archives.py --fuzz FUZZ_PIPELINE COUNT

Runs all of the newest ONNX backend cases, which lie as archives in $VN_SHARED/onnx-tests; a case that onnxruntime passes
must pass. With --fuzz: damages those of single operators. Skipped (77) without the archives.
"""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle


def unpack(pattern, work):
    """The folders of cases in those archives; also the table of what onnxruntime does."""
    folder = os.path.join(oracle.shared_folder(), 'onnx-tests')
    archives = sorted(glob.glob(os.path.join(folder, pattern)))
    tables = glob.glob(os.path.join(folder, 'ort-*-results.tsv'))
    if not archives or len(tables) != 1:
        oracle.skip('no archives with one table of results in VN_SHARED/onnx-tests')
    for archive in archives:
        if subprocess.run(['tar', '--zstd', '-xf', archive, '-C', work]).returncode != 0:
            oracle.skip('tar cannot read ' + archive)
    return sorted(glob.glob(os.path.join(work, '*'))), tables[0]


def main():
    with tempfile.TemporaryDirectory() as work:
        if sys.argv[1] == '--fuzz':
            folders, _ = unpack('*node*.tar.zst', work)
            return subprocess.run([sys.argv[2], '--count', sys.argv[3]] + folders).returncode
        folders, table = unpack('*.tar.zst', work)
        return subprocess.run([sys.argv[1], '--xfail', sys.argv[2], '--reference', table] + folders).returncode


if __name__ == '__main__':
    sys.exit(main())
