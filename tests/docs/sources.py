# SPDX-License-Identifier: GPL-3.0-or-later
"""sources.py SOURCE_DIR: what every source file has, as far as that can be checked by a program.

No tabs, no blanks at the end of a line and no line of more than 130 columns; no file in C of more than 650 lines; the licence
in the first two lines; in src, the purpose of the file before anything else, and static functions that start with a word of the
file's name, so that a stack trace reads; public functions that check what they are called on (not in tensor and ops, which are
called for every number) and use nothing in front of that; one node, not 1 nodes; handlers that are disconnected only from what
is held, as what has to be found again may be gone; code that asks for traits of a format or a target, never for one by its name;
and names of tests in C: a test program is test-WHAT.c, a program for other tests WHAT-run.c, and nothing else is so."""
import pathlib
import re
import sys
import tempfile

FOLDERS = ("src", "tests", "ui", "data")
ENDINGS = (".c", ".h", ".py", ".sh", ".ui", ".def", ".css", ".cmd", ".build")
ALSO = ("meson.build", "meson_options.txt", "run.sh")    # beside the folders
LICENSED = (".c", ".h", ".py", ".sh")
N_COLUMNS = 130
N_LINES = 650    # of a file in C
STATIC = re.compile(r"^static (?:\w+ )*\w[\w ]*[ *]*\n(\w+) \(", re.MULTILINE)
PUBLIC = re.compile(r"(/\*(?:\*|< private >)(?:(?!\*/).)*\*/\n)?^(?!static |typedef )\w[\w *]*\n"
                    r"(vn_\w+) \((const )?(\w+) +\*(\w+)\b[^;{]*?\)\n\{\n(.*?)^\}$",
                    re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"\b(vn_\w+) +\(")
RESULTS = ("int", "guint", "gsize", "gint64", "guint64", "float", "double", "gboolean", "char", "GError", "void")
UNCHECKED_LAYERS = ("tensor", "ops")    # called for every number
TELLING_LAYERS = ("report", "cli", "app")
OPEN_DOORS = (
    # called for every field of a file
    "vn_buffer_reserve", "vn_buffer_add", "vn_wire_next", "vn_wire_begin", "vn_wire_end", "vn_wire_int", "vn_wire_float",
    "vn_wire_bytes", "vn_wire_string", "vn_wire_gbytes", "vn_wire_blob", "vn_wire_ints_packed", "vn_wire_encoded",
    "vn_quant_store_integer", "vn_rounding_nearest", "vn_weight_layer_get_offset",    # for every number of a tensor
    "vn_range_sums_get_kl",      # for every pair of ends that is tried
    "vn_ranks_give_up")          # does not return
FORGOTTEN = re.compile(r"g_signal_handlers_disconnect_by_\w+ \((?!self->)([^;]*);")
PREAMBLE = ("#", "G_BEGIN_DECLS")
TRANSLATED = re.compile(r"^ *translatable=\"yes\">[^<>]+</property>$")    # in .ui a text is one line


def opens_with_purpose(path, lines):
    """In a .c file the comment follows the licence; in a header, includes may stand between."""
    for line in lines[1:]:
        if line.startswith("/*"):
            return path.suffix == ".h" or not line.startswith("/**")
        if line.strip() and not (path.suffix == ".h" and line.startswith(PREAMBLE)):
            return False
    return True


def find_strangers(path, text):
    """Static functions whose name does not tell where they are. Where both start with “vn”, the next word tells it."""
    words = re.sub(r"^(vn|op|pass)-", "", path.stem).split("-")
    return [name for name in STATIC.findall(text) if re.sub(r"^_?vn_", "", name).split("_")[0] not in words]


