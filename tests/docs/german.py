# SPDX-License-Identifier: GPL-3.0-or-later
"""german.py SOURCE_DIR: po/de.po is sound, and translates all that the window shows of its own and of the tables: settings,
presets, range methods, passes, reasons of error with their sentences, cures, steps of improving, what is kept of answers. Other messages of the core may still
be English."""
import fnmatch
import pathlib
import shutil
import subprocess
import sys
import tempfile

# What must be German, of the files in po/POTFILES.
WINDOW = ("src/app/*", "ui/*", "data/*", "*/vn-presets.def", "*/vn-setting*.def", "src/calibrate/*range-*.c", "src/rewrite/*pass-*.c",
          "*/vn-reasons.def", "*/vn-tasks.def", "src/result/vn-task.c", "*/vn-curve-costs.def", "src/result/vn-curve.c", "src/draw/picture-curve.c", "*/vn-cures.def", "*/vn-improve-steps.def", "src/analyze/diagnose/diagnose-*.c",
          "*/vn-group-kinds.def", "src/draw/groups-*.c", "src/draw/vn-fold.c")
KEYWORDS = ("_", "N_", "C_:1c,2", "NC_:1c,2", "ngettext:1,2", "g_dngettext:2,3")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8", **options)


def main(root):
    if not all(map(shutil.which, ("xgettext", "msgmerge", "msgattrib", "msgfmt"))):
        print("gettext is not installed")
        return 77
    german = root / "po" / "de.po"
    listed = (root / "po" / "POTFILES").read_text(encoding="utf-8").split("\n")
    names = [name for name in listed if name[:1] not in ("", "#") and any(fnmatch.fnmatch(name, pattern) for pattern in WINDOW)]
    with tempfile.TemporaryDirectory() as folder:
        wanted, merged = pathlib.Path(folder, "wanted.pot"), pathlib.Path(folder, "merged.po")
        run("xgettext", "--from-code=UTF-8", "-o", wanted, *("--keyword=" + word for word in KEYWORDS), *names, cwd=root, check=True)
        run("msgmerge", "-q", "--no-fuzzy-matching", "-o", merged, german, wanted, check=True)
        missing = run("msgattrib", "--untranslated", "--no-obsolete", "--no-wrap", merged, check=True).stdout
        n_wanted = wanted.read_text(encoding="utf-8").count("\nmsgid ")
    checked = run("msgfmt", "-c", "-o", "/dev/null", german)
    texts = [line for line in missing.split("\n") if line.startswith(("#: ", "msgid ", '"'))]
    print(checked.stderr + "\n".join(["no German for:"] + texts if texts else []))
    print(f"{n_wanted} texts in {len(names)} files, {missing.count(chr(10) + 'msgid ')} without German")
    return int(bool(texts) or checked.returncode != 0 or checked.stderr != "" or n_wanted < 500)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
