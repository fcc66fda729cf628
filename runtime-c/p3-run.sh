#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds, runs and merges for the Makefile: sh p3-run.sh COMMAND, in the output folder.
#
# Whoever writes here holds .p3-lock: exclusively, but single copies and builds share it and hold a lock of their
# own besides. A second run waits, since after the first it is as good as alone. The locks are flock's, on a
# descriptor that all of a run inherits, the programs excepted: they end with the run, however it ends.
# shellcheck disable=SC2015 # `fail` ends the shell
set -u
OUT=$PWD
# Set by p3-launch.sh where this runs on behalf of another host: this one's name, and the folder of the run.
P3_HOST='' P3_RUN=''

say() {
    printf 'p3: %s\n' "${P3_HOST:+$P3_HOST: }$*" >&2
}

fail() {
    say "$*"
    exit 1
}

# Whether make is only to say what it would do.
dry() {
    flags=${MAKEFLAGS-}
    case ${flags%% *} in
    -* | *=*) return 1 ;;
    *[nqt]*) return 0 ;;
    *) return 1 ;;
    esac
}

# lock -x|-s FILE: holds FILE until this shell and what it started end.
lock() {
    if dry || [ "${P3_LOCK:-}" = no ]; then return; fi
    command -v flock >/dev/null ||
        fail "flock not found: install util-linux; or run one make at a time here, with P3_LOCK=no"
    (: >>"$2") 2>/dev/null || fail "cannot write to $OUT"
    exec 9>>"$2"
    flock -n "$1" 9 && return
    sleep 1
    flock -n "$1" 9 && return
    # A build does not take long.
    [ "$2" = obj/.lock ] || say "waiting for another make or p3-rewrite in $OUT"
    flock "$1" 9 || fail "cannot lock $OUT/$2"
}