def find_open_doors(text, public, is_method_only=False):
    """Functions in headers for all that take their first argument as it comes, if it is a pointer to something that must be
    there, or only those that call it self: those that free take NULL, and so do others that say so; numbers, text and errors that
    are not const are results."""
    for comment, name, const, kind, argument, body in PUBLIC.findall(text):
        is_result = not const and kind in RESULTS
        is_optional = re.search(rf"@[^:\n]*\b{argument}\b[^:\n]*: \((?:nullable|out|inout)", comment)
        is_checked = re.search(rf"g_return_(?:val_)?if_fail \([^;]*\b{argument}\b", body)
        if name not in public or is_result or is_optional or is_checked or name.endswith(("_free", "_unref")):
            continue
        if argument == "self" or not is_method_only:
            yield name


FUNCTION = re.compile(r"^(?!static |typedef )\w[\w *]*\n(\w+) \(([^;{]*?)\)\n\{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
CHECK = re.compile(r"\bg_return_(?:val_)?if_fail \(((?:[^;])*)\);")
# Where ARGUMENT stands for the name of an argument: what may stand in front of its check, and what reads it or hands it on.
HARMLESS = (r"\b\w+_get_instance_private \(ARGUMENT\)|\bsizeof \(?\*?ARGUMENT\b[^;,)]*|"
            r"\bARGUMENT [!=]= NULL \?[^:;]*:|\bARGUMENT [!=]= NULL")
USE = (r"(?<![\w.>])\*?ARGUMENT(?:->|\[)|(?<=[(,=*!]) *\*ARGUMENT\b|"
       r"\b[a-z]\w+ \((?:[^()]|\([^()]*\))*?(?<![\w.>&])ARGUMENT(?=[,)])")


def find_early_uses(text):
    """Public functions that read what they are given, or hand it on, in front of the check that it may be read: (name,
    argument)."""
    for name, parameters, body in FUNCTION.findall(text):
        pointers = re.findall(r"\*+\s*(\w+)(?=\s*(?:,|$|\[|G_GNUC))", parameters) + re.findall(r"\bgpointer +(\w+)", parameters)
        for argument in pointers:
            checks = [c for c in CHECK.finditer(body)
                      if re.search(rf"\b{argument} != NULL|\b(?:G|GTK|GDK|VN|ADW)_IS_\w+ \({argument}\)", c.group(1))]
            before = body[:checks[0].start()] if checks else ""
            before = re.sub(HARMLESS.replace("ARGUMENT", argument), "", before)
            if re.search(USE.replace("ARGUMENT", argument), before):
                yield name, argument


THINGS = "samples|nodes|tensors|weights|threads|runs|values|inputs|outputs|layers|files|bytes"
COUNTED = re.compile(rf"\b_ ?\(\"((?!All )[^\"]*%(?:z|ll?)?[ud] (?:{THINGS})\b[^\"]*)\"")


def find_counts(text):
    """Messages with a number of things, which may be one, that are not by ngettext()."""
    return COUNTED.findall(text)


def is_named_by_rule(path, lines):
    """Of a file in tests/unit or tests/widgets."""
    is_program = any(line.startswith("main (") for line in lines)
    return is_program == (path.name.startswith("test-") or path.stem.endswith("-run"))


def find_formats(text, formats):
    """Formats that code names: VN_FORMAT_QDQ, or “qdq” in a message."""
    return [name for name in formats if re.search(rf"\bVN_FORMAT_{name.upper()}\b|\"[^\"\n]*formats? [^\"\n]*“{name}”", text)]


def find_targets(text, targets):
    return [name for name in re.findall(r"\"([\w-]+)\"", text) if name in targets]


def find_faults(path, has_purpose, is_test=False):
    lines = path.read_text(encoding="utf-8").split("\n")
    faults = [f"{path}:{number}: a tab" for number, line in enumerate(lines, 1) if "\t" in line]
    if path.suffix in (".c", ".h") and len(lines) - 1 > N_LINES:
        faults.append(f"{path}: {len(lines) - 1} lines, not {N_LINES} at most")
    faults += [f"{path}:{number}: blanks at the end" for number, line in enumerate(lines, 1) if line != line.rstrip()]
    faults += [f"{path}:{number}: {len(line)} columns, not {N_COLUMNS} at most" for number, line in enumerate(lines, 1)
               if len(line) > N_COLUMNS and not (path.suffix == ".ui" and TRANSLATED.search(line))]
    if lines[-1] != "":
        faults.append(f"{path}: no newline at the end")
    if path.suffix in LICENSED and not any("SPDX-License-Identifier: GPL-3.0-or-later" in line for line in lines[:2]):
        faults.append(f"{path}:1: no SPDX line")
    if has_purpose and path.suffix in (".c", ".h") and not opens_with_purpose(path, lines):
        faults.append(f"{path}:2: does not open with its purpose, in a comment of one to three lines")
    if has_purpose and path.suffix == ".c":
        faults += [f"{path}: {name}() does not start with a word of the file's name"
                   for name in find_strangers(path, "\n".join(lines))]
    if is_test and path.suffix == ".c" and not is_named_by_rule(path, lines):
        faults.append(f"{path}: a program is test-WHAT.c or WHAT-run.c, and what programs share is neither")
    return faults


def check_itself():
    spdx = "/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
    cases = [("a.c", spdx + "/* It does. */\n#include <b.h>\n", 0), ("b.c", spdx + "#include <b.h>\n\n/* A thing. */\n", 1),
             ("c.c", "/* It does. */\nint a;\n", 2), ("d.c", spdx + "/* It does. */\n\tint a;  \n", 2),
             ("e.h", spdx + "#pragma once\n\n#include <b.h>\n\n/** VnA: it is. */\n", 0),
             ("f.h", spdx + "#pragma once\n\nint a;\n", 1), ("g.c", spdx + "/** vn_a: */\n", 1), ("h.py", "import os", 2),
             ("vn-i.c", spdx + "/* It does. */\nstatic int\ni_go (void)\n\nstatic char *\ngo (void)\n", 1),
             ("meson.build", "a = " + "b" * 126 + "\n", 0), ("meson.build", "a = " + "ü" * 127 + "\n", 1),
             ("j.sh", "# SPDX-License-Identifier: GPL-3.0-or-later\n# " + "b" * 129 + "\n", 1),
             ("k.ui", " translatable=\"yes\">" + "b" * 130 + "</property>\n", 0),
             ("k.ui", " <property name=\"label\">" + "b" * 130 + "</property>\n", 1)]
    with tempfile.TemporaryDirectory() as folder:
        for name, text, n_faults in cases:
            path = pathlib.Path(folder) / name
            path.write_text(text, encoding="utf-8")
            found = find_faults(path, True)
            if len(found) != n_faults:
                sys.exit(f"the test does not find what it is for: {name}: {found}")
    program = ["int", "main (void)"]
    if [is_named_by_rule(pathlib.Path(name), lines) for name in ("test-a.c", "a.c") for lines in (program, [])] != \
       [True, False, False, True]:
        sys.exit("the test does not know names of tests")
    method = "%sint\nvn_a_get (VnA *a,\n          int  i)\n{\n%s  return a->b;\n}\n"
    cases = [("", "", 1), ("", "  g_return_val_if_fail (i > 0, 0);\n\n", 1),
             ("", "  g_return_val_if_fail (a != NULL && i > 0, 0);\n\n", 0),
             ("/**\n * vn_a_get:\n * @a: (nullable)\n */\n", "", 0), ("/**\n * vn_a_get:\n * @i: (nullable)\n */\n", "", 1)]
    for comment, check, n_faults in cases:
        if len(list(find_open_doors(method % (comment, check), {"vn_a_get"}))) != n_faults:
            sys.exit("the test does not know functions that check nothing")
    early = ("int\nvn_a_get (VnA        *a,\n          const VnB  *b)\n{\n%s\n\n"
             "  g_return_val_if_fail (VN_IS_A (a) && b != NULL, 0);\n  return b->c;\n}\n")
    cases = [("  int c;", 0), ("  int c = b->c;", 1), ("  int c = vn_b_get (b, 1);", 1), ("  int c = b != NULL ? b->c : 0;", 0),
             ("  gsize n = sizeof *b;", 0), ("  VnA *c = VN_A (a);", 0), ("  char *c = fun (1, get (a), b->c);", 2),
             ("  int c = *b;", 1), ("  int c = x->b[1];", 0)]
    for declaration, n_faults in cases:
        if len(list(find_early_uses(early % declaration))) != n_faults:
            sys.exit(f"the test does not know what is used before it is checked: {declaration}")
    if find_counts('_("%s: %u nodes\n"), ngettext ("%u node", "%u nodes", n), _("All %u samples")') != ["%s: %u nodes\n"]:
        sys.exit("the test does not know messages with numbers of things")


check_itself()
root = pathlib.Path(sys.argv[1])
formats = re.findall(r"^VN_FORMAT \(\w+, +(\w+)", (root / "src/recipe/vn-formats.def").read_text(encoding="utf-8"), re.MULTILINE)
if len(formats) < 5 or find_formats("a == VN_FORMAT_QDQ, “qdq”, VN_FORMAT_TRAIT (has_pairs), _(\"only the formats “bf16”\")",
                                    formats) != ["qdq", "bf16"]:
    sys.exit("the test does not find what it is for: formats")
targets = set(re.findall(r"^VN_TARGET \(\"([\w-]+)\"", (root / "src/recipe/vn-targets.def").read_text(encoding="utf-8"),
                         re.MULTILINE))
if len(targets) < 20 or find_targets("a (\"qnn-htp\", \"qnn\")", targets) != ["qnn-htp"]:
    sys.exit("the test does not find what it is for: targets")
files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in ENDINGS]
files += [root / name for name in ALSO if (root / name).exists()]
faults = [fault for path in files
          for fault in find_faults(path, path.is_relative_to(root / "src"),
                                   path.is_relative_to(root / "tests" / "unit")
                                   or path.is_relative_to(root / "tests" / "widgets"))]
