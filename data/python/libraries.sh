# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by build.sh: the libraries that the program is linked with, from Debian's sources, as archives.

# In the order in which they need each other: source package, how it is built, options.
LIBRARIES=(
  'zlib         zlib'
  'libffi       autotools  --disable-docs'
  'pcre2        autotools  --enable-jit --disable-pcre2grep-libz --disable-pcre2grep-libbz2'
  'glib2.0      meson      -Dselinux=disabled -Dlibmount=disabled -Dlibelf=disabled -Dman=false -Dtests=false -Dnls=disabled
                           -Dxattr=false -Dgio_module_dir=/nonexistent'
  'json-glib    meson      -Dintrospection=disabled -Dgtk_doc=disabled -Dman=false -Dtests=false'
  'libpng1.6    autotools'
  'libjpeg-turbo cmake     -DENABLE_SHARED=0 -DWITH_TURBOJPEG=0 -DWITH_SIMD=1'
  'gdk-pixbuf   pixbuf     -Dbuiltin_loaders=all -Dgio_sniffing=false -Dtiff=disabled -Dintrospection=disabled -Dgtk_doc=false
                           -Dman=false -Dtests=false -Dinstalled_tests=false'
  'protobuf-c   autotools  --disable-protoc')

# Where they think they are: nothing is ever looked for there.
PREFIX=/usr/lib/vernier-wheel

# start_lists FOLDER LINE...: an apt of its own in there, that checks signatures as this system's does; $apt is what it is told
start_lists () {
  local folder=$1
  shift
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  printf '%s\n' "$@" >"$folder/sources.list"
  apt=(-q -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$folder/lists"
    -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log"; return 1; }
}

# get_source NAME: into the current folder, unpacked, in the newest version that the mirror has all files of
get_source () {
  local version
  for version in $(apt-cache "${apt[@]}" showsrc --only-source "$1" 2>/dev/null | sed -n 's/^Version: //p' | sort -rVu); do
    apt-get "${apt[@]}" source "$1=$version" >>apt.log 2>&1 && return
  done
  return 1
}

# get_tarball NAME: what the authors released, as the newest Debian has it
get_tarball () {
  apt-get "${apt[@]}" source --tar-only "$1" >>apt.log 2>&1 && tar -xf "$1"_*.orig.tar.* && rm "$1"_*.orig.tar.*
}

# get_sources FOLDER: of all of $LIBRARIES: of this system's version of Debian, with or without its security updates, where a
# mirror has no complete sources of these; what is missing then, of the newest
get_sources () {
  local folder=$1 lines plain mirror
  [ -f "$folder/.done" ] && return
  rm -rf "$folder"
  mkdir -p "$folder"
  lines=$(apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)|$(ORIGIN)' 'Created-By: Packages' |
    sed -n 's/ main|Debian$/ main/p' | sort -u)
  plain=$(grep -v -- -security <<<"$lines") || { echo "apt knows no mirror of Debian" >&2; return 1; }
  mirror=$(cut -d ' ' -f 2 <<<"$plain" | head -1)
  cd "$folder"
  missing=("${LIBRARIES[@]%% *}")
  get_missing get_source "$lines"
  get_missing get_source "$plain"
  [ "${#missing[@]}" = 0 ] || echo "The mirror lacks sources of ${missing[*]}: taking those of the newest Debian"
  get_missing get_tarball "deb-src $mirror sid main"
  [ "${#missing[@]}" = 0 ] || { echo "no sources of ${missing[*]}" >&2; return 1; }
  cd - >/dev/null
  touch "$folder/.done"
}

# get_missing FUNCTION LISTS: those of $missing that there are
get_missing () {
  local name wanted=("${missing[@]}")
  [ "${#wanted[@]}" -gt 0 ] || return 0
  start_lists "$PWD/apt" "$2"
  missing=()
  for name in "${wanted[@]}"; do "$1" "$name" || missing+=("$name"); done
}

# find_source SOURCES NAME: the folder of one
find_source () { ls -d "$1/$2"-[0-9]*/; }

# copy_licence SOURCE FILE: Debian's file on copyright, or the licences that the authors name
copy_licence () {
  if [ -f "$1/debian/copyright" ]; then
    cp "$1/debian/copyright" "$2"
  else
    find "$1" -maxdepth 2 \( -name 'COPYING*' -o -path '*/LICENSES/*' \) -type f | sort | xargs cat >"$2"
  fi
  [ -s "$2" ] || { echo "no licence in $1" >&2; return 1; }
}

# find_version SOURCE: of the package, or what the folder is called
find_version () {
  if [ -f "$1/debian/changelog" ]; then
    sed -n '1s/.*(\(.*\)).*/\1/p' "$1/debian/changelog"
  else
    basename "$1" | sed 's/.*-//'
  fi
}

build_zlib () {
  (cd "$1" && ./configure --static --prefix="$PREFIX" && make -j"$(nproc)" libz.a && make DESTDIR="$stage" install)
}

build_autotools () {
  local source=$1
  shift
  (cd "$source" && { [ -x configure ] || autoreconf -fi; } &&
    ./configure --prefix="$PREFIX" --disable-shared --enable-static --with-pic --disable-dependency-tracking "$@" &&
    make -j"$(nproc)" && make DESTDIR="$stage" install)
}

build_cmake () {
  local source=$1
  shift
  (cd "$source" && /usr/bin/cmake -G Ninja -B built -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR="$PREFIX/lib" \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_POSITION_INDEPENDENT_CODE=1 "$@" && "$NINJA" -C built &&
    DESTDIR=$stage "$NINJA" -C built install)
}

build_meson () {
  local source=$1
  shift
  (cd "$source" && "$MESON" setup built --prefix="$PREFIX" --libdir=lib --buildtype=plain -Ddefault_library=static \
    -Dprefer_static=true -Db_staticpic=true --wrap-mode=nodownload "$@" && "$NINJA" -C built ${target:+"$target"} &&
    DESTDIR=$stage "$MESON" install -C built --no-rebuild ${target:+--tags devel})
}

# Its programs do not link with archives.
build_pixbuf () {
  local target=gdk-pixbuf/libgdk_pixbuf-2.0.a
  build_meson "$@"
}

# build_libraries SOURCES STAGE LOGS: below STAGE, with what pkg-config tells of them, and their copyright
build_libraries () {
  local sources=$1 row name how options source
  stage=$2
  mkdir -p "$stage/copyright"
  for row in "${LIBRARIES[@]}"; do
    read -r -d '' name how options <<<"$row" || true
    source=$(find_source "$sources" "$name")
    [ -f "$stage/copyright/$name" ] && continue
    echo "Building $name"
    rm -rf "$source/built"
    # shellcheck disable=SC2086
    "build_$how" "$source" $options >"$3/$name.log" 2>&1 || { tail -20 "$3/$name.log"; return 1; }
    # Programs and headers are in the stage, not where the prefix says.
    sed -i "s|^prefix=$PREFIX|prefix=$stage$PREFIX|" "$stage$PREFIX"/lib/pkgconfig/*.pc
    rm -f "$stage$PREFIX"/lib/*.la
    echo "$name $(find_version "$source")" >>"$stage/versions"
    copy_licence "$source" "$stage/copyright/$name"
  done
}
