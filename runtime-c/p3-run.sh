# Runs copies for the Makefile: sh p3-run.sh input | copy N | compare N…
set -u

fail() {
    echo "p3: $*" >&2
    exit 1
}

# The file $1 as the caller of make means it.
locate() {
    case $1 in
    /*) echo "$1" ;;
    *) if [ -e "$P3_FROM/$1" ]; then echo "$P3_FROM/$1"; else echo "$PWD/$1"; fi ;;
    esac
}

# The standard input of all copies: run/stdin. `-` takes that of make, once.
input() {
    mkdir -p run && rm -f run/stdin || fail "cannot write to $PWD/run"
    case ${STDIN:-} in
    "") ln -s /dev/null run/stdin ;;
    -) cat >run/stdin ;;
    *) file=$(locate "$STDIN")
        [ -r "$file" ] || fail "cannot read STDIN=$STDIN"
        ln -s "$file" run/stdin ;;
    esac
}

# Copy $1 in a folder of its own. The program has the same name, arguments, environment and
# addresses (setarch -R) in every copy.
copy() {
    dir=$PWD/run/copy-$1
    exe=$PWD/bin/copy-$1
    rm -rf "$dir" && mkdir -p "$dir/work" || fail "cannot write to $dir"
    for file in ${FILES:-}; do
        cp -R "$(locate "$file")" "$dir/work/" || fail "cannot copy FILES=$file"
    done
    ln -f "$exe" "$dir/program" 2>/dev/null || cp "$exe" "$dir/program" || fail "cannot copy $exe"
    fixed=
    if setarch "$(uname -m)" -R true 2>/dev/null; then fixed="setarch $(uname -m) -R"; fi
    (
        P3_PROFILE_FILE=$PWD/run/copy-%k/raw-%p.p3raw
        export P3_PROFILE_FILE
        stdin=$PWD/run/stdin
        cd "$dir/work" || exit 1
        unset STDIN FILES ALLOW_STATUS P3_FROM MAKEFLAGS MFLAGS MAKELEVEL PWD OLDPWD
        eval "unset ARGS; exec $fixed ../program ${ARGS:-}" <"$stdin" >../stdout 2>../stderr
    )
    status=$?
    echo $status >"$dir/status"
    [ "$status" = 0 ] && return
    for allowed in ${ALLOW_STATUS:-}; do
        [ "$status" = "$allowed" ] && return
    done
    {
        echo "p3: copy $1 ended with status $status$(signal "$status"); its stderr ends:"
        tail -n 10 "$dir/stderr"
        echo "p3: ALLOW_STATUS=$status accepts this status"
    } >&2
    exit "$status"
}

signal() {
    [ "$1" -gt 128 ] && echo " (signal $(($1 - 128)))"
}

# Every copy must have done what the first one did.
compare() {
    first=$1
    shift
    for k; do
        for what in stdout status; do
            cmp -s "run/copy-$first/$what" "run/copy-$k/$what" && continue
            echo "p3: copies $first and $k differ in their $what; did both run the same way?" >&2
            diff "run/copy-$first/$what" "run/copy-$k/$what" | head -n 5 >&2
            exit 1
        done
    done
}

"$@"
