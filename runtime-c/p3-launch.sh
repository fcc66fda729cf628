# SPDX-License-Identifier: MIT OR Apache-2.0
# LAUNCH=parallel, slurm: copies that run elsewhere. Read by p3-run.sh, on the host of `make run` and on those that it
# uses.
#
# $P3_RAW is the folder of the run, and only that of the newest run is there: what an older one has left in a queue
# finds no start in it. Each attempt at a copy has a folder of its own inside, so that one that was cut short, as on a
# node that failed, adds nothing to the next.
# shellcheck shell=sh disable=SC2015 # `fail` ends the shell

# Writes the script that runs p3-run.sh elsewhere in this environment, whole: ssh and batch systems add variables that
# differ between copies. It may hold secrets.
write_start() {
    (
        mask=$(umask)
        umask 077
        {
            echo "umask $mask"
            # shellcheck disable=SC2016 # for awk
            awk 'BEGIN {
                for (name in ENVIRON) {
                    if (name !~ /^[A-Za-z_][A-Za-z0-9_]*$/) continue
                    value = ENVIRON[name]
                    gsub(/\047/, "\047\\\047\047", value)
                    printf "export %s=\047%s\047\n", name, value
                }
            }'
            # shellcheck disable=SC2016 # for the script
            echo 'exec sh runtime/p3-run.sh elsewhere "$@"'
        } >"$P3_RAW/start"
    ) || fail "cannot write to $OUT/$P3_RAW"
    # shellcheck disable=SC2016 # for the shell there
    START='exec env -i PATH="$PATH" sh '$P3_RAW/start
}

# is_on HOST COPY: names this host in messages, and in the folder of the copy.
is_on() {
    P3_HOST=$1
    case $P3_HOST in "" | :) P3_HOST=$(uname -n) ;; esac
    mkdir -p "$(folder "$2")" && echo "$P3_HOST" >"$(folder "$2")/host" || fail "cannot write to $OUT/$(folder "$2")"
    fix_addresses
}

# task N HOST: copy N, in a folder that hosts share.
task() {
    P3_RUN=$P3_RAW
    P3_RAW=$(mktemp -d "$P3_RUN/XXXXXXXX") && echo "$P3_RAW ${2:-$(uname -n)}" >"$P3_RUN/copy-$1" ||
        fail "cannot write to $OUT/$P3_RUN on $(uname -n)"
    reset "$1"
    is_on "$2" "$1"
    copy "$1" run/stdin
}

# Whether this is the newest attempt at copy $1. An older one may run on, on a host that was given up.
still_mine() {
    read -r newest _ 2>/dev/null <"$P3_RUN/copy-$1"
    [ "${newest:-}" = "$P3_RAW" ] && [ ! -e "$(folder "$1")/raw" ] ||
        fail "copy $1 was started once more meanwhile: this attempt does not count"
}

# sent N HOST ARCHIVE: copy N, in a folder that was sent here; what it leaves goes back in ARCHIVE.
sent() {
    is_on "$2" "$1"
    start "$1" "$(folder "$1")/stdin"
    tar -cf "$3.part" -C "$(folder "$1")" args host raw status stderr stdout work && mv "$3.part" "$3" ||
        fail "cannot write $3"
}

# Packs what copy $1 needs: all that lies in its folder, as `sent` expects it.
pack() {
    stage "$1"
    dir=$(folder "$1")
    if [ "$(readlink run/stdin)" = /dev/null ]; then ln -s /dev/null "$dir/stdin"; else cp run/stdin "$dir/stdin"; fi &&
        (
            umask 077
            to=$P3_RAW/$1.tar
            set -- "$dir" "$P3_RAW/start" runtime/p3-run.sh runtime/p3-launch.sh
            if fixed_time; then set -- "$@" obj/fixed_time.so; fi
            tar -cf "$to" "$@"
        ) || fail "cannot write $OUT/$P3_RAW/$1.tar"
    reset "$1"
}

