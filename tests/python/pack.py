#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""pack.py SOURCE_DIR VERSION: data/python/make_wheel.py, of a tree with a script for the program: the same files give the same
bytes, the list of contents is right, pip installs it, and the package finds the program in a folder and in an environment."""
import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

SOURCE, VERSION = Path(sys.argv[1]).resolve(), sys.argv[2]
NAME = f"vernier-{VERSION}-py3-none-manylinux_2_28_x86_64.whl"
FILES = {"tree/bin/vernier-cli": "#!/bin/sh\necho started\n", "tree/share/man/man1/vernier-cli.1": ".TH",
         "tree/share/locale/de/LC_MESSAGES/vernier.mo": "de", "tree/share/vernier/demo/demo.onnx": "demo",
         "tree/share/doc/vernier/vernier.spdx.json": "{}", "stage/copyright/zlib": "zlib", "stage/versions": "zlib 1\n"}


def make(folder, epoch):
    """The wheel, of the same files under other names and in another order."""
    for name in sorted(FILES, reverse=epoch % 2):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILES[name])
        os.utime(path, (epoch, epoch))
    (folder / "out").mkdir()
    printed = subprocess.run([sys.executable, SOURCE / "data/python/make_wheel.py", SOURCE, folder / "tree", folder / "stage",
                              VERSION, "2_28", folder / "out"], check=True, capture_output=True, text=True,
                             env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}).stdout.strip()
    assert printed == str(folder / "out" / NAME), printed
    return Path(printed)


def check_record(path):
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    record = f"vernier-{VERSION}.dist-info/RECORD"
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[record].decode()))}
    assert rows.keys() == files.keys() and len(rows) > 12, rows.keys() ^ files.keys()
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert rows[name] == (["", ""] if name == record else [f"sha256={digest}", str(len(data))]), name
    package = {path.relative_to(SOURCE / "src/python").as_posix() for path in (SOURCE / "src/python/vernier").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}
    assert package <= files.keys(), package - files.keys()
    text = files[f"vernier-{VERSION}.dist-info/METADATA"].decode()
    assert f"\nVersion: {VERSION}\n" in text and "@" not in text.split("\n\n")[0] and "\n\n# Vernier" in text, text[:2000]


def check_found(python, path, where):
    """The package starts the program that came with it."""
    done = subprocess.run([python, "-c", "import subprocess; from vernier._program import find_program as find;"
                           "print(find(), subprocess.run([find()], capture_output=True, text=True).stdout.strip())"],
                          check=True, capture_output=True, text=True,
                          env={**{k: v for k, v in os.environ.items() if k != "VERNIER_CLI"}, "PYTHONPATH": str(path)})
    assert done.stdout.split() == [str(where), "started"], done.stdout


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        one, other = make(folder / "one", 1700000001), make(folder / "other", 1800000002)
        assert one.read_bytes() == other.read_bytes()
        check_record(one)
        pip, install = [sys.executable, "-m", "pip"], ["install", "-q", "--no-index", "--no-deps", "--root-user-action=ignore"]
        subprocess.run([*pip, *install, "--target", folder / "target", one], check=True)
        # Only what finds the program is looked at: the rest needs numpy.
        (folder / "target/vernier/__init__.py").write_text("")
        check_found(sys.executable, folder / "target", folder / "target/bin/vernier-cli")
        venv.create(folder / "venv", symlinks=True)
        python = folder / "venv/bin/python"
        subprocess.run([*pip, "--python", python, *install, one], check=True)
        packages = next((folder / "venv/lib").glob("python3*/site-packages"))
        (packages / "vernier/__init__.py").write_text("")
        check_found(python, packages, folder / "venv/bin/vernier-cli")
        assert (folder / "venv/share/man/man1/vernier-cli.1").is_file()
    print("one wheel, packed twice, installed twice")


if __name__ == "__main__":
    main()
