# fetch.sh PACKAGE FOLDER [debian]: the upstream archives of a Debian source package into a folder, unless they are
# there. Sources come from where packages do; the entry that says so goes again. Debian's changes, which a mirror may
# lack, are fetched only if `debian` is given. If the mirror lacks the archive, that of Debian's stable release is
# fetched.
set -eu
package=$1
whole=${3-}
ls "$2/$package"_*.orig.tar.* >/dev/null 2>&1 && { [ -z "$whole" ] || ls "$2/$package"_*.debian.tar.* >/dev/null 2>&1; } && exit
[ -n "$whole" ] || only=--tar-only

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
LIST=/etc/apt/sources.list.d/debian.sources
ENTRY=/etc/apt/sources.list.d/p3-sources.sources
scratch=
forget() {
    [ ! -e "$ENTRY" ] || $sudo rm "$ENTRY"
    [ -z "$scratch" ] || rm -rf "$scratch"
}
trap forget EXIT
if ! grep -qs "^Types:.*deb-src" /etc/apt/sources.list.d/*.sources; then
    sed 's/^Types: deb$/Types: deb-src/' $LIST | $sudo tee "$ENTRY" >/dev/null
    $sudo apt-get update -q >/dev/null
fi

# fetch [OPTION...]: by apt with these options, into the current folder
fetch() {
    apt-get "$@" source ${only-} --download-only -q "$package" >/dev/null || true
    ls "$package"_*.orig.tar.* >/dev/null 2>&1
}

# With lists of its own: the system's packages stay those of its release.
fetch_stable() {
    scratch=$(mktemp -d)
    mkdir -p "$scratch/lists/partial" "$scratch/cache/archives/partial" "$scratch/parts"
    sed -e 's/^Types: .*/Types: deb-src/' -e 's/^Suites: .*/Suites: stable/' -e '/^$/,$d' $LIST >"$scratch/stable.sources"
    set -- -o Dir::Etc::sourcelist="$scratch/stable.sources" -o Dir::Etc::sourceparts="$scratch/parts" \
        -o Dir::State::lists="$scratch/lists" -o Dir::Cache="$scratch/cache"
    apt-get "$@" update -q >/dev/null
    fetch "$@"
}

mkdir -p "$2"
cd "$2"
fetch || fetch_stable