# lock_folder -x|-s: what is written below must stay below.
lock_folder() {
    lock "$1" .p3-lock
    for name in obj bin run obj/* run/copy-* run/raw; do
        [ -L "$name" ] && fail "$OUT/$name is a symbolic link, and may lead out of the output folder: remove it"
    done
    return 0
}

whole() {
    [ -e manifest.json ] || fail "$OUT has no manifest.json: let p3-rewrite write it again"
}

# build MAKE TARGET
build() {
    lock_folder -s
    whole
    build_alone "$@"
}

# The same while nobody else builds.
build_alone() {
    mkdir -p obj || fail "cannot write to $OUT"
    (
        lock -x obj/.lock
        "$1" --no-print-directory "$2" </dev/null
    )
}

# The folder of copy $1. Names are of equal length, since a program may notice its folder's.
folder() {
    last=${P3_COPIES##* }
    printf "run/copy-%0${#last}d" "$1"
}

# The file $1 as the caller of make means it.
locate() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *)
        at=$P3_FROM/$1
        [ -e "$at" ] || [ ! -e "$OUT/$1" ] || at=$OUT/$1
        printf '%s\n' "$at"
        ;;
    esac
}

# Makes $1 the standard input of copies. `-` takes that of make.
input() {
    rm -f "$1" || fail "cannot write to $OUT"
    case ${STDIN:-} in
    "") ln -s /dev/null "$1" ;;
    -) cat >"$1" ;;
    *)
        file=$(locate "$STDIN")
        [ -r "$file" ] || fail "cannot read STDIN=$STDIN"
        ln -s "$file" "$1"
        ;;
    esac || fail "cannot write to $OUT/$1"
}

# Removes what an earlier run left of copy $1: a status that is there is of a run that came to its end.
reset() {
    dir=$(folder "$1")
    rm -f "$dir/status" "$dir/args" "$dir/program" "$dir/fixed_time.so" "$dir/host" "$dir/stdout" "$dir/stderr" \
        "$dir/stdin" && rm -rf "$dir/work" "$dir/raw" || fail "cannot write to $OUT/$dir"
}

# Prepares what all copies of a run share: a folder for raw profiles that no earlier run knows, since what is left
# of a killed one may still write to its own; and the command that fixes addresses.
prepare() {
    mkdir -p run/raw && P3_RAW=$(mktemp -d run/raw/XXXXXXXX) || fail "cannot write to $OUT"
    fix_addresses
    export P3_RAW
}

fix_addresses() {
    P3_SETARCH="setarch $(uname -m) -R"
    $P3_SETARCH true 2>/dev/null || {
        say "$P3_SETARCH does not work here: addresses will differ between copies"
        P3_SETARCH=
    }
    export P3_SETARCH
}

# Whether the shell can take $1 for words; it runs no command in them.
parses() {
    sh -n -c "set -- $1" 2>/dev/null
}

check_options() {
    case ${COMPARE:-} in
    "" | stdout | status | none) ;;
    *) fail "COMPARE=$COMPARE: choose stdout (with status), status or none" ;;
    esac
    case ${LAUNCH:-} in
    "" | local | parallel | slurm) ;;
    *) fail "LAUNCH=$LAUNCH: choose local, parallel (hosts by ssh) or slurm" ;;
    esac
    case ${ALLOW_STATUS:-} in
    *[!0-9\ ]*) fail "ALLOW_STATUS=$ALLOW_STATUS: an exit status is a number from 0 to 255" ;;
    esac
    parses "${ARGS:-}" || fail "ARGS=$ARGS: the shell cannot parse this"
    parses "${FILES:-}" || fail "FILES=$FILES: the shell cannot parse this"
}

# run MAKE: all copies, and the merge.
run() {
    check_options
    lock_folder -x
    whole
    "$1" --no-print-directory p3-all </dev/null || exit
    dry && return
    mkdir -p run && rm -rf run/raw || fail "cannot write to $OUT"
    for k in $P3_COPIES; do reset "$k"; done
    input run/stdin
    prepare
    trap stale EXIT
    if [ "${LAUNCH:-local}" != local ]; then
        . runtime/p3-launch.sh
        "launch_$LAUNCH"
        return
    fi
    # shellcheck disable=SC2046,SC2086 # numbers
    "$1" --no-print-directory $(printf 'p3-run-%s ' $P3_COPIES) </dev/null || exit
    rmdir "$P3_RAW" 2>/dev/null
    conclude
}

# run_one MAKE N: copy N alone.
run_one() {
    check_options
    lock_folder -s
    whole
    build_alone "$1" "bin/copy-$2" || exit
    if fixed_time; then build_alone "$1" obj/fixed_time.so || exit; fi
    dry && return
    dir=$(folder "$2")
    mkdir -p "$dir" || fail "cannot write to $OUT"
    (
        lock -x "$dir/.lock"
        reset "$2"
        input "$dir/stdin"
        prepare
        copy "$2" "$dir/stdin"
        rmdir "$P3_RAW" 2>/dev/null
        judge "$2"
    )
}

# train MAKE: copy 0 alone, for p3-rewrite, in a process group of its own. Standard input ends with the time that the
# run has, or with p3-rewrite, however that ends: then all of the group goes.
train() {
    # What runs in the background has no standard input of its own.
    exec 3<&0 </dev/null
    { cat <&3 && kill -KILL 0; } >/dev/null 2>&1 &
    exec 3<&-
    run_one "$1" 0
}

# copy N STDIN: runs copy N in a folder of its own, with copies of FILES. The program has the same name, arguments,
# environment and addresses in every copy. Whether it failed is for `judge` to say.
copy() {
    stage "$1"
    start "$1" "$2"
}

# What copy $1 needs in its folder.
stage() {
    dir=$OUT/$(folder "$1")
    exe=bin/copy-$1
    mkdir -p "$dir/work" && printf '%s\n' "${ARGS:-}" >"$dir/args" || fail "cannot write to $dir"
    copy_files "$dir/work" || fail "cannot copy FILES=$FILES"
    ln -f "$exe" "$dir/program" 2>/dev/null || cp "$exe" "$dir/program" || fail "cannot copy $exe"
}

# start N STDIN
start() {
    dir=$OUT/$(folder "$1")
    mkdir -p "$P3_RAW/$1" || fail "cannot write to $OUT/$P3_RAW"
    if fixed_time; then preload "$dir"; else preload=; fi
    (execute "$dir" "$OUT/$2")
    status=$?
    [ -z "$P3_RUN" ] || still_mine "$1"
    mv "$P3_RAW/$1" "$dir/raw" && echo $status >"$dir/status" ||
        fail "cannot write to $dir"
}

# FILES are words of the shell in the folder of who called make.
copy_files() {
    [ -n "${FILES:-}" ] || return 0
    (
        to=$1
        cd "$P3_FROM" 2>/dev/null || cd "$OUT" || exit
        eval "set -- $FILES"
        for file; do
            shift
            set -- "$@" "$(locate "$file")"
        done
        cp -RH -- "$@" "$to"
    )
}

fixed_time() {
    case ${FIXED_TIME:-} in
    "" | 0 | no) return 1 ;;
    esac
}

# The value of LD_PRELOAD: a path without what the loader would split it at, the same for all copies, in whatever folder
# other hosts run theirs.
preload() {
    dd if="$1/program" bs=8192 count=1 2>/dev/null | tr '\0' '\n' | LC_ALL=C grep -q '^/.*/ld[^/]*\.so' ||
        fail "FIXED_TIME=$FIXED_TIME: this program is linked statically, so its clock and random numbers cannot be replaced: link it dynamically"
    preload=$OUT/obj/fixed_time.so
    case ${P3_HOST:+:}$preload in
    *[[:space:]:\$]*)
        cp obj/fixed_time.so "$1/" || fail "cannot write to $1"
        # shellcheck disable=SC2016 # for the loader: the folder of the program
        preload='$ORIGIN/fixed_time.so'
        ;;
    esac
    preload=$preload${LD_PRELOAD:+:$LD_PRELOAD}
}

