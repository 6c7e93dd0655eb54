# SPDX-License-Identifier: GPL-3.0-or-later
"""terms.py SOURCE_DIR: messages use the terms of the field, not words of our own: tests/docs/terms.tsv lists both. Names of
options are skipped, as they stay what they are."""
import ast
import pathlib
import re
import sys

TEXT = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[\d+\])?|msgctxt) (".*")$')
OPTION = re.compile(r"--[a-z0-9-]+|“[a-z0-9-]+”")


def read_terms(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    return [(re.compile(line.split("\t")[0], re.IGNORECASE), line.split("\t")[1]) for line in lines if line[:1] not in ("", "#")]


def read_messages(path):
    """The English messages of a catalogue that has all of them."""
    messages, key = [], None
    for line in path.read_text(encoding="utf-8").split("\n"):
        found = TEXT.match(line)
        key = found[1] if found else key if line.startswith('"') else None
        if key in ("msgid", "msgid_plural"):
            text = ast.literal_eval(found[2] if found else line)
            messages = messages + [text] if found else messages[:-1] + [messages[-1] + text]
    return messages


def main(root):
    terms, messages = read_terms(root / "tests/docs/terms.tsv"), read_messages(root / "po/de.po")
    faults = [f"{term}: {message}" for message in messages for pattern, term in terms if pattern.search(OPTION.sub("", message))]
    print(*faults, f"{len(messages)} messages, {len(terms)} terms, {len(faults)} to put otherwise", sep="\n")
    return int(faults != [] or len(messages) < 1000 or len(terms) < 20 or not terms[0][0].search("signal to noise"))


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
