#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make-help.py CLI VERSION OUT_DIR PAGE.md...: man pages and HTML from the pages and the program's tables.

Writes NAME.SECTION and NAME.html for each page "# NAME(SECTION): summary", and index.html, which lists them. A comment
<!-- table: WORDS --> stands for what Tables.expand() makes of the words.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from help_tables import Tables
from help_text import print_html, print_roff, read_blocks

SECTIONS = {'1': 'Commands', '5': 'Files', '7': 'Background'}


class Page:
    """One page: its name, the section of the manual, a line about it, and its text as blocks."""

    def __init__(self, path, tables):
        with open(path, encoding='utf-8') as source:
            first, text = source.read().split('\n', 1)
        match = re.fullmatch(r'# ([\w-]+)\((\d)\): (.+)', first)
        if not match:
            sys.exit(f'{path}: the first line must be "# NAME(SECTION): summary"')
        self.name, self.section, self.summary = match.groups()
        text = re.sub(r'<!-- table: (.*?) -->', lambda found: tables.expand(found[1]), text)
        self.blocks = read_blocks(text)


class Index:
    """The page that lists the others."""

    name, section, summary = 'index', '', 'Vernier Help'

    def __init__(self, pages):
        text = ''
        for section, title in SECTIONS.items():
            text += f'\n## {title}\n\n' + ''.join(
                f'- [{page.name}]({page.name}): {page.summary}\n' for page in pages if page.section == section)
        self.blocks = read_blocks(text)


def write(folder, name, text):
    with open(os.path.join(folder, name), 'w', encoding='utf-8') as out:
        out.write(text)


def main():
    cli, version, folder, *paths = sys.argv[1:]
    tables = Tables(cli)
    pages = [Page(path, tables) for path in paths]
    for page in pages:
        write(folder, f'{page.name}.{page.section}', print_roff(page, version))
        write(folder, f'{page.name}.html', print_html(page, version))
    write(folder, 'index.html', print_html(Index(pages), version))


main()
