#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""contributing.py SOURCE_DIR: each path that CONTRIBUTING.md names exists, and it is short enough to be read: at most 6 KB."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
paths = re.findall(r"`(?:python3 )?((?:src|ui|po|tests|data)/[^\s`*]+)", text)
missing = [path for path in paths if not (root / path).exists()]
size = len(text.encode())
print(*missing, f"{len(paths)} paths, {len(missing)} missing, {size} bytes", sep="\n")
sys.exit(int(missing != [] or len(paths) < 10 or size > 6144))
