# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the help that come from the program's tables, as Markdown: "vernier-cli list TOPIC --json"."""
import json
import os
import subprocess


class Tables:
    """Reads each table once."""

    def __init__(self, cli):
        self.cli = cli
        self.read = {}

    def rows(self, topic):
        if topic not in self.read:
            done = subprocess.run([self.cli, 'list', topic, '--json'], capture_output=True, text=True, check=True,
                                  env={**os.environ, 'LC_ALL': 'C.UTF-8', 'LANGUAGE': ''})
            self.read[topic] = json.loads(done.stdout)[topic]
        return self.read[topic]

    def command(self, name):
        return next(one for one in self.rows('commands') if one['id'] == name)

    def expand(self, words):
        """What stands in the place of <!-- table: WORDS -->."""
        name, *arguments = words.split()
        return getattr(self, 'table_' + name.replace('-', '_'))(*arguments)

    # ---- one for each name ----

    def table_commands(self):
        return '\n\n'.join(f'[vernier-cli-{one["id"]}(1)](vernier-cli-{one["id"]})\n: {one["summary"]}'
                           for one in self.rows('commands'))

    def table_usage(self, command):
        return f'```\n{self.command(command)["usage"]}\n```'

    def table_options(self, command):
        text, group = [], None
        for option in self.command(command)['options']:
            if option['group'] != group:
                group = option['group']
                text.append(f'### {group}')
            text.append(option_term(option))
        return '\n\n'.join(text)

    def table_presets(self):
        return grouped(self.rows('presets'), lambda row: f'{row["title"]}. {row["summary"]}. Settings: `{row["settings"]}`')

    def table_targets(self):
        return grouped(self.rows('targets'), describe_target)

    def table_methods(self):
        return grouped(self.rows('methods'), lambda row: f'{row["title"]}. {row["summary"]}.')

    def table_passes(self):
        return grouped(self.rows('passes'), lambda row: row['summary'])

    def table_settings(self):
        return grouped(self.rows('settings'), describe_setting)

    def table_rules(self):
        return grouped(self.rows('rules'), describe_setting)

    def table_types(self):
        return '| type | also | bits | formats |\n|---|---|---|---|\n' + '\n'.join(
            f'| `{row["id"]}` | {alias(row)} | {row["bits"]} | {", ".join(row["formats"])} |' for row in self.rows('types'))

    def table_formats(self):
        return '\n\n'.join(f'`{row["id"]}`\n: {row["summary"]}. Activations: {", ".join(row["activations"])}. '
                           f'Weights: {", ".join(row["weights"])}.'
                           for row in self.rows('formats'))

    def table_metrics(self, name):
        """By what a file calls them: "id" or "key"."""
        return '\n\n'.join(f'`{row[name]}`\n: {row["title"]}{", in " + row["unit"] if "unit" in row else ""}.'
                           for row in self.rows('metrics'))

    def table_operators(self):
        """The operators of a domain with the same types together."""
        together = {}
        for row in self.rows('operators'):
            together.setdefault((row['group'], row['type_names']), []).append(f'{row["id"]} {row["versions"]}')
        return '\n\n'.join(f'{domain}, {types}\n: {", ".join(names)}' for (domain, types), names in together.items())

    def table_words(self, kind):
        tools = {}
        for row in self.rows('words'):
            if row['kind'] == kind and row['tool']:
                tools.setdefault(row['tool'], []).append(f'| `{row["id"]}` | {describe_word(row)} |')
        return '\n\n'.join(f'### {tool}\n\n| there | here |\n|---|---|\n' + '\n'.join(rows) for tool, rows in tools.items())


def grouped(rows, describe):
    text, group = [], None
    for row in rows:
        if row.get('group') not in (None, group):
            group = row['group']
            text.append(f'### {group}')
        text.append(f'`{row["id"]}`\n: {describe(row)}')
    return '\n\n'.join(text)


def option_term(option):
    term = f'-{option["letter"]}, ' if 'letter' in option else ''
    term += f'--{option["id"]}'
    if 'argument' in option:
        term += f'[={option["argument"]}]' if option['optional_argument'] else f'={option["argument"]}'
    return f'`{term}`\n: {option["summary"]}.'


def describe_target(row):
    text = f'{row["title"]}. {row["summary"]}. Settings: `{row["settings"]}`.'
    if 'wide_of' in row:
        text += f' Chosen by `--target {row["wide_of"]} --wide`.'
    if row['shapes'] != 'any':
        text += ' Fixed sizes' + (', one sample at a time.' if row['shapes'] == 'one-sample' else '.')
    for field, before in (('caution', ''), ('check', 'What falls back to float: ')):
        if field in row:
            text += f' {before}{row[field]}.'
    return text


def describe_setting(row):
    text = f'{row["title"]}. {row["summary"]}.'
    details = [row['type']]
    if row.get('allowed'):
        details.append(f'allowed: {row["allowed"]}')
    if row.get('default'):
        details.append(f'default: {row["default"]}')
    return f'{text} ({"; ".join(details)})'


def alias(row):
    return f'`{row["alias"]}`' if 'alias' in row else ''


def describe_word(row):
    here = f'`{row["here"]}`' if row.get('here') else ''
    return '; '.join(part for part in (here, row.get('remark')) if part)
