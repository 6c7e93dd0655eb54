# SPDX-License-Identifier: GPL-3.0-or-later
"""The little Markdown that the help is written in: read into blocks, printed as roff for man and as HTML.

Headings (##, ###), paragraphs, lists (-), code (```), tables (|), and terms: a line, below it lines that begin with ": "
and what continues them, indented. Inline: `code`, **strong**, *emphasis*, [text](page or address).
"""
import html
import re

INLINE = re.compile(r'`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*\s][^*]*)\*|'
                    r'\[(?P<text>[^\]]+)\]\((?P<link>[^)]+)\)')


# ---- blocks: (kind, content) ----

def split_row(line):
    return [cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip().strip('|'))]


def read_blocks(text):
    lines, blocks, i = text.split('\n'), [], 0
    while i < len(lines):
        line = lines[i]
        if not line.strip() or line.startswith('<!--'):
            i += 1
        elif line.startswith('```'):
            end = lines.index('```', i + 1)
            blocks.append(('code', lines[i + 1:end]))
            i = end + 1
        elif line.startswith('#'):
            blocks.append(('heading', (len(line) - len(line.lstrip('#')), line.lstrip('# '))))
            i += 1
        elif line.startswith('|'):
            end = i
            while end < len(lines) and lines[end].startswith('|'):
                end += 1
            rows = [split_row(row) for row in lines[i:end]]
            blocks.append(('table', (rows[0], rows[2:])))
            i = end
        else:
            end = i
            while end < len(lines) and lines[end].strip() and not lines[end].startswith(('|', '```', '#', '<!--')):
                end += 1
            blocks.append(read_paragraph(lines[i:end]))
            i = end
    return join_terms(blocks)


def read_paragraph(lines):
    if lines[0].startswith('- '):
        items = []
        for line in lines:
            if line.startswith('- '):
                items.append(line[2:])
            else:
                items[-1] += ' ' + line.strip()
        return 'list', items
    if len(lines) > 1 and lines[1].startswith(': '):
        return 'terms', [(lines[0], ' '.join(line.strip().removeprefix(': ') for line in lines[1:]))]
    return 'paragraph', ' '.join(line.strip() for line in lines)


def join_terms(blocks):
    joined = []
    for kind, content in blocks:
        if kind == 'terms' and joined and joined[-1][0] == 'terms':
            joined[-1] = (kind, joined[-1][1] + content)
        else:
            joined.append((kind, content))
    return joined


# ---- roff ----

ROFF = {'\\': r'\e', '-': r'\-', '“': r'\(lq', '”': r'\(rq', '’': r'\(cq', '‘': r'\(oq', '…': r'\&...', '–': r'\(en',
        '−': r'\-', '×': r'\(mu', '·': r'\(pc', '→': r'\(->', '≥': r'\(>=', "'": r'\(aq', '`': r'\(ga', '^': r'\(ha',
        '~': r'\(ti'}


def roff_text(text, code=False):
    keep = '' if code else '-'   # in running text a hyphen stays one
    text = ''.join(c if c in keep else ROFF.get(c, c if ord(c) < 128 else f'\\[u{ord(c):04X}]') for c in text)
    return text.replace('\\|', '|')


def roff_inline(text, normal='R'):
    out, at = [], 0
    for match in INLINE.finditer(text):
        out.append(roff_text(text[at:match.start()]))
        if match['code'] or match['strong']:
            out.append(f'\\fB{roff_text((match["code"] or match["strong"]).replace(chr(92) + "|", "|"), code=True)}\\f{normal}')
        elif match['em']:
            out.append(f'\\fI{roff_text(match["em"])}\\f{normal}')
        elif '://' in match['link']:
            out.append(f'{roff_text(match["text"])} ({roff_text(match["link"], code=True)})')
        else:
            out.append(f'\\fB{roff_text(match["text"])}\\f{normal}')
        at = match.end()
    out.append(roff_text(text[at:]))
    line = ''.join(out)
    return '\\&' + line if line.startswith(('.', "'")) else line


def roff_lines(text):
    """A sentence a line, as roff wants it."""
    line = roff_inline(text)
    return re.sub(r'(?<=[a-z)\d][.?!]) (?=[A-Z\\])', '\n', line)


MAN_COLUMNS = 70       # of text between the margins, on a terminal of 80
WIDE_COLUMNS = 88      # the same on a terminal of 100: what tables of numbers may have


def cell_width(cell):
    return len(INLINE.sub(lambda match: match['code'] or match['strong'] or match['em'] or match['text'], cell))


def roff_table(header, rows):
    """A table if it fits, with columns of several words narrowed; one of long texts becomes a list."""
    lines = ([[f'**{cell}**' if cell else '' for cell in header]] if any(header) else []) + rows
    columns = list(zip(*lines))
    widths = [max(map(cell_width, column)) for column in columns]
    fits = sum(widths) + 3 * (len(widths) - 1) <= (WIDE_COLUMNS if max(widths[1:]) <= 14 else MAN_COLUMNS)
    if not fits and (widths[0] > 40 or len(widths) > 4 or sum(width > 30 for width in widths[1:]) > 1):
        return roff_table_as_list(header, rows)
    wrap = [not fits and k > 0 and any(' ' in cell.strip() for cell in columns[k]) for k in range(len(widths))]
    # Wrapped columns get what the others leave, each as much as its longest word at least.
    rest = MAN_COLUMNS - 3 * len(widths) - sum(width for width, wide in zip(widths, wrap) if not wide)
    share = max(rest, 0) // max(sum(wrap), 1)
    least = [max(cell_width(word) for cell in column for word in (cell.strip('*').split() or [''])) for column in columns]
    out = ['.TS', ' '.join(f'lw({max(word, min(share, width))}n)' if wide else 'l'
                           for wide, word, width in zip(wrap, least, widths)) + '.']
    for row in lines:
        out.append('\t'.join(f'T{{\n.na\n.nh\n{roff_inline(cell)}\nT}}' if wide and cell else roff_inline(cell)
                             for cell, wide in zip(row, wrap)))
    return out + ['.TE']