# Unpacks what copy $1 left.
unpack() {
    [ ! -e "$P3_RAW/$1.tar.back" ] ||
        { mkdir -p "$(folder "$1")" && tar -xf "$P3_RAW/$1.tar.back" -C "$(folder "$1")"; } ||
        fail "cannot unpack $OUT/$P3_RAW/$1.tar.back"
}

# Copies on hosts, one at a time on each unless PARALLEL_FLAGS says otherwise.
launch_parallel() {
    parallel --version 2>/dev/null </dev/null | grep -q 'GNU parallel' ||
        fail "LAUNCH=parallel: GNU parallel not found: install it (Debian: parallel)"
    if [ -n "${HOSTFILE:-}" ]; then
        hosts=$(locate "$HOSTFILE")
        [ -r "$hosts" ] || fail "cannot read HOSTFILE=$HOSTFILE"
        cp "$hosts" "$P3_RAW/hosts"
    elif [ -n "${HOSTS:-}" ]; then
        # shellcheck disable=SC2086 # words
        (set -f && printf '%s\n' $HOSTS >"$P3_RAW/hosts")
    else
        fail "LAUNCH=parallel: name the hosts: HOSTS='node1 node2', or HOSTFILE=file with a host a line"
    fi || fail "cannot write to $OUT/$P3_RAW"
    write_start
    parses "${PARALLEL_FLAGS:-}" || fail "PARALLEL_FLAGS=$PARALLEL_FLAGS: the shell cannot parse this"
    eval "set -- ${PARALLEL_FLAGS:-}"
    # Without what the user has set for parallel in general.
    set -- --plain --jobs 1 --sshloginfile "$P3_RAW/hosts" --joblog "$P3_RAW/jobs" "$@"
    case ${SHARED:-} in
    "" | 0 | no)
        command -v rsync >/dev/null || fail "LAUNCH=parallel: rsync not found: install it here and on the hosts, or share this folder: SHARED=1"
        for k in $P3_COPIES; do pack "$k"; done
        # Folders of equal length on all hosts, which parallel's are not. `:` is this host without ssh, where nothing is
        # sent. shellcheck disable=SC2016 # for the shell there
        there="sh -c 'case \${PARALLEL_SSHLOGIN-} in :) from=\$3 ;; *) from=\$PWD ;; esac
            at=\$(mktemp -d \"\${TMPDIR:-/tmp}/p3-XXXXXXXX\") || exit
            trap \"cd / && rm -rf \\\"\$at\\\"\" EXIT
            trap \"exit 1\" HUP INT TERM
            cd \"\$at\" && tar -xf \"\$from/\$1\" && ($START sent \"\$2\" \"\${PARALLEL_SSHLOGIN-}\" \"\$from/\$1.back\") </dev/null' sh {1} {2} {3}"
        # With permissions, which parallel's own options for rsync leave out.
        export PARALLEL_RSYNC_OPTS="${PARALLEL_RSYNC_OPTS:--rlpDzR}"
        # shellcheck disable=SC2046,SC2086 # numbers
        parallel "$@" --workdir ... --transferfile '{1}' --return '{1}.back' --cleanup "$there" \
            ::: $(printf "$P3_RAW/%s.tar " $P3_COPIES) :::+ $P3_COPIES ::: "$OUT" </dev/null
        for k in $P3_COPIES; do unpack "$k"; done
        ;;
    *)
        # shellcheck disable=SC2016,SC2086 # for the shell there; numbers
        parallel "$@" "sh -c 'cd \"\$1\" && $START task \"\$2\" \"\${PARALLEL_SSHLOGIN-}\" </dev/null' sh {1} {2}" \
            ::: "$OUT" ::: $P3_COPIES </dev/null
        ;;
    esac
    lost=$(lost)
    # shellcheck disable=SC2086 # numbers
    [ -z "$lost" ] || explain_hosts $lost
    conclude
    rm -rf "$P3_RAW"
}

# The copies that have not come to their end.
lost() {
    for k in $P3_COPIES; do
        [ -e "$(folder "$k")/status" ] || printf '%s ' "$k"
    done
}

