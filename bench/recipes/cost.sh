#!/bin/bash
# cost.sh FOLDER: programs with small inputs for `p3-bench cost`, into FOLDER/prog: kernels of testdata/kernels,
# programs of bench/programs and of Debian's sources, and those that the other recipes left in FOLDER, with shorter
# runs. run-train.sh is what is counted, run.sh what weights come from.
set -eu
cd "$(dirname "$0")/../.."
ROOT=$PWD FOLDER=$(readlink -m "$1")
P=$FOLDER/prog SRC=$FOLDER/src
mkdir -p "$P" "$SRC" "$FOLDER/work"

# recipe NAME DRIVER LIBRARIES: its folder, and how it is linked.
recipe() {
    mkdir -p "$P/$1"
    printf '#!/bin/sh\nDRV=%s LIBS="%s"\n' "$2" "$3" >"$P/$1/link.sh"
}
# workload NAME FILE, the body on standard input, which sees $exe and $D, the program's folder.
workload() {
    {
        printf '#!/bin/bash\nexe=$(readlink -f "$1") D=$(dirname "$(readlink -f "$0")")\n'
        printf 'T=$(mktemp -d); trap "rm -rf $T" EXIT; cd "$T"; export LC_ALL=C\n'
        cat
    } >"$P/$1/$2"
    chmod +x "$P/$1/$2"
}
# shorter NAME: whether another recipe left it, or ours.
shorter() { [ -e "$P/$1/prog.bc" ]; }
# unpacked NAME: its sources, where the next commands work.
unpacked() {
    sh "$ROOT/tools/fetch.sh" "$1" "$SRC"
    rm -rf "$FOLDER/work/$1"
    mkdir -p "$FOLDER/work/$1"
    tar xf "$(ls "$SRC/$1"_*.orig.tar.* | grep -v '\.asc$' | head -1)" -C "$FOLDER/work/$1" --strip-components=1
    cd "$FOLDER/work/$1"
}
# joined NAME FILES...: compiled one by one, and joined.
joined() {
    name=$1
    shift
    for file; do
        clang-19 -O2 -w ${FLAGS:-} -emit-llvm -c "$file" -o "$(basename "$file" .c).bc"
        set -- "$@" "$(basename "$file" .c).bc"
        shift
    done
    llvm-link-19 "$@" -o "$P/$name/prog.bc"
}

# page FILE COUNTED OTHER: a program of one file, with the arguments of both runs.
page() {
    name=$(basename "$1") cc=clang-19
    name=${name%.*}
    case $1 in *.cpp) cc=clang++-19 ;; esac
    recipe "$name" $cc -lm
    $cc -O2 -Wall -Wextra -emit-llvm -c "$1" -o "$P/$name/prog.bc"
    echo "\"\$exe\" $2" | workload "$name" run-train.sh
    echo "\"\$exe\" $3" | workload "$name" run.sh
}
# kernel NAME COUNTED OTHER, small NAME COUNTED OTHER
kernel() { page "$(ls "$ROOT/testdata/kernels/$1".c*)" "$2" "$3"; }
small() { page "$(ls "$ROOT/bench/programs/$1".c*)" "$2" "$3"; }
kernel compress '50000 1' '20000 3'
kernel computed_goto 100 400
kernel connect_four '6 2' '7 3'
kernel edit_distance '300 10' '200 40'
kernel events 100000 300000
kernel game_tree '4 40' '5 20'
kernel hash_table '100000 1' '30000 4'
kernel huffman '50000 3' '20000 9'
kernel life '128 30' '90 100'
kernel matcher '6000 3' '4000 9'
kernel parser '200 3' '150 8'
kernel permutations '8 4' '9 1'
kernel queens '8 20' '9 8'
kernel tree_sort '50000 1' '20000 5'

