#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""manual.py CLI HELP_DIR SOURCE_DIR: the manual says all that the tables and the files of the program hold.

Every command and option, setting, rule, preset, method, format, type, pass, operator and foreign word is in the page about
it; so is every key of a recipe, a project and a report. Links lead somewhere. man --warnings and mandoc -T lint have nothing
to say, where they are installed.
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SECTIONS = {'settings': 'vernier-recipe.5', 'rules': 'vernier-recipe.5', 'presets': 'vernier-presets.7',
            'targets': 'vernier-targets.7',
            'methods': 'vernier-methods.7', 'formats': 'vernier-formats.7', 'types': 'vernier-formats.7',
            'passes': 'vernier-passes.7', 'operators': 'vernier-operators.7'}


EXAMPLES = {'inf', 'nan', 'crop', 'rgb', 'auto', 'name', 'python3', 'float32'}   # values in comments with keys


def run(*arguments, cwd=None):
    return subprocess.run(arguments, capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', 'MANWIDTH': '100'})


def rows(cli, topic):
    return json.loads(run(cli, 'list', topic, '--json').stdout)[topic]


def read(folder, page):
    """The page without the marks of roff."""
    with open(os.path.join(folder, page), encoding='utf-8') as source:
        text = source.read()
    text = re.sub(r'\\f[BIR]', '', text)
    for mark, letter in ((r'\-', '-'), (r'\(ti', '~'), (r'\(ha', '^'), (r'\(aq', "'"), (r'\&', ''), (r'\e', '\\')):
        text = text.replace(mark, letter)
    return text


def has_word(text, word):
    return re.search(rf'(?<![\w-]){re.escape(word)}(?![\w-])', text) is not None


def check_tables(cli, folder):
    n = 0
    for topic, page in SECTIONS.items():
        text = read(folder, page)
        for row in rows(cli, topic):
            assert has_word(text, row['id']), f'{page} does not have {topic[:-1]} {row["id"]}'
            n += 1
    overview = read(folder, 'vernier-cli.1')
    for command in rows(cli, 'commands'):
        text = read(folder, f'vernier-cli-{command["id"]}.1')
        assert command['id'] in overview and command['usage'] in text.replace('...', '…'), command['id']
        for option in command['options']:
            assert has_word(text, '--' + option['id']), f'vernier-cli-{command["id"]}.1 does not have --{option["id"]}'
            n += 1
    words = read(folder, 'vernier-migrate.7')
    for word in rows(cli, 'words'):
        assert not word['tool'] or word['id'] in words, f'vernier-migrate.7 does not have {word["id"]}'
        n += 1
    return n


def keys_of(value, inside=()):
    """Keys of JSON at any depth, without what stands below names of tensors."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def check_files(cli, folder, demo):
    n = 0
    with tempfile.TemporaryDirectory() as work:
        done = run(cli, 'quantize', f'{demo}/demo.onnx', '-o', 'q.onnx', '--data', f'{demo}/samples', '-n', '6', '--preset',
                   'npu-cnn',
                   '--exclude', 'type:Gemm', '--report', 'report', '--save-project', 'p.vernier', '--save-recipe', 'r.json',
                   cwd=work)
        assert done.returncode == 0, done.stderr
        for file, pages in (('report/report.json', ['vernier-report.5']), ('r.json', ['vernier-recipe.5']),
                            ('p.vernier', ['vernier-project.5', 'vernier-recipe.5', 'vernier-samples.7'])):
            text = ''.join(read(folder, page) for page in pages)
            with open(os.path.join(work, file), encoding='utf-8') as source:
                for key in set(keys_of(json.load(source))):
                    assert has_word(text, key), f'{pages[0]} does not have the key {key} of {file}'
                    n += 1
    return n


SCHEMAS = {'src/report/vn-report-json.c': ['vernier-report.5'], 'src/dataset/data-spec-json.c': ['vernier-project.5']}


def check_schemas(folder, source):
    """What is written in some runs only: the keys of the schema that the file which writes it begins with."""
    n = 0
    for path, pages in SCHEMAS.items():
        with open(os.path.join(source, path), encoding='utf-8') as file:
            comment = re.search(r'/\*( Schema.*?|[^/]*?"path".*?)\*/', file.read(), re.S)[1]
        text = ''.join(read(folder, page) for page in pages)
        for key in set(re.findall(r'"([\w-]+)"(?=[:, ]| \})', comment)) - EXAMPLES:
            assert has_word(text, key), f'{pages[0]} does not have the key {key} of {path}'
            n += 1
    return n


class Links(html.parser.HTMLParser):
    """The addresses of a page, which must have no element left open."""

    VOID = {'meta', 'br', 'link', 'img'}

    def __init__(self, text):
        super().__init__()
        self.links, self.open = [], []
        self.feed(text)
        assert not self.open, f'not closed: {self.open}'

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.links += [value for name, value in attrs if name == 'href']

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f'</{tag}> closes another element'


def check_html(folder):
    pages = [name for name in os.listdir(folder) if name.endswith('.html')]
    reached = set()
    for page in pages:
        with open(os.path.join(folder, page), encoding='utf-8') as source:
            for link in Links(source.read()).links:
                assert '://' in link or os.path.exists(os.path.join(folder, link)), f'{page}: no {link}'
                if page == 'index.html':
                    reached.add(link)
    assert reached == set(pages) - {'index.html'}, f'not in the index: {set(pages) - reached}'
    return len(pages)


def check_roff(folder):
    pages = sorted(name for name in os.listdir(folder) if re.search(r'\.[157]$', name))
    assert len(pages) > 20
    for page in pages:
        path = os.path.join(folder, page)
        text = read(folder, page)
        assert 'TODO' not in text and '<!--' not in text and '](' not in text, page
        if shutil.which('man') and shutil.which('groff'):
            done = run('man', '--warnings', '-l', path)
            assert done.returncode == 0 and done.stdout and not done.stderr, f'{page}: {done.stderr}'
        if shutil.which('mandoc'):
            said = [line for line in run('mandoc', '-T', 'lint', '-W', 'warning', path).stdout.split('\n')
                    if line and 'missing date' not in line]
            assert not said, '\n'.join(said)
    return len(pages)


def main():
    cli, folder, source = (os.path.abspath(path) for path in sys.argv[1:4])
    n = check_tables(cli, folder)
    n_keys = check_files(cli, folder, f'{source}/data/demo') + check_schemas(folder, source)
    assert n > 800 and n_keys > 100, (n, n_keys)
    print(f'{check_roff(folder)} man pages, {check_html(folder)} pages of HTML; {n} entries of tables, {n_keys} keys of files')


main()