# explain_hosts N…: why these copies have not come to their end.
explain_hosts() {
    # shellcheck disable=SC2016 # for awk
    job=$(awk -F '\t' -v "job=$(($1 + 1))" '$1 == job { found = $2 " " $7 } END { print found }' "$P3_RAW/jobs" 2>/dev/null)
    host=${job% *}
    who=$(and_more "$@")
    again="then make run again, or run it here (make run-$1, then make merge)"
    case $job in
    "") fail "$who was not started: GNU parallel says why above; $again" ;;
    *" 255") fail "$who was lost on $host: see whether ssh $host works, take it out of HOSTS, or let others take over by PARALLEL_FLAGS='--retries 3'; $again" ;;
    *) fail "$who has not come to its end on $host (status ${job##* }): see above, or take it out of HOSTS; $again" ;;
    esac
}

and_more() {
    if [ $# = 1 ]; then echo "copy $1"; else echo "copy $1 (and $(($# - 1)) more)"; fi
}

# Copies as an array of jobs, and the merge as one that depends on them.
launch_slurm() {
    command -v sbatch >/dev/null || fail "LAUNCH=slurm: sbatch not found: run make where jobs are submitted"
    write_start
    parses "${SBATCH_FLAGS:-}" || fail "SBATCH_FLAGS=$SBATCH_FLAGS: the shell cannot parse this"
    eval "set -- ${SBATCH_FLAGS:-}"
    refused="sbatch refuses the job: see above; options for this cluster go to SBATCH_FLAGS"
    array=$(sbatch "$@" --parsable --job-name=p3-copies --chdir="$OUT" --array="0-${P3_COPIES##* }" \
        --output="$P3_RAW/copy-%a.out" --wrap "$START task \"\$SLURM_ARRAY_TASK_ID\" \"\${SLURMD_NODENAME-}\"") ||
        fail "$refused"
    array=${array%%;*}
    # What waits in the background lets a signal through.
    trap 'scancel "$array"; kill $! 2>/dev/null; exit 130' HUP INT TERM
    while :; do
        sbatch "$@" --parsable --wait --job-name=p3-merge --chdir="$OUT" --dependency="afterok:$array" \
            --kill-on-invalid-dep=yes --output="$P3_RAW/merge.out" --wrap "$START merge_task" >"$P3_RAW/merge-job" &
        wait $!
        status=$?
        if [ $status != 0 ] && [ ! -s "$P3_RAW/merge-job" ]; then
            scancel "$array"
            fail "$refused"
        fi
        # Slurm gives up a job that depends on a task which it starts again, or which failed while others run on.
        [ -n "$(lost)" ] && [ -n "$(squeue -h -j "$array" 2>/dev/null)" ] || break
        sleep 2
    done
    trap - HUP INT TERM
    [ ! -e "$P3_RAW/merge.out" ] || cat "$P3_RAW/merge.out" >&2
    # A job that was cancelled since what it depends on failed ends with 0.
    if [ ! -e "$P3_RAW/merged" ]; then
        lost=$(lost)
        # shellcheck disable=SC2086 # numbers
        [ -z "$lost" ] || explain_tasks $lost
        [ -e "$P3_RAW/merge.out" ] || fail "job $(cat "$P3_RAW/merge-job") did not run, but all copies have: make merge"
        [ "$status" = 0 ] || exit "$status"
        fail "job $(cat "$P3_RAW/merge-job") was cancelled: make merge"
    fi
    rm -rf "$P3_RAW"
}

# The job that merges.
merge_task() {
    conclude && echo >"$P3_RAW/merged"
}

# explain_tasks N…
explain_tasks() {
    where="job ${array}_$1"
    if read -r _ host 2>/dev/null <"$P3_RAW/copy-$1"; then where="$where on $host"; fi
    [ ! -e "$P3_RAW/copy-$1.out" ] || tail -n 3 "$P3_RAW/copy-$1.out" >&2
    fail "$(and_more "$@") has not come to its end ($where): make run again, or run it here (make run-$1, then make merge)"
}