checked = [path for path in files if path.is_relative_to(root / "src")
           and path.relative_to(root / "src").parts[0] not in UNCHECKED_LAYERS]
public = {name for path in checked if path.suffix == ".h" and "private" not in path.name
          for name in DECLARED.findall(path.read_text(encoding="utf-8"))}
open_doors = [(path, name) for path in checked if path.suffix == ".c"
              for name in find_open_doors(path.read_text(encoding="utf-8"), public, path.is_relative_to(root / "src" / "app"))]
faults += [f"{path}: {name}() does not check what it is called on" for path, name in open_doors if name not in OPEN_DOORS]
faults += [f"{name}() is in the list of functions that need not check, and checks or is not there" for name in OPEN_DOORS
           if name not in (found for _, found in open_doors)]
if FORGOTTEN.findall("g_signal_handlers_disconnect_by_data (self->job, self); "
                     "g_signal_handlers_disconnect_by_func (item, f, self);") != ["item, f, self)"]:
    sys.exit("the test does not find what it is for: handlers")
faults += [f"{path}: disconnects from what it does not hold ({found}: use a GSignalGroup" for path in checked
           if path.suffix == ".c"
           for found in FORGOTTEN.findall(path.read_text(encoding="utf-8"))]
faults += [f"{path}: needs ngettext(): {message}" for path in checked if path.suffix == ".c"
           and path.relative_to(root / "src").parts[0] in TELLING_LAYERS
           for message in find_counts(path.read_text(encoding="utf-8"))]
faults += [f"{path}: {name}() uses {argument} in front of its check" for path in checked if path.suffix == ".c"
           for name, argument in find_early_uses(path.read_text(encoding="utf-8"))]
faults += [f"{path}: names the format {name}" for path in (root / "src").rglob("*.[ch]")
           for name in find_formats(path.read_text(encoding="utf-8"), formats)]
faults += [f"{path}: names the target {name}" for path in (root / "src").rglob("*.[ch]")
           for name in find_targets(path.read_text(encoding="utf-8"), targets)]
print("\n".join(faults))
print(f"{len(files)} files, {len(faults)} faults")
sys.exit(bool(faults) or len(files) < 100)
