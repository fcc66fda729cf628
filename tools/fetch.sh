# fetch.sh PACKAGE FOLDER [debian]: the upstream archives of a Debian source package into a folder, unless they are there. Sources
# come from where packages do; the entry that says so goes again. Debian's changes, which a mirror may lack, are fetched only if
# `debian` is given.
set -eu
whole=${3-}
ls "$2/$1"_*.orig.tar.* >/dev/null 2>&1 && { [ -z "$whole" ] || ls "$2/$1"_*.debian.tar.* >/dev/null 2>&1; } && exit
[ -n "$whole" ] || only=--tar-only

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
ENTRY=/etc/apt/sources.list.d/p3-sources.sources
forget() { [ ! -e "$ENTRY" ] || $sudo rm "$ENTRY"; }
if ! grep -qs "^Types:.*deb-src" /etc/apt/sources.list.d/*.sources; then
    trap forget EXIT
    sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources | $sudo tee "$ENTRY" >/dev/null
    $sudo apt-get update -q >/dev/null
fi
mkdir -p "$2"
(cd "$2" && { apt-get source ${only-} --download-only -q "$1" >/dev/null || ls "$1"_*.orig.tar.* >/dev/null; })
