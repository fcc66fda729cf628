#!/bin/sh
# lcov2.sh FOLDER: the lcov of Debian 13 (2.x) in FOLDER, on Debian 12 (whose lcov is 1.16). Its genhtml is
# FOLDER/genhtml.
#
# lcov is Perl, so the package of another release runs here: it is unpacked and not installed. It comes from the mirror
# that apt is configured with, by a list of sources of its own, and its signature is checked by Debian's keys. Set
# LCOV2_SUITE to take another release of Debian than trixie.
set -eu

suite=${LCOV2_SUITE:-trixie}
at=$(mkdir -p "$1" && cd "$1" && pwd)
[ -x "$at/genhtml" ] && exit 0

# Modules of Perl that lcov 2 uses: those of this release do.
missing=
for module in Capture::Tiny DateTime Date::Parse JSON::XS GD; do
    perl "-M$module" -e 1 2>/dev/null || missing=yes
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi
    $sudo apt-get update -q
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends \
        libcapture-tiny-perl libdatetime-perl libtimedate-perl libjson-xs-perl libgd-perl
fi

release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' | sed -n "s/^$release //p" | sed 1q)
[ -n "$mirror" ] || { echo "lcov2: apt knows no mirror of $release; run: apt-get update" >&2; exit 1; }

state=$at/apt
rm -rf "$state"
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/parts"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$state/sources.list"
apt() {
    apt-get -q -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts="$state/parts" \
        -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Sandbox::User=root "$@"
}
apt update >"$state/log" 2>&1 || { cat "$state/log" >&2; exit 1; }
(cd "$state" && apt download lcov && dpkg -x lcov_*.deb "$at/lcov")
rm -rf "$state"

cat >"$at/genhtml.new" <<END
#!/bin/sh
PERL5LIB="$at/lcov/usr/lib/lcov:$at/lcov/usr/share/perl5\${PERL5LIB:+:\$PERL5LIB}" exec perl "$at/lcov/usr/bin/genhtml" "\$@"
END
chmod +x "$at/genhtml.new"
"$at/genhtml.new" --version
mv "$at/genhtml.new" "$at/genhtml"
