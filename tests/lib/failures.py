#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the last lines of every test that failed in the last run of a build directory: failures.py BUILD"""
import json
import pathlib
import sys

N_LINES = 25
GOOD = {"OK", "SKIP", "EXPECTEDFAIL"}


def main():
    log = pathlib.Path(sys.argv[1], "meson-logs", "testlog.json")
    if not log.exists():
        return
    for test in map(json.loads, log.read_text(errors="replace").splitlines()):
        if test["result"] in GOOD:
            continue
        print(f"\n{test['name']}: {test['result']} after {test['duration']:.1f} s")
        for stream in ("stdout", "stderr"):
            print("\n".join(test.get(stream, "").splitlines()[-N_LINES:]))


main()
