#!/bin/sh
# forms.sh: the forms of our programs that need no LLVM, with estimates and without, read a profile, and say what they
# cannot do.
set -eu
cd "$(dirname "$0")/.."
CARGO=${CARGO:-cargo}
folder=${CARGO_TARGET_DIR:-target}/debug
empty=$(mktemp -d)
trap 'rm -r "$empty"' EXIT

for features in '' estimates; do
    "$CARGO" build --locked --no-default-features --features "$features" --bin p3-prof --bin p3-rewrite --examples
    for view in show 'coverage --all' 'export --format lcov' verify; do
        # shellcheck disable=SC2086
        set -- $view
        name=$1
        shift
        "$folder/p3-prof" "$name" "$@" testdata/reading/demo.p3prof >"$empty/$name" || { cat "$empty/$name"; exit 1; }
        test -s "$empty/$name"
    done
    status=0
    said=$(P3_ENGINES=$empty "$folder/p3-rewrite" testdata/cfg/attributes.ll -o "$empty/out" 2>&1) || status=$?
    [ "$status" = 2 ] && [ "$(printf '%s\n' "$said" | wc -l)" = 1 ] || { echo "status $status: $said"; exit 1; }
    echo "without LLVM${features:+, with $features}: $said"
done
