#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""backend_archives.py ONNX_BACKEND XFAIL

Runs all of the newest ONNX backend cases, which lie as archives in $VN_SHARED/onnx-tests, beside a table of what
onnxruntime does with them. Skipped (77) without them.
"""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle


def main():
    program, expected = sys.argv[1:3]
    folder = os.path.join(oracle.shared_folder(), 'onnx-tests')
    archives = sorted(glob.glob(os.path.join(folder, '*.tar.zst')))
    tables = glob.glob(os.path.join(folder, 'ort-*-results.tsv'))
    if not archives or len(tables) != 1:
        oracle.skip('no archives with one table of results in VN_SHARED/onnx-tests')
    with tempfile.TemporaryDirectory() as work:
        for archive in archives:
            if subprocess.run(['tar', '--zstd', '-xf', archive, '-C', work]).returncode != 0:
                oracle.skip('tar cannot read ' + archive)
        folders = sorted(glob.glob(os.path.join(work, '*')))
        return subprocess.run([program, '--xfail', expected] + folders).returncode


if __name__ == '__main__':
    sys.exit(main())
