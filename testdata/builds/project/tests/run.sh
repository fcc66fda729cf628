# run.sh BUILD: the project's tests, on what was built in BUILD.
set -eu
equal() { [ "$1" = "$2" ] || { echo "expected $2, not $1" >&2; exit 1; }; }
build=$1
equal "$(printf 'one two\nthree\n' | "$build/count" | tr '\n' ' ')" '2 4 1 6 8 steps '
equal "$(printf 'a b c d e f g\n' | "$build/count" | tr '\n' ' ')" '5 2 8 steps '
equal "$("$build/count" --plugin "$build/libplugin.so" 9)" 'plugin 15'
equal "$("$build/area" 0 1 2 3 | tr '\n' ' ')" '1 2 15 no kind '
