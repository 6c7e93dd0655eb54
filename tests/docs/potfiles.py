# SPDX-License-Identifier: GPL-3.0-or-later
"""potfiles.py SOURCE_DIR [--write]: po/POTFILES lists, sorted, every file with text to translate and no other: what is missing
there cannot be translated, and nobody notices. With --write it is made so."""
import pathlib
import re
import sys
import tempfile

FOLDERS = ("src", "ui", "data")
CALL = re.compile(r"(?<![A-Za-z0-9_])(?:_|N_|C_|NC_|Q_|ngettext|g_dngettext|g_dpgettext2?|gettext)"
                  r" ?\(\s*(?:GETTEXT_PACKAGE,\s*)?\"")
QUOTED_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|^[ \t]*#[ \t]*define (?:_|N_|C_|NC_|Q_) ?\(.*?$', re.S | re.M)
MARKUP = re.compile(r'translatable="(?:yes|true)"')


def has_text(path):
    """Whether there is something to translate in a source file or a description of the window."""
    if path.suffix in (".c", ".h", ".def"):
        text = QUOTED_OR_COMMENT.sub(lambda match: match[1] or " ", path.read_text(encoding="utf-8"))
        return CALL.search(text) is not None
    if path.suffix == ".ui":
        return MARKUP.search(path.read_text(encoding="utf-8")) is not None
    return path.name.endswith((".desktop.in", ".metainfo.xml.in"))


def find_files(root):
    return {str(path.relative_to(root)) for folder in FOLDERS for path in (root / folder).rglob("*")
            if path.is_file() and has_text(path)}


def find_faults(root):
    lines = (root / "po" / "POTFILES").read_text(encoding="utf-8").split("\n")
    listed = [line for line in lines if line and not line.startswith("#")]
    found = find_files(root)
    faults = [f"{name} has text to translate, but is not in po/POTFILES" for name in sorted(found - set(listed))]
    for name in sorted(set(listed) - found):
        faults.append(f"{name} is in po/POTFILES, but " +
                      ("has nothing to translate" if (root / name).exists() else "does not exist"))
    if listed != sorted(set(listed)):
        faults.append("po/POTFILES is not sorted, or lists a file twice")
    return faults, len(found)


def check_itself():
    files = {"src/a.c": '/* _("no") */\nf ("_(\\"no\\")");\n', "src/b.c": 'f (_("yes"));\n', "src/c.def": 'X (N_("yes"))\n',
             "src/d.h": '#define _(text) gettext (text)\n', "ui/e.ui": '<p translatable="yes">yes</p>\n', "ui/f.ui": "<p/>\n",
             "data/g.desktop.in": "", "src/h.c": 'f (ngettext (\n  "yes", "yes", 2));\n',
             "po/POTFILES": "data/g.desktop.in\nsrc/b.c\nsrc/a.c\nui/i.ui\n"}
    wanted = {"src/c.def has", "src/h.c has", "ui/e.ui has", "src/a.c is", "ui/i.ui is", "po/POTFILES is"}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = {" ".join(fault.split()[:2]) for fault in find_faults(root)[0]}
        if found != wanted:
            sys.exit(f"the test does not find what it is for: {found ^ wanted}")


check_itself()
source = pathlib.Path(sys.argv[1])
if sys.argv[2:] == ["--write"]:
    (source / "po" / "POTFILES").write_text("# Files with translated strings; tests/docs/potfiles.py . --write\n" +
                                            "\n".join(sorted(find_files(source))) + "\n", encoding="utf-8")
faults, n_files = find_faults(source)
print("\n".join(faults))
print(f"{n_files} files with text, {len(faults)} faults (--write mends them)" if faults else f"{n_files} files with text")
sys.exit(bool(faults) or n_files == 0)
