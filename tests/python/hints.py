#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""hints.py SOURCE_DIR: the type hints of the Python package pass mypy --strict, and each public function says what it takes."""
import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import oracle    # noqa: E402

oracle.use_oracle_python()


def list_undocumented(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    public = [node for owner in [tree, *tree.body] if isinstance(owner, (ast.Module, ast.ClassDef)) for node in owner.body]
    return [f"{path.name}: {node.name}" for node in public if isinstance(node, kinds) and not node.name.startswith("_")
            and ast.get_docstring(node) is None and node.name not in ("get_next", "listen", "tell", "close")]


package = SOURCE / "src" / "python" / "vernier"
missing = [line for path in sorted(package.rglob("*.py")) for line in list_undocumented(path)]
print(*missing, sep="\n")
with tempfile.TemporaryDirectory() as cache:
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, "-p", "vernier"], cwd=package.parent,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"), capture_output=True, text=True)
print(done.stdout, done.stderr)
if "No module named mypy" in done.stderr:
    sys.exit(77)
sys.exit(bool(missing) or done.returncode)
