#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""installed.py BUILD_DIR SOURCE_DIR: “meson install” brings all that the desktop entry and the metainfo speak of.

Programs, icons in both forms, the types of files and their declaration, settings, a catalogue for each language, and for each
page of the manual a man page and one in HTML.
"""
import configparser
import json
import os
import sys
import xml.etree.ElementTree as xml


def main():
    build, source = sys.argv[1:3]
    with open(os.path.join(build, 'meson-info', 'intro-install_plan.json'), encoding='utf-8') as file:
        plan = [(path, row['destination']) for rows in json.load(file).values() for path, row in rows.items()]
    places = {place for _, place in plan}
    faults = []

    def source_of(ending):
        found = [path for path, place in plan if place.endswith(ending)]
        if len(found) != 1:
            sys.exit(f'installed.py: {len(found)} files become …{ending}')
        return found[0]

    def want(ending, reason):
        if not any(place.endswith(ending) for place in places):
            faults.append(f'…{ending}: {reason}, but is not installed')

    def want_icon(icon, reason):
        tree = [(path, place) for path, place in plan if place == '{datadir}/icons/hicolor']
        for part in (f'scalable/apps/{icon}.svg', f'symbolic/apps/{icon}-symbolic.svg'):
            if not any(os.path.exists(os.path.join(path, part)) for path, _ in tree):
                faults.append(f'icons/hicolor/{part}: {reason}, but is not installed')

    desktop = configparser.ConfigParser(interpolation=None, strict=True)
    desktop.optionxform = str
    desktop.read(source_of('.desktop'), encoding='utf-8')
    entry = desktop['Desktop Entry']
    for section in desktop.sections():
        want('{bindir}/' + desktop[section]['Exec'].split()[0], f'the desktop entry runs it in [{section}]')
    want_icon(entry['Icon'], 'the desktop entry shows it')

    metainfo = xml.parse(source_of('.metainfo.xml')).getroot()
    for binary in metainfo.iter('binary'):
        want('{bindir}/' + binary.text, 'the metainfo provides it')
    for launchable in metainfo.iter('launchable'):
        want('/applications/' + launchable.text, 'the metainfo launches it')
    want(f'/glib-2.0/schemas/{metainfo.find("id").text}.gschema.xml', 'the window keeps its settings by it')

    space = '{http://www.freedesktop.org/standards/shared-mime-info}'
    declared = xml.parse(source_of('/mime/packages/' + metainfo.find('id').text + '.xml')).getroot()
    types = {one.get('type') for one in declared.iter(space + 'mime-type')}
    for name, listed in (('desktop entry', set(entry['MimeType'].strip(';').split(';'))),
                         ('metainfo', {one.text for one in metainfo.iter('mediatype')})):
        if listed != types:
            faults.append(f'{name}: names the types {sorted(listed)}, declared are {sorted(types)}')
    for icon in declared.iter(space + 'icon'):
        want_icon(icon.get('name'), 'a type of files shows it')

    with open(os.path.join(source, 'po', 'LINGUAS'), encoding='utf-8') as file:
        languages = [line.strip() for line in file if line.strip() and not line.startswith('#')]
    for language in languages:
        want(f'/{language}/LC_MESSAGES/vernier.mo', 'po/LINGUAS names it')

    pages = sorted(name for name in os.listdir(os.path.join(build, 'data', 'help')) if name.rpartition('.')[2] in '12345678')
    for page in pages:
        want(f'/man{page[-1]}/{page}', 'it was built')
        want(f'/vernier/help/{page[:-2]}.html', 'its man page was built')
    if not (languages and pages and types):
        faults.append('no languages, pages or types of files were compared')

    print(f'{len(plan)} rows to install, {len(languages)} catalogues, {len(pages)} pages of the manual')
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