def roff_table_as_list(header, rows):
    """The first cell is the term; of the others the first stands alone, further ones with their heading."""
    out = []
    for row in rows:
        named = len(row) > 4   # too many to be told apart without their headings
        out += ['.TP', roff_inline(row[0])] + ([] if named else [roff_inline(row[1])])
        first = 1 if named else 2
        for k in range(first, len(row)):
            out += ([] if k == 1 else ['.br']) + [f'\\fI{roff_text(header[k])}:\\fR {roff_inline(row[k])}']
    return out


def print_roff(page, version):
    out = ["'\\\" t", f'.TH {page.name.upper()} {page.section} "" "Vernier {version}" "Vernier"', '.nh', '.SH NAME',
           f'{roff_text(page.name, code=True)} \\- {roff_text(page.summary)}']
    fresh = True   # right below a heading: no space above a paragraph
    for kind, content in page.blocks:
        if kind == 'heading':
            level, text = content
            out += [f'.SH {roff_text(text.upper())}' if level <= 2 else f'.SS {roff_text(text)}']
        elif kind == 'paragraph':
            out += ([] if fresh else ['.PP']) + [roff_lines(content)]
        elif kind == 'code':
            out += ([] if fresh else ['.sp']) + ['.RS 4', '.nf'] + [roff_inline_code(line) for line in content] + ['.fi', '.RE']
        elif kind == 'list':
            for item in content:
                out += ['.IP \\(bu 2', roff_lines(item)]
        elif kind == 'terms':
            for term, text in content:
                out += ['.TP', roff_inline(term), roff_lines(text)]
        elif kind == 'table':
            out += ([] if fresh else ['.sp']) + roff_table(*content)
        fresh = kind == 'heading'
    return '\n'.join(out) + '\n'


def roff_inline_code(line):
    line = roff_text(line, code=True)
    return '\\&' + line if line.startswith(('.', "'")) else line


# ---- HTML ----

def html_inline(text):
    out, at = [], 0
    for match in INLINE.finditer(text):
        out.append(html.escape(text[at:match.start()].replace('\\|', '|')))
        if match['code']:
            out.append(f'<code>{html.escape(match["code"].replace(chr(92) + "|", "|"))}</code>')
        elif match['strong']:
            out.append(f'<b>{html.escape(match["strong"])}</b>')
        elif match['em']:
            out.append(f'<i>{html.escape(match["em"])}</i>')
        else:
            link = match['link'] if '://' in match['link'] else match['link'].removesuffix('.md') + '.html'
            out.append(f'<a href="{html.escape(link)}">{html.escape(match["text"])}</a>')
        at = match.end()
    out.append(html.escape(text[at:].replace('\\|', '|')))
    return ''.join(out)


def html_block(kind, content):
    if kind == 'heading':
        level, text = content
        return f'<h{level}>{html_inline(text)}</h{level}>'
    if kind == 'paragraph':
        return f'<p>{html_inline(content)}</p>'
    if kind == 'code':
        return '<pre>' + html.escape('\n'.join(content)) + '</pre>'
    if kind == 'list':
        return '<ul>' + ''.join(f'<li>{html_inline(item)}</li>' for item in content) + '</ul>'
    if kind == 'terms':
        return '<dl>' + ''.join(f'<dt>{html_inline(term)}</dt><dd>{html_inline(text)}</dd>' for term, text in content) + '</dl>'
    header, rows = content
    head = f'<tr>{"".join(f"<th>{html_inline(cell)}</th>" for cell in header)}</tr>' if any(header) else ''
    return f'<table>{head}' + ''.join(
        f'<tr>{"".join(f"<td>{html_inline(cell)}</td>" for cell in row)}</tr>' for row in rows) + '</table>'


STYLE = '''
:root { color-scheme: light dark; }
body { font: 16px/1.5 Cantarell, sans-serif; max-width: 56em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; } h2 { font-size: 1.25em; margin-top: 1.8em; } h3 { font-size: 1.05em; margin-top: 1.4em; }
code, pre { font-family: monospace; font-size: .92em; }
pre { padding: .8em 1em; border-radius: 8px; background: rgba(128, 128, 128, .14); overflow-x: auto; }
dt { margin-top: .6em; } dd { margin-left: 2em; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .3em .8em .3em 0; }
tr { border-bottom: 1px solid rgba(128, 128, 128, .3); }
nav { margin-bottom: 1.5em; }
'''


def print_html(page, version):
    body = '\n'.join(html_block(kind, content) for kind, content in page.blocks)
    title = f'{page.name}: {page.summary}' if page.section else page.summary
    back = '<nav><a href="index.html">Vernier Help</a></nav>' if page.section else ''
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body>{back}\n<h1>{html.escape(title)}</h1>\n'
            f'{body}\n<p><small>Vernier {html.escape(version)}</small></p>\n</body></html>\n')
