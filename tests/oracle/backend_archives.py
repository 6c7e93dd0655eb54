#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""backend_archives.py ONNX_BACKEND XFAIL

Runs the newest ONNX backend cases, which lie as archives in $VN_SHARED/onnx-tests. Skipped (77) without them.
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
    archives = [a for a in sorted(glob.glob(os.path.join(oracle.shared_folder(), 'onnx-tests', '*.tar.zst')))
                if 'light' not in a]
    if not archives:
        oracle.skip('no archives in VN_SHARED/onnx-tests')
    with tempfile.TemporaryDirectory() as work:
        for archive in archives:
            if subprocess.run(['tar', '--zstd', '-xf', archive, '-C', work]).returncode != 0:
                oracle.skip('tar cannot read ' + archive)
        folders = sorted(glob.glob(os.path.join(work, '*')))
        return subprocess.run([program, '--skip-unsupported', '--min-passed', '1000', '--xfail', expected] +
                              folders).returncode


if __name__ == '__main__':
    sys.exit(main())