small bh '700 4 1' '1000 6 5'
small cfac '6 8 1' '7 8 9'
small cover '15 100 1' '13 160 4'
small em3d '800 12 100 1' '2000 6 150 7'
small expr '150 300 1' '80 1500 8'
small join '60000 4000 10 1' '90000 20000 10 9'
small ks '250 1000 1' '400 1200 6'
small lzw '200000 1 1' '150000 3 8'
small mst '900 40 1' '1200 16 3'
small pi '1200 2' '700 8'
small ray '120 16 1' '150 24 6'
small regex '200 7 1' '300 14 4'
small route '200 70 6 1' '300 60 12 5'
small sudoku '60 28 1' '100 25 3'
small tree '3000 12 1' '8000 10 4'
small vm '150 8 1' '300 10 2'
small words '30000 16 1' '60000 24 7'

FLAGS=-DNDEBUG
unpacked picosat
recipe picosat clang-19 ""
printf '#define PICOSAT_CC "clang"\n#define PICOSAT_CFLAGS ""\n#define PICOSAT_VERSION "965"\n' >config.h
joined picosat picosat.c version.c app.c main.c
formula() { # VARIABLES CLAUSES SEED
    awk -v v="$1" -v c="$2" -v s="$3" 'function r() { s = (s * 1103515 + 12345) % 2147483647; return int(s / 7) }
        BEGIN { print "p cnf", v, c; while (c-- > 0) { x = r() % v + 1; y = r() % v + 1; z = r() % v + 1
            print (r() % 2 ? x : -x), (r() % 2 ? y : -y), (r() % 2 ? z : -z), 0 } }'
}
formula 130 550 5 >"$P/picosat/one.cnf"
formula 110 470 9 >"$P/picosat/other.cnf"
echo '"$exe" $D/one.cnf' | workload picosat run-train.sh
echo '"$exe" $D/other.cnf' | workload picosat run.sh
if shorter minisat; then
    cp "$P"/picosat/*.cnf "$P/minisat"
    echo '"$exe" -verb=0 $D/one.cnf' | workload minisat run-train.sh
    echo '"$exe" -verb=0 $D/other.cnf' | workload minisat run.sh
fi

FLAGS=
unpacked cliquer
recipe cliquer clang-19 ""
joined cliquer cl.c cliquer.c graph.c reorder.c
graph() { # VERTICES PART SEED
    awk -v n="$1" -v part="$2" -v s="$3" 'function r() { s = (s * 1103515 + 12345) % 2147483647; return int(s / 7) % 100 }
        BEGIN { print "p edge", n, 1; for (i = 1; i <= n; i++) for (j = 1; j < i; j++) if (r() < part) print "e", i, j }'
}
graph 120 50 3 >"$P/cliquer/one"
graph 90 60 8 >"$P/cliquer/other"
echo '"$exe" -q -q -u $D/one' | workload cliquer run-train.sh
echo '"$exe" -q -q -u -a $D/other' | workload cliquer run.sh

unpacked byacc
./configure CC=clang-19 CFLAGS=-w >configure.log 2>&1
recipe byacc clang-19 ""
make yaccpar.c >make.log 2>&1 || true
FLAGS='-DHAVE_CONFIG_H -I.'
joined byacc closure.c error.c graph.c lalr.c lr0.c main.c mkpar.c mstring.c output.c reader.c yaccpar.c symtab.c verbose.c warshall.c
cp test/*.y "$P/byacc"
echo 'for i in calc grammar ftp; do "$exe" -d -v $D/$i.y; done' | workload byacc run-train.sh
echo 'for i in code_calc quote_calc2 expr.oxout; do "$exe" -l $D/$i.y; done' | workload byacc run.sh

unpacked lz4
recipe lz4 clang-19 ""
FLAGS='-Ilib'
joined lz4 lib/lz4.c lib/lz4frame.c lib/lz4hc.c lib/xxhash.c lib/lz4file.c programs/bench.c programs/datagen.c programs/lz4cli.c programs/lz4io.c
cat lib/*.c >"$P/lz4/text"
cat programs/*.c >"$P/lz4/small"
echo '"$exe" -q -4 <$D/small >z; "$exe" -q -1 <$D/small | md5sum; "$exe" -q -d <z | md5sum' | workload lz4 run-train.sh
echo '"$exe" -q -6 <$D/text >z; "$exe" -q -2 <$D/text | md5sum; "$exe" -q -d <z | md5sum' | workload lz4 run.sh

FLAGS=-D_FILE_OFFSET_BITS=64
if ! shorter bzip2; then
    unpacked bzip2
    recipe bzip2 clang-19 ""
    joined bzip2 blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c bzip2.c
fi
FLAGS=
if ! shorter zopfli; then
    unpacked zopfli
    recipe zopfli clang-19 -lm
    joined zopfli src/zopfli/*.c
fi
FLAGS='-DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -DZSTD_NOBENCH -DZSTD_NODICT -Ilib -Ilib/common'
if ! shorter zstd; then
    unpacked libzstd
    recipe zstd clang-19 ""
    joined zstd lib/common/*.c lib/compress/*.c lib/decompress/*.c \
        programs/{zstdcli,zstdcli_trace,fileio,fileio_asyncio,util,timefn}.c
fi

for n in bzip2 gzip zopfli zstd; do
    shorter $n && head -c 200000 "$P/lz4/small" >"$P/$n/small" && head -c 400000 "$P/lz4/text" >"$P/$n/text"
done
if shorter bzip2; then
    echo '"$exe" -5 -c <$D/small >z; "$exe" -dc z | md5sum' | workload bzip2 run-train.sh
    echo '"$exe" -9 -c <$D/text >z; "$exe" -dc z | md5sum; "$exe" -2 -c <"$exe" | md5sum' | workload bzip2 run.sh
fi
if shorter gzip; then
    echo 'for l in 3 7; do "$exe" -$l -nc <$D/small >z; "$exe" -dc <z | md5sum; done' | workload gzip run-train.sh
    echo 'for l in 1 6 9; do "$exe" -$l -nc <$D/text >z; "$exe" -dc <z | md5sum; done' | workload gzip run.sh
fi
if shorter zopfli; then
    echo 'head -c 5000 $D/small >t; "$exe" --i2 --zlib -c t | md5sum' | workload zopfli run-train.sh
    echo 'head -c 20000 $D/text >t; "$exe" --i3 -c t | md5sum' | workload zopfli run.sh
fi
# Other levels are other functions: what weights come from ran hardly any that is counted.
if shorter zstd; then
    echo 'for l in 2 7; do "$exe" -q -$l -c $D/small >z; "$exe" -q -dc z | md5sum; done' | workload zstd run-train.sh
    echo 'for l in 1 3 12; do "$exe" -q -$l -c $D/text >z; "$exe" -q -dc z | md5sum; done' | workload zstd run.sh
fi
if shorter libquantum; then
    echo '"$exe" 15 7' | workload libquantum run-train.sh
    echo '"$exe" 33 5' | workload libquantum run.sh
fi
if shorter lua; then
    cat >"$P/lua/one.lua" <<'L'
local t, s = {}, 0
for i = 1, 20000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
for i, v in ipairs(t) do if v % 3 == 0 then s = s + v elseif i % 2 == 0 then s = s - i end end
local words = {}
for w in (("the quick brown fox jumps over it "):rep(200)):gmatch("%a+") do words[w] = (words[w] or 0) + #w end
print(s, words.the, words.fox)
L
    cat >"$P/lua/other.lua" <<'L'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local A = setmetatable({}, { __index = function(_, k) return k * 2 end })
local parts, n = {}, 0
for i = 1, 20000 do n = n + A[i]; parts[#parts + 1] = tostring(i):rep(2):sub(1, 3) end
print(fib(18), n, #table.concat(parts))
L
    echo '"$exe" $D/one.lua' | workload lua run-train.sh
    echo '"$exe" $D/other.lua' | workload lua run.sh
fi
