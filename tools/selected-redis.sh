# selected-redis.sh, read by selected.sh: redis from Debian's sources under Debian's fix of CVE-2025-32023. Built
# natively, with everything counted, and with the paths through the fix alone, in turns. ROUNDS (1): of builds, of which
# the fastest counts; JOBS (2): of make. What it leaves in projects/selected/redis: trees, logs, and times.tsv (build,
# round, seconds of user and system). What was built for a round is not built again.
FIX=0006-CVE-2025-32023.patch

# redis_tree NAME: the sources with Debian's patches, as they were before any build; $at/fix.diff.
redis_tree() {
    rm -rf "${at:?}/$1" && mkdir "$at/$1"
    tar -xf "$(ls "$OUT"/src/redis_*.orig.tar.*)" -C "$at/$1" --strip-components 1
    tar -xf "$(ls "$OUT"/src/redis_*.debian.tar.*)" -C "$at/$1"
    grep -v '^#' "$at/$1/debian/patches/series" | while read -r patch; do
        patch -s -d "$at/$1" -p1 <"$at/$1/debian/patches/$patch" >/dev/null
    done
    cp "$at/$1/debian/patches/$FIX" "$at/fix.diff"
}

# redis_build NAME ROUND: appends to times.tsv
redis_build() {
    ! grep -qs "^$1	$2	" "$at/times.tsv" || return 0
    redis_tree "$1"
    set -- "$1" "$2" make -s "-j${JOBS:-2}" MALLOC=libc redis-server redis-cli
    name=$1 round=$2
    shift 2
    case $name in
    native) set -- "$@" "CC=clang-$LLVM" ;;
    everything) set -- p3-rewrite build -k 1 -o p3 -- "$@" ;;
    patch) set -- p3-rewrite build -k 1 -o p3 --patch ../fix.diff -- "$@" ;;
    esac
    (cd "$at/$name" && P3_ALIGN=0 bash -c 'TIMEFORMAT="%U %S"; time "$@" >build.log 2>&1' - "$@") 2>"$at/$name.time" ||
        { tail -n 3 "$at/$name/build.log" >&2; return 1; }
    awk -v name="$name" -v round="$round" '{ printf "%s\t%s\t%.1f\n", name, round, $1 + $2 }' "$at/$name.time" >>"$at/times.tsv"
}

# Commands of all kinds of values, those of the fix among them; the same each time.
redis_commands() {
    awk 'BEGIN {
        for (i = 0; i < 600; i++) {
            k = i * 7919 % 503
            print "SET s" k, "value" i; print "GET s" k; print "INCR n" k % 50; print "LPUSH l" k % 20, "item" i
            print "HSET h" k % 30, "f" i % 90, i; print "ZADD z" k % 10, i % 977, "m" k; print "SADD t" k % 10, i
            print "PFADD p" k % 5, "e" i % 400
            if (i % 100 == 0) print "PFCOUNT p0 p1"
        }
        print "LRANGE l3 0 -1"; print "SORT t1"; print "SINTER t1 t2"; print "ZRANGEBYSCORE z3 100 800"; print "HGETALL h4"
        print "PFMERGE m p0 p1 p2"; print "PFDEBUG TODENSE m"; print "PFCOUNT m"
    }'
}

# redis_served PREFIX…: a server under a command such as valgrind has answered the commands, and ended.
redis_served() {
    port=$((7000 + $$ % 1000))
    client="$at/native/src/redis-cli -p $port"
    "$@" --port $port --bind 127.0.0.1 --save '' --activerehashing no --daemonize no --dir "$at" >"$at/server.log" 2>&1 &
    server=$!
    tries=0
    until $client ping >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { echo 'redis-server does not answer' >&2; return 1; }
        sleep 0.2
    done
    $client <"$at/commands" >"$at/answers"
    $client shutdown nosave >/dev/null 2>&1 || true
    wait $server || true
}

# redis_instructions NAME: what the server executes to read commands and carry them out. Its clock does not count.
redis_instructions() {
    strip -g -o "$at/$1/bare" "$at/$1/src/redis-server"
    export P3_PROFILE_FILE="$at/$1/raw/%p.p3raw"
    redis_served valgrind -q --tool=callgrind --toggle-collect=readQueryFromClient --callgrind-out-file="$at/$1/callgrind" "$at/$1/bare"
    unset P3_PROFILE_FILE
    awk '/^totals:/ { n += $2 } END { print n }' "$at/$1/callgrind"
}

# redis_suite NAME: seconds of a part of redis's own tests, with the test of the fix; the least of SUITES (3) runs in
# turns is shown.
redis_suite() {
    (
        cd "$at/$1"
        tests='--clients 1 --single unit/hyperloglog --single unit/type/hash --single unit/type/set'
        # shellcheck disable=SC2086
        bash -c 'TIMEFORMAT=%R; time ./runtest "$@" >suite.log 2>&1' - $tests 2>>"$at/$1.suite"
        grep -q 'All tests passed' suite.log || { tail -n 3 suite.log >&2; return 1; }
    )
}

redis() {
    sh tools/fetch.sh redis "$OUT/src" debian
    at=$OUT/redis
    mkdir -p "$at"
    redis_commands >"$at/commands"
    for round in $(seq "${ROUNDS:-1}"); do
        for name in native everything patch; do redis_build $name "$round"; done
    done
    rm -f "$at"/*.suite
    for _ in $(seq "${SUITES:-3}"); do
        for name in native everything patch; do redis_suite $name; done
    done
    echo '| redis-server | build, CPU s | code (.text), kB | file, kB | instructions, millions | over native | suite, s |'
    echo '|---|---:|---:|---:|---:|---:|---:|'
    base=
    for name in native everything patch; do
        program=$at/$name/src/redis-server
        built=$(awk -v name=$name '$1 == name && (!least || $3 < least) { least = $3 } END { print least }' "$at/times.tsv")
        text=$(size -A "$program" | awk '$1 == ".text" { printf "%d", $2 / 1000 }')
        file=$(($(stat -c %s "$program") / 1000))
        n=$(redis_instructions $name)
        base=${base:-$n}
        suite=$(sort -n "$at/$name.suite" | head -n 1)
        echo "| $name | $built | $text | $file | $((n / 1000000)) | $(over "$n") | $suite |"
    done
}
