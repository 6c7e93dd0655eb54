#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""readme.py CLI SOURCE_DIR [--generate]: README.md is short and true.

It has at most 8 KB, its links lead somewhere, its table of what is supported is what the tables say (--generate writes it), and
the command in it prints what stands below it, up to the digits of the numbers.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

LARGEST = 8192
BEGIN, END = '<!-- supported: tests/docs/readme.py --generate -->\n', '<!-- end -->'


def rows(cli, topic):
    done = subprocess.run([cli, 'list', topic, '--json'], capture_output=True, text=True, check=True,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', 'LANGUAGE': ''})
    return json.loads(done.stdout)[topic]


def names(cli, topic):
    return ', '.join(f'`{row["id"]}`' for row in rows(cli, topic))


def about(n):
    """Rounded down, so that README.md need not change with each."""
    return f'over {n // 10 * 10}' if n > 10 else 'some'


def make_table(cli):
    domains = {}
    for row in rows(cli, 'operators'):
        domains.setdefault(row['group'], set()).add(row['id'])
    operators = ', '.join(f'{about(len(ids))} of {domain}' for domain,
                          ids in sorted(domains.items(), key=lambda one: -len(one[1])))
    lines = [('Operators that are run', operators), ('Formats', names(cli, 'formats')), ('Types', names(cli, 'types')),
             ('Presets', names(cli, 'presets')), ('Range methods', names(cli, 'methods')),
             ('Settings', f'{about(len(rows(cli, "settings")))}, and {about(len(rows(cli, "passes")))} passes of preparation')]
    return '| | |\n|---|---|\n' + ''.join(f'| {name} | {text} |\n' for name, text in lines)


def check_links(text, source):
    links = re.findall(r'\]\(([^)]+)\)', text)
    for link in links:
        assert '://' in link or os.path.exists(os.path.join(source, link)), f'no {link}'
    return len(links)


def without_digits(text):
    return re.sub(r'\s+', ' ', re.sub(r'\d+(\.\d+)?', '#', text)).strip()


def check_example(cli, text, source):
    """The block that begins with "$ vernier-cli"."""
    block = re.search(r'```\n\$ (vernier-cli.*?)\n```', text, re.S)[1]
    lines = block.replace('\\\n', ' ').split('\n')
    arguments = shlex.split(lines[0])
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(source, 'data'), os.path.join(folder, 'data'))
        done = subprocess.run([cli, *arguments[1:]], capture_output=True, text=True, cwd=folder,
                              env={**os.environ, 'LC_ALL': 'C.UTF-8'})
        assert done.returncode == 0, done.stderr
        said, shown = without_digits(done.stdout), without_digits('\n'.join(lines[1:]))
        # Which of the weakest tensors comes first depends on the processor.
        said, shown = (one.split('Weakest')[0] for one in (said, shown))
        assert said == shown, f'README.md shows\n{shown}\nthe program says\n{said}'
        assert os.path.exists(os.path.join(folder, 'report', 'report.md'))


def main():
    cli, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    path = os.path.join(source, 'README.md')
    with open(path, encoding='utf-8') as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    table, tail = rest.split(END)
    if '--generate' in sys.argv:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(head + BEGIN + make_table(cli) + END + tail)
        return
    assert table == make_table(cli), 'README.md does not say what the tables say: run this with --generate'
    size = os.path.getsize(path)
    assert size <= LARGEST, f'README.md has {size} bytes; move what is not read first to data/help'
    n = check_links(text, source)
    assert n > 5
    check_example(cli, text, source)
    print(f'{size} bytes, {n} links')


main()
