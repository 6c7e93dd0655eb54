#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# wheel.sh [--work FOLDER] [--mirror ADDRESS] [SUITE...]: the wheel of what is committed (data/python/build.sh), built twice in
# different folders, its size, its tag, and how it does in systems that have Python and nothing else: bullseye, which has glibc
# 2.31, and trixie, unless named. As root, on Debian; half an hour, and 4 GB in FOLDER, which is build-wheel unless named.
#
# tests/python/wheel_use.py says what is tried there. Models that come of it are compared with those of the usual build, which
# tests/run.sh has made. Systems are set up by debootstrap, and removed at the end.
set -euo pipefail

source=$(realpath "$(dirname "$0")/..")
. "$source/tests/lib/setup.sh"
. "$source/data/debian/system.sh"
usual_suites='bullseye trixie'
read_arguments "$source/build-wheel" "$@"
LARGEST=$((9 * 1000 * 1000))
usual=$source/build-tests/meson/src/cli/vernier-cli
python=$source/build-tests/oracle/bin/python
[ -x "$usual" ] && [ -x "$python" ] || { echo "run tests/run.sh first, which builds $usual and $python" >&2; exit 2; }

fail () { echo "wheel.sh: $*" >&2; exit 1; }

"$source/data/python/build.sh" --work "$work/first"
"$source/data/python/build.sh" --work "$work/again/in/another/place"
wheel=$(ls "$work"/first/out/*.whl)
name=$(basename "$wheel")
cmp "$wheel" "$work/again/in/another/place/out/$name" || fail "the second build has other bytes"
size=$(stat -c %s "$wheel")
echo "$name: both builds have the same bytes, $size"
[ "$size" -le "$LARGEST" ] || fail "more than $LARGEST bytes"
grep -F "platform tag: " "$work/first/out/auditwheel.txt"

# What the usual build makes of the same, and photographs for all: the samples of the demo, as JPEG.
rm -rf "$work/try"
mkdir -p "$work/try/photographs"
cp "$source/tests/python/wheel_use.py" "$work/try"
"$python" - "$source/data/demo/samples" "$work/try/photographs" <<'END'
import pathlib, sys
from PIL import Image
for path in sorted(pathlib.Path(sys.argv[1]).rglob('*.png')):
    Image.open(path).convert('RGB').save(pathlib.Path(sys.argv[2], path.stem + '.jpg'), quality=90)
END
VERNIER_CLI=$usual PYTHONPATH=$source/src/python "$python" "$work/try/wheel_use.py" models "$source/data/demo" \
  "$work/try/photographs" "$work/try/usual"

for suite in "${suites[@]}"; do
  make_base
  system=$work/wheel-$suite
  copy_base "$system" "$suite"
  hurry "$system"
  enter "$system" "$suite" apt-get -q -y --no-install-recommends install python3 python3-venv locales \
    >"$work/wheel-$suite.log" 2>&1
  enter "$system" "$suite" localedef -i de_DE -f UTF-8 de_DE.UTF-8
  version=$(enter "$system" "$suite" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  mkdir "$system/wheels"
  "$python" -m pip download -q --disable-pip-version-check -d "$system/wheels" --only-binary :all: --python-version "$version" \
    --no-deps numpy scipy-openblas32
  cp "$wheel" "$system/wheels"
  cp -r "$work/try" "$system/try"
  say "Python $version, $(enter "$system" "$suite" getconf GNU_LIBC_VERSION)"
  enter "$system" "$suite" sh -ec "python3 -m venv /venv
    /venv/bin/pip install -q --no-index --find-links /wheels vernier
    /venv/bin/python /try/wheel_use.py models /venv/share/vernier/demo /try/photographs /try/here
    /venv/bin/python /try/wheel_use.py rest /venv/share/vernier/demo
    /venv/bin/pip install -q --no-index --find-links /wheels 'vernier[openblas]'
    /venv/bin/python /try/wheel_use.py openblas /venv/share/vernier/demo"
  for model in "$work"/try/usual/*.onnx; do
    cmp "$model" "$system/try/here/$(basename "$model")" || fail "$suite: not what the usual build makes"
  done
  say "$(ls "$work"/try/usual/*.onnx | wc -l) models are those of the usual build"
  rm -rf "$system"
done