# execute FOLDER STDIN: becomes the program.
execute() {
    # %k is what differs, so that the text is the same for all copies.
    P3_PROFILE_FILE=$(printf '%s\n' "$OUT/$P3_RAW" | sed 's/%/%%/g')/%k/%p.p3raw
    export P3_PROFILE_FILE
    exec 9>&-
    cd "$1/work" || exit
    # shellcheck disable=SC2016 # for eval
    if [ -n "$preload" ]; then with='env LD_PRELOAD="$preload"'; else with=; fi
    command="$P3_SETARCH $with ../program ${ARGS:-}"
    unset ARGS STDIN FILES ALLOW_STATUS COMPARE FIXED_TIME MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES \
        MAKE_TERMOUT MAKE_TERMERR PWD OLDPWD LAUNCH HOSTS HOSTFILE SHARED PARALLEL_FLAGS SBATCH_FLAGS \
        P3_COPIES P3_FROM P3_HOST P3_LOCK P3_PROF P3_PROFILE P3_RAW \
        P3_RUN P3_SETARCH P3_TOP
    eval "exec $command" <"$2" >../stdout 2>../stderr
}

# judge N…: whether these copies ended as they should.
judge() {
    failed=0 alike=yes
    for k; do
        dir=$(folder "$k")
        [ -e "$dir/status" ] || fail "copy $k has not run to its end: make run-$k"
        read -r status <"$dir/status"
        accepted "$status" && continue
        failed=$((failed + 1))
        if [ $failed = 1 ]; then
            first=$k code=$status stderr=$dir/stderr
        elif [ "$status" != "$code" ] || ! cmp -s "$stderr" "$dir/stderr"; then
            alike=no
        fi
    done
    [ $failed = 0 ] || explain "$#"
}

accepted() {
    for allowed in 0 ${ALLOW_STATUS:-}; do
        [ "$1" = "$allowed" ] && return
    done
    return 1
}

