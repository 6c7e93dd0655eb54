# SPDX-License-Identifier: GPL-3.0-or-later
"""catalogues.py SOURCE_DIR: the catalogue of every language in po/LINGUAS is sound, and translates all that the window shows of
its own and of the tables: settings, presets, range methods, passes, reasons of error with their sentences, cures, steps of
improving, what is kept of answers, reports, verdicts, what is said of samples. Other messages of the core may still be English,
but in the languages that are complete."""
import fnmatch
import pathlib
import shutil
import subprocess
import sys
import tempfile

# What must be translated, of the files in po/POTFILES.
WINDOW = ("src/app/*", "ui/*", "data/*", "*/vn-presets.def", "*/vn-targets.def", "*/vn-setting*.def", "src/calibrate/*range-*.c",
          "src/rewrite/*pass-*.c",
          "*/vn-reasons.def", "*/vn-tasks.def", "src/result/vn-task.c", "*/vn-curve-costs.def", "src/result/vn-curve.c",
          "src/draw/picture/picture-*.c", "src/report/*", "*/vn-cures.def", "*/vn-improve-steps.def",
          "src/analyze/diagnose/diagnose-*.c",
          "src/analyze/diagnose/vn-verdict.c", "src/analyze/data/*", "src/quantize/resolve/resolve-reason.c",
          "*/vn-group-kinds.def", "src/draw/scene/groups-*.c", "src/draw/scene/vn-fold.c",
          "*/vn-overlays.def", "src/draw/vn-overlay*.c", "src/draw/scene/vn-overlay*.c", "src/result/vn-node-query.c")
# Languages that have all of it, the command line, too.
COMPLETE = ("de",)
# Words for what the catalogue of a language calls otherwise: one term, one word. Samples are Beispiele.
OTHER_WORDS = {"de": ("Stichprobe",)}
KEYWORDS = ("_", "N_", "C_:1c,2", "NC_:1c,2", "ngettext:1,2", "g_dngettext:2,3")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8", **options)


def find_missing(catalogue, wanted, folder):
    """The texts of a template that a catalogue does not translate, or only by a guess."""
    merged = pathlib.Path(folder, catalogue.name)
    run("msgmerge", "-q", "--no-fuzzy-matching", "-o", merged, catalogue, wanted, check=True)
    lists = [run("msgattrib", kind, "--no-obsolete", "--no-wrap", merged, check=True).stdout
             for kind in ("--untranslated", "--only-fuzzy")]
    return [entry.strip() for entry in "\n\n".join(lists).split("\n\n") if "\n#: " in "\n" + entry]


def count_unused(catalogue, whole, folder):
    """Texts of a catalogue that the program does not have any more."""
    merged = pathlib.Path(folder, "unused-" + catalogue.name)
    run("msgmerge", "-q", "--no-fuzzy-matching", "-o", merged, catalogue, whole, check=True)
    return merged.read_text(encoding="utf-8").count("\n#~ msgid ")


def find_faults(catalogue):
    """What msgfmt says of a catalogue: formats, plurals and mnemonics that are not those of the text, a heading that is not
    whole."""
    checked = run("msgfmt", "-c", "--check-accelerators=_", "-o", "/dev/null", catalogue)
    return checked.stderr.strip().split("\n") if checked.stderr else ["msgfmt failed"] * (checked.returncode != 0)


def find_other_words(catalogue):
    lines = catalogue.read_text(encoding="utf-8").split("\n")
    return [f"{catalogue.name}:{i}: {word}" for i, line in enumerate(lines, 1) for word in OTHER_WORDS.get(catalogue.stem, ())
            if word in line and not line.startswith(("#", "msgid"))]


def main(root):
    if not all(map(shutil.which, ("xgettext", "msgmerge", "msgattrib", "msgfmt"))):
        print("gettext is not installed")
        return 77
    po = root / "po"
    languages = [line for line in (po / "LINGUAS").read_text(encoding="utf-8").split("\n") if line[:1] not in ("", "#")]
    listed = (po / "POTFILES").read_text(encoding="utf-8").split("\n")
    every = [name for name in listed if name[:1] not in ("", "#")]
    names = [name for name in every if any(fnmatch.fnmatch(name, pattern) for pattern in WINDOW)]
    failed = languages == [] or {language + ".po" for language in languages} != {path.name for path in po.glob("*.po")}
    if failed:
        print("po/LINGUAS does not list the catalogues in po, each and no other:", *languages)
    with tempfile.TemporaryDirectory() as folder:
        wanted, whole = pathlib.Path(folder, "wanted.pot"), pathlib.Path(folder, "whole.pot")
        for template, files in ((wanted, names), (whole, every)):
            run("xgettext", "--from-code=UTF-8", "-o", template, *("--keyword=" + word for word in KEYWORDS), *files, cwd=root,
                check=True)
        n_wanted = wanted.read_text(encoding="utf-8").count("\nmsgid ") - 1
        print(f"{n_wanted} texts in {len(names)} files")
        for catalogue in sorted(po.glob("*.po")):
            faults = find_faults(catalogue) + find_other_words(catalogue)
            missing = find_missing(catalogue, whole if catalogue.stem in COMPLETE else wanted, folder)
            unused = count_unused(catalogue, whole, folder)
            print(*faults, *missing, f"{catalogue.stem}: {len(missing)} not translated, {len(faults)} faults, {unused} unused",
                  sep="\n")
            failed = failed or faults != [] or missing != [] or unused > 0
    return int(failed or n_wanted < 500)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
