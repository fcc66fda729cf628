#!/bin/bash
# start.sh [MODULES...]: what a copy adds to short processes. Programs of so many modules (1, 100 and 400) are made,
# built in one copy, and run TIMES times (200) natively and as a copy, whose processes take over one file:
#   start   it begins and ends
#   calls   it calls a function of each module before it ends
#   fork    a forked child, of 100 of one process, that ends at once
#   exec    a child that runs /bin/true
# Prints the least wall time of each in microseconds, and system calls of a start where there is strace.
#
# Programs stay in bench-out/start. BIN: the folder of p3-rewrite's programs.
set -eu
cd "$(dirname "$0")/.."
ROOT=$PWD
OUT=${OUT:-$ROOT/bench-out/start}
LLVM=$(sh tools/llvm.sh main)
PATH=${BIN:-${CARGO_TARGET_DIR:-$ROOT/target}/release}:$PATH
TIMES=${TIMES:-200}
export PATH
[ $# -gt 0 ] || set -- 1 100 400

# make_program N: main and N - 1 modules of twenty functions
make_program() {
    awk -v n="$1" 'BEGIN {
        for (i = 1; i < n; i++) {
            file = "m" i ".c"
            for (j = 0; j < 20; j++) {
                printf "int f%d_%d(int x) { int s = %d; ", i, j, j > file
                printf "for (int k = 0; k < x; k++) { if (k %% 3 == 0) s += k; else if (k & 1) s ^= x; } " > file
                printf "return x > %d ? s + 7 : s; }\n", i > file
            }
            close(file)
        }
        file = "main.c"
        print "#include <sys/wait.h>\n#include <unistd.h>" > file
        for (i = 1; i < n; i++) print "int f" i "_0(int);" > file
        print "int main(int argc, char **argv) {\n    int s = 0, way = argc > 1 ? argv[1][0] : 0;\n    if (way == 99) {" > file
        for (i = 1; i < n; i++) print "        s += f" i "_0(argc);" > file
        print "    }\n    for (int i = 0; i < 100 && (way == 102 || way == 101); i++) {" > file
        print "        if (fork() == 0) {\n            if (way == 101) execl(\"/bin/true\", \"true\", (char *)0);" > file
        print "            _exit(0);\n        }\n        wait(0);\n    }\n    return s == -12345;\n}" > file
    }'
    printf 'prog: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\t$(CC) $(CFLAGS) -o $@ $^\n' >Makefile
}

# measure WAY PROGRAM: the least time of one
measure() {
    times=$TIMES parts=1
    case $1 in fork | exec) times=$(((TIMES + 19) / 20)) parts=100 ;; esac
    rm -rf raw
    P3_PROFILE_FILE=$PWD/raw/%k-%m.p3raw "$OUT/loop" "$times" "$2" "$1" | awk -v parts=$parts '{ printf "%.0f\n", $1 / parts }'
}

# count PROGRAM: system calls of a start, the second of two; nothing without strace
count() {
    rm -rf raw
    for i in 1 2; do
        P3_PROFILE_FILE=$PWD/raw/%k-%m.p3raw strace -o calls "$1" 2>/dev/null || return 0
    done
    grep -c '(' calls
}

mkdir -p "$OUT"
"clang-$LLVM" -O2 -o "$OUT/loop" bench/start.c
printf '%8s  %6s  %8s  %8s  %8s\n' modules what native copy over
for n in "$@"; do
    dir=$OUT/$n
    if [ ! -x "$dir/p3/prog.p3/bin/copy-0" ]; then
        rm -rf "$dir"
        mkdir -p "$dir"
        (cd "$dir" && make_program "$n" && p3-rewrite build -k 1 -o p3 -- make -s CC="clang-$LLVM" CFLAGS=-O1 >build.log 2>&1)
    fi
    cd "$dir"
    for way in start calls fork exec; do
        native=$(measure $way p3/prog.p3/bin/native) copy=$(measure $way p3/prog.p3/bin/copy-0)
        printf '%8d  %6s  %8d  %8d  %+8d\n' "$n" "$way" "$native" "$copy" $((copy - native))
    done
    native=$(count p3/prog.p3/bin/native) copy=$(count p3/prog.p3/bin/copy-0)
    [ -z "$copy" ] || printf '%8d  %6s  %8d  %8d  %+8d\n' "$n" syscalls "$native" "$copy" $((copy - native))
    cd "$ROOT"
done