# explain COPIES: what is known of copies that failed, the likeliest remedy first.
explain() {
    who="copy $first$(on "$first")"
    if [ "$failed" -gt 1 ] && [ "$failed" = "$1" ] && [ "$alike" = yes ]; then who="every copy"; fi
    none=
    [ -n "${ARGS:-}" ] || none="it ran without arguments (ARGS='…' gives it some); "
    files="${none}copies run in folders of their own, so name the files that it reads in FILES='…' (its input: STDIN=file)"
    allow="if that is how it ends on this input, accept it by ALLOW_STATUS=$code"
    if [ "$failed" != "$1" ]; then
        say "$who ended with status $code$(signal "$code"), and $(($1 - failed)) of $1 copies did not fail; $(stderr_ends)"
        tail -n 10 "$stderr" >&2
        say "the copies do not run alike: $(unlike)"
    elif [ "$code" -gt 128 ]; then
        say "$who ended with status $code$(signal "$code"); $(stderr_ends)"
        tail -n 10 "$stderr" >&2
        say "if the untouched program ends like this as well (make -C $OUT native, then $OUT/bin/native), ALLOW_STATUS=$code accepts it"
    elif [ -s "$stderr" ]; then
        say "$who ended with status $code; its stderr ends:"
        tail -n 10 "$stderr" >&2
        say "$files; $allow"
    else
        say "$who ended with status $code and an empty stderr"
        say "$allow; otherwise: $files"
    fi
    exit "$code"
}

# Where copy $1 ran, if that was elsewhere.
on() {
    [ ! -s "$(folder "$1")/host" ] || printf ' on %s' "$(cat "$(folder "$1")/host")"
}

stderr_ends() {
    if [ -s "$stderr" ]; then echo 'its stderr ends:'; else echo 'its stderr is empty'; fi
}

signal() {
    [ "$1" -le 128 ] || echo " (signal $(($1 - 128)))"
}

unlike() {
    if fixed_time; then
        echo "it depends on more than its input, as on its process id, on addresses, on threads or on files outside"
    else
        echo "if it reads the time or random numbers, FIXED_TIME=1 gives all of them the same"
    fi
}

# Every copy must have done what the first one did.
compare() {
    case ${COMPARE:-} in
    none) what=args ;;
    status) what='args status' ;;
    *) what='args stdout status' ;;
    esac
    one=$(folder "${P3_COPIES%% *}")
    for k in $P3_COPIES; do
        other=$(folder "$k")
        for of in $what; do
            cmp -s "$one/$of" "$other/$of" && continue
            say "copies ${P3_COPIES%% *}$(on "${P3_COPIES%% *}") and $k$(on "$k") differ in their $of; did both run the same way?"
            diff "$one/$of" "$other/$of" | head -n 5 >&2
            [ "$of" = args ] || say "$(unlike); COMPARE=none merges all the same"
            exit 1
        done
    done
}

# Judges, compares and merges what the copies left.
conclude() {
    # shellcheck disable=SC2086 # numbers
    judge $P3_COPIES
    compare
    have_prof
    # shellcheck disable=SC2046 # names of ours
    "$P3_PROF" merge -m manifest.json -o "$P3_PROFILE" $(for k in $P3_COPIES; do echo "$(folder "$k")/raw"; done)
}

# Says so where the merged profile is of an earlier run than the one that copies have ended since.
stale() {
    [ -e "$P3_PROFILE" ] || return 0
    for k in $P3_COPIES; do
        ended=$(find "$(folder "$k")/status" -newer "$P3_PROFILE" 2>/dev/null)
        [ -n "$ended" ] || continue
        say "$P3_PROFILE is of an earlier run; later runs are not merged"
        return 0
    done
}

have_prof() {
    command -v "$P3_PROF" >/dev/null || fail "$P3_PROF not found: set P3_PROF to its path"
}

merge() {
    check_options
    lock_folder -x
    whole
    dry && return
    trap stale EXIT
    conclude
}

# For hosts that run part of a run, in its environment.
elsewhere() {
    . runtime/p3-launch.sh
    "$@"
}

report() {
    have_prof
    dry && return
    stale
    # shellcheck disable=SC2086 # no word or two
    "$P3_PROF" show "$P3_PROFILE" ${P3_TOP:+--top "$P3_TOP"}
}

# Deletes what the list says that make wrote, and folders that are then empty.
clean() {
    lock_folder -x
    dry && return
    set --
    while IFS= read -r name; do
        case $name in
        *..*) ;;
        run/*/) rm -rf "${name%/}" ;;
        obj/* | bin/* | run/* | profile.p3prof) set -- "$@" "$name" "$name.part" ;;
        esac
    done <.p3-files
    rm -f -- "$@"
    rmdir run/copy-* run obj/* obj bin 2>/dev/null
    return 0
}

"$@"
