# residual.sh [NAME...]: ten runs of each of five programs (testdata/kernels), each built against those before it
# (--paths new:), beside ten runs of a build that counts all paths. What a residual run calls new must be the paths of
# whole run n without those of the whole runs before it, with the same counts. Prints how many are new in each run;
# status 1 at the first difference. Builds and profiles stay in projects/residual/. BIN: p3-rewrite and p3-prof. SCHEME
# (p3-hot), COPIES (4): of the residual runs.
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
OUT=$ROOT/projects/residual
BIN=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}
SCHEME=${SCHEME:-p3-hot}
COPIES=${COPIES:-4}
PATH=$BIN:$PATH
export PATH LC_ALL=C

# inputs NAME: arguments of ten runs, the last as the first.
inputs() {
    case $1 in
    compress) echo '50 1;600 1;3000 1;20000 1;40000 2;90000 1;1 3;400 2;200000 1;50 1' ;;
    matcher) echo '1 1;50 1;300 1;900 1;2000 2;4000 1;9000 1;60 3;15000 1;1 1' ;;
    huffman) echo '1 1;2 1;90 1;400 1;3000 2;10000 1;30000 1;7 3;90000 1;1 1' ;;
    parser) echo '1 1;2 1;5 1;10 1;20 2;40 1;80 1;4 3;200 1;1 1' ;;
    connect_four) echo '1 1;2 1;3 1;4 1;5 1;6 1;3 2;7 1;8 1;1 1' ;;
    *) echo "residual.sh: $1: no such program" >&2; exit 2 ;;
    esac
}

# build FOLDER OPTION...: the program in a folder of its own, by our compilers.
build() (
    mkdir -p "$1"
    cd "$1"
    shift
    rm -f prog
    p3-rewrite build -q -o p3 "$@" -- sh -c "\$$compiler -O2 -g -o prog $source" 2>>../log
)

# run FOLDER WORD...: runs it once in each copy.
run() (
    cd "$1"
    shift
    p3-rewrite suite -o p3 --keep "$PWD-runs/" -- ./prog "$@" >>../log 2>&1
)

# The function, id and count of each path in a table.
paths() { tail -n +2 | cut -d, -f2-4 | sort; }

# Those whose function and id are not in the file `known`.
unknown() { awk -F, 'BEGIN { while ((getline line <"known") > 0) known[line] = 1 } !(($1 "," $2) in known)'; }

one() {
    source=$(ls "$ROOT/testdata/kernels/$1".c*)
    case $source in *.cpp) compiler=CXX ;; *) compiler=CC ;; esac
    rm -rf "$OUT/$1"
    mkdir -p "$OUT/$1"
    cd "$OUT/$1"
    build whole --scheme sbl -k 1
    number=0 line=
    : >known
    while [ $number -lt 10 ]; do
        number=$((number + 1))
        words=$(inputs "$1" | cut -d';' -f$number)
        # shellcheck disable=SC2086
        run whole $words
        p3-prof show whole/p3 --format csv 2>>log | paths | unknown >expected
        build residual --scheme "$SCHEME" -k "$COPIES" --paths "new:$PWD/residual-runs/"
        # shellcheck disable=SC2086
        run residual $words
        p3-prof coverage residual/p3 --new --all --format csv 2>>log | paths >found
        if ! cmp -s expected found; then
            echo "$1, run $number ($words): new paths differ (-: of whole runs, +: of residual ones)" >&2
            diff -u expected found | tail -n +3 >&2 || true
            exit 1
        fi
        cut -d, -f1-2 expected >>known
        line="$line $(wc -l <found)"
    done
    # shellcheck disable=SC2086
    printf '%-14s%s\n' "$1" "$(printf ' %6s' $line)"
}

printf '%-14s%s\n' program "$(printf ' %6s' 1 2 3 4 5 6 7 8 9 10)"
for name in ${@:-compress matcher huffman parser connect_four}; do
    (one "$name") || exit 1
done
