#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make-sbom.py BUILD_DIR SOURCE_DIR VERSION OUT: what the program consists of, as an SPDX 2.3 document.

Every file that is installed, with its digests and its licence as data/debian/copyright has it; the programs; the libraries that
they were built with. Programs are listed without digests, as packagers strip them. The same sources and libraries give the same
bytes: the time is that of $SOURCE_DATE_EPOCH, or of the release.
"""
import datetime
import fnmatch
import hashlib
import json
import os
import re
import sys
import xml.etree.ElementTree as xml

HOME = 'https://github.com/vernier/vernier'
AUTHOR = 'Organization: The Vernier developers'
SPDX_NAMES = {'GPL-3+': 'GPL-3.0-or-later', 'CC0-1.0': 'CC0-1.0'}
# Of libraries, by the names that pkg-config knows them by: licence, how the programs use them.
LIBRARIES = {
    'glib-2.0': ('LGPL-2.1-or-later', 'DYNAMIC_LINK'),
    'gio-2.0': ('LGPL-2.1-or-later', 'DYNAMIC_LINK'),
    'gio-unix-2.0': ('LGPL-2.1-or-later', 'DYNAMIC_LINK'),
    'json-glib-1.0': ('LGPL-2.1-or-later', 'DYNAMIC_LINK'),
    'gdk-pixbuf-2.0': ('LGPL-2.1-or-later', 'DYNAMIC_LINK'),
    'cairo': ('LGPL-2.1-only OR MPL-1.1', 'DYNAMIC_LINK'),
    'pangocairo': ('LGPL-2.0-or-later', 'DYNAMIC_LINK'),
    'gtk4': ('LGPL-2.1-or-later', 'DYNAMIC_LINK'),
    'libadwaita-1': ('LGPL-2.1-or-later', 'DYNAMIC_LINK'),
    'libprotobuf-c': ('BSD-2-Clause', 'DYNAMIC_LINK'),
    'ompi-c': ('BSD-3-Clause-Open-MPI', 'DYNAMIC_LINK'),
    'openblas': ('BSD-3-Clause', 'DEPENDS_ON'),   # loaded when it is needed
}
TYPES = {'.png': 'IMAGE', '.svg': 'IMAGE', '.onnx': 'BINARY', '.mo': 'BINARY', '.compiled': 'BINARY', '.html': 'DOCUMENTATION'}


def read_json(build, name):
    with open(os.path.join(build, 'meson-info', name), encoding='utf-8') as file:
        return json.load(file)


def read_licences(path):
    """Of a machine-readable copyright file: (patterns, licence, holder), of which the last that fits counts."""
    with open(path, encoding='utf-8') as file:
        paragraphs = file.read().split('\n\n')
    rows = []
    for paragraph in paragraphs:
        fields = dict(re.findall(r'^(\w[\w-]*): *((?:.*\n?)(?:[ \t].*\n?)*)', paragraph, re.M))
        if 'Files' in fields:
            rows.append((fields['Files'].split(), SPDX_NAMES[fields['License'].split('\n')[0].strip()],
                         fields['Copyright'].strip()))
    return rows


def find_licence(rows, path):
    fitting = [row for row in rows if any(fnmatch.fnmatchcase(path, pattern) for pattern in row[0])]
    return fitting[-1][1:]


def list_installed(build):
    """(file, place below the prefix, whether it is a program)."""
    places = {row['name']: row['value'] for row in read_json(build, 'intro-buildoptions.json') if row['section'] == 'directory'}
    for kind, rows in read_json(build, 'intro-install_plan.json').items():
        for path, row in rows.items():
            place = re.sub(r'^\{(?:(\w+?)(?:_shared|_static)?)\}', lambda match: places.get(match[1], match[1]),
                           row['destination'])
            place = os.path.relpath(place, places['prefix']) if os.path.isabs(place) else place
            if not os.path.isdir(path):
                yield path, place, row['destination'].startswith('{bindir}')
                continue
            for folder, _, names in os.walk(path):
                for name in names:
                    file = os.path.join(folder, name)
                    yield file, os.path.join(place, os.path.relpath(file, path)), False


def find_origin(path, build, source):
    """The file of the source that it is, or was made of; as far as licences go."""
    relative = os.path.relpath(path, source)
    if path.startswith(build + os.sep) or relative.startswith('..'):
        relative = os.path.relpath(path, build)
        if os.path.exists(os.path.join(source, relative + '.in')):
            return relative + '.in'
    return relative


def describe_file(path, place, licence, holder):
    with open(path, 'rb') as file:
        data = file.read()
    return {'fileName': './' + place, 'SPDXID': 'SPDXRef-File-' + hashlib.sha256(place.encode()).hexdigest()[:16],
            'fileTypes': [TYPES.get(os.path.splitext(place)[1], 'TEXT')],
            'checksums': [{'algorithm': 'SHA1', 'checksumValue': hashlib.sha1(data).hexdigest()},
                          {'algorithm': 'SHA256', 'checksumValue': hashlib.sha256(data).hexdigest()}],
            'licenseConcluded': licence, 'licenseInfoInFiles': [licence], 'copyrightText': holder}


def describe_package(identity, name, version, licence, **more):
    return {'SPDXID': 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', identity), 'name': name, 'versionInfo': version,
            'filesAnalyzed': False,
            'downloadLocation': 'NOASSERTION', 'licenseConcluded': 'NOASSERTION', 'licenseDeclared': licence,
            'copyrightText': 'NOASSERTION', **more}


def link(name, build):
    """How the programs use a library."""
    options = {row['name']: row['value'] for row in read_json(build, 'intro-buildoptions.json')}
    kind = LIBRARIES.get(name, ('', 'DEPENDS_ON'))[1]
    return 'STATIC_LINK' if kind == 'DYNAMIC_LINK' and options.get('prefer_static') else kind


def relate(one, kind, other):
    return {'spdxElementId': one, 'relationshipType': kind, 'relatedSpdxElement': other}


def find_time(metainfo):
    epoch = os.environ.get('SOURCE_DATE_EPOCH')
    if epoch:
        return datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    return xml.parse(metainfo).getroot().find('releases/release').get('date') + 'T00:00:00Z'


def main():
    build, source, version, out = sys.argv[1:]
    build, source = os.path.realpath(build), os.path.realpath(source)
    rows = read_licences(os.path.join(source, 'data', 'debian', 'copyright'))
    licence, holder = find_licence(rows, 'meson.build')
    installed = sorted(set(list_installed(build)), key=lambda row: row[1])
    files = [describe_file(path, place, *find_licence(rows, find_origin(path, build, source)))
             for path, place, is_program in installed if not is_program and os.path.basename(place) != os.path.basename(out)]
    sums = sorted(file['checksums'][0]['checksumValue'] for file in files)
    whole = {**describe_package('Vernier', 'vernier', version, licence), 'filesAnalyzed': True, 'downloadLocation': HOME,
             'licenseConcluded': licence, 'licenseInfoFromFiles': sorted({file['licenseConcluded'] for file in files}),
             'copyrightText': holder, 'supplier': AUTHOR, 'homepage': HOME, 'primaryPackagePurpose': 'APPLICATION',
             'packageVerificationCode': {'packageVerificationCodeValue': hashlib.sha1(''.join(sums).encode()).hexdigest()}}
    programs = [describe_package('Program-' + os.path.basename(place), os.path.basename(place), version, licence,
                                 packageFileName=place,
                                 primaryPackagePurpose='APPLICATION',
                                 comment='Built from the source; without digests, as packagers strip programs.')
                for _, place, is_program in installed if is_program]
    # Later versions of Meson list parts of the C library, too, and what a build declares itself, by names that change each time.
    found = {row['name']: row['version'] for row in read_json(build, 'intro-dependencies.json')
             if row.get('type') not in ('internal', 'library')}
    libraries = [describe_package('Library-' + name, name, found[name], LIBRARIES.get(name, ('NOASSERTION',))[0],
                                  primaryPackagePurpose='LIBRARY')
                 for name in sorted(found)]
    relations = ([relate('SPDXRef-DOCUMENT', 'DESCRIBES', whole['SPDXID'])] +
                 [relate(whole['SPDXID'], 'CONTAINS', one['SPDXID']) for one in files + programs] +
                 [relate(whole['SPDXID'], link(one['name'], build), one['SPDXID']) for one in libraries])
    document = {'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'vernier-{version}',
                'creationInfo': {'created': find_time(os.path.join(source, 'data', 'io.github.vernier.Vernier.metainfo.xml.in')),
                                 'creators': [AUTHOR, 'Tool: make-sbom.py']},
                'packages': [whole] + programs + libraries, 'files': files, 'relationships': relations}
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document['documentNamespace'] = f'{HOME}/spdx/vernier-{version}-{digest[:32]}'
    with open(out, 'w', encoding='utf-8') as file:
        json.dump(document, file, indent=1, sort_keys=True, ensure_ascii=False)
        file.write('\n')


if __name__ == '__main__':
    main()
