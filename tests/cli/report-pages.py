#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of the demo in HTML and PDF: tidy finds nothing wrong with the page, nothing runs and nothing is fetched; each heading
of a table that Markdown has is on the pages of the PDF, too, and the first page tells the verdict, the figures and what was
done."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

cli, root = sys.argv[1], sys.argv[2]
demo = os.path.join(root, 'data', 'demo')
n_checked = 0
skipped = []


def run(*args):
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit('%s: %s' % (' '.join(args), done.stderr))
    return done.stdout


def check_html(path):
    """Of SVG inside of HTML, tidy 5.6 does not know the attributes of an inner svg."""
    global n_checked
    if shutil.which('tidy') is None:
        skipped.append('tidy')
        return
    found = subprocess.run(['tidy', '-e', '-q', path], capture_output=True, text=True).stderr.splitlines()
    wrong = [line for line in found if not re.search(r'<svg> proprietary attribute "(x|y|width|height)"', line)]
    if wrong:
        sys.exit('%s: %s' % (path, wrong[:5]))
    n_checked += 1


def list_headings(markdown):
    """Rows above the line of a table."""
    lines = markdown.splitlines()
    for i in range(1, len(lines)):
        if re.fullmatch(r'\|(-+:?\|)+', lines[i]):
            for cell in lines[i - 1].strip('|').split('|'):
                if cell.strip():
                    yield cell.strip().replace('\\', '')


def check_pdf(folder, name):
    """Headings wrap in the middle of a row, so words are looked for one by one."""
    global n_checked
    if shutil.which('pdftotext') is None:
        skipped.append('pdftotext')
        return
    markdown = open(os.path.join(folder, 'report.md')).read()
    text = run('pdftotext', '-layout', os.path.join(folder, name), '-')
    words = set(text.split())
    for heading in list_headings(markdown):
        missing = [word for word in heading.split() if word not in words]
        if missing:
            sys.exit('%s: the heading “%s” is not on any page: no %s' % (name, heading, missing))
        n_checked += 1
    first = text.split('\f')[0]
    for word in ['SQNR', 'size', 'Precision', 'Where the error is']:
        if word not in first:
            sys.exit('%s: the first page does not tell “%s”' % (name, word))
    if 'Weakest nodes' not in text.split('\f')[1] + first:
        sys.exit(name + ': the first two pages do not tell the weakest nodes')


with tempfile.TemporaryDirectory() as folder:
    model = os.path.join(demo, 'demo.onnx')
    data = os.path.join(demo, 'samples')
    quantized = os.path.join(folder, 'q.onnx')
    run(cli, 'quantize', model, '--data', data, '--origins', '-o', quantized, '--report=' + folder)
    check_html(os.path.join(folder, 'report.html'))
    check_pdf(folder, 'report.pdf')
    compared = os.path.join(folder, 'compared.html')
    run(cli, 'compare', model, quantized, '--data', data, '--report=' + compared)
    page = open(compared).read()
    if len(re.findall(r'<g id="n\d+', page)) < 3:
        sys.exit('a comparison has no picture of the network')
    n_checked += 1
    check_html(compared)

if skipped:
    print('not there: ' + ', '.join(sorted(set(skipped))))
if n_checked < 20 and skipped:
    sys.exit(77)
if n_checked < 20:
    sys.exit('only %d things were compared' % n_checked)
print('%d things compared' % n_checked)
