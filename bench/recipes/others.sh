#!/bin/bash
# Programs beside the benchmark's: bc, cjpeg, djpeg, gzip, mawk, spass, zopfli. Nothing was chosen by them, but gzip and zopfli were looked at. For instructions: runs of a
# second at most. The packages are named in `package`; cmake and flex are needed too.
. "$RECIPES/env.sh"
HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
package() { case $1 in djpeg) echo libjpeg-turbo ;; *) echo "$1" ;; esac; }

unpacked() {
  sh "$HERE/../../tools/fetch.sh" "$(package "$1")" "$SRC"
  d=$W/$1/O2; rm -rf "$d"; mkdir -p "$d"
  tar xf "$(ls "$SRC/$(package "$1")"_*.orig.tar.* | grep -v '\.asc$' | head -1)" -C "$d" --strip-components=1
  cd "$d"
}
configured() {
  BCC_MODE=native ./configure CC="$CCW" CFLAGS="-O2 -w" "$@" >configure.log 2>&1
  BCC_MODE=O2 make >make.log 2>&1 || true # manuals, which we do not need
}
# Text to read: sources of liblzma
texts() {
  mkdir -p "$P/$1/data" "$W/text"
  tar xf "$(ls "$SRC"/xz-utils_*.orig.tar.xz)" -C "$W/text" --strip-components=1
  find "$W/text/src/liblzma" -name '*.c' | sort | xargs cat >"$P/$1/data/text"
  find "$W/text/src/liblzma" -name '*.h' | sort | xargs cat >"$P/$1/data/small"
}
sh "$HERE/../../tools/fetch.sh" xz-utils "$SRC"

# A prover: pigeons in holes, and two theorems on groups.
unpacked spass
BCC_MODE=O2 make CC="$CCW" SPASS >make.log 2>&1
keep spass O2 SPASS
mkdir -p "$P/spass/data"
python3 - "$P/spass/data" <<'PY'
import sys
def problem(name, symbols, body):
    text = f"""begin_problem({name}).
list_of_descriptions.
name({{*{name}*}}). author({{*x*}}). status(unsatisfiable). description({{*x*}}).
end_of_list.
list_of_symbols.
{symbols}
end_of_list.
{body}end_problem.
"""
    open(f"{sys.argv[1]}/{name}.dfg", "w").write(text)
n = 6
inside = [[f"p{i}_{j}" for j in range(n)] for i in range(n + 1)]
clauses = ["or(" + ",".join(row) + ")" for row in inside]
clauses += [f"or(not({inside[a][j]}),not({inside[b][j]}))" for j in range(n) for a in range(n + 1) for b in range(a)]
listed = "".join(f"clause({c},c{i}).\n" for i, c in enumerate(clauses))
names = ",".join(f"({p},0)" for row in inside for p in row)
problem("pigeons", f"predicates[{names}].", f"list_of_clauses(axioms,cnf).\n{listed}end_of_list.\n")
def group(name, axioms, theorem):
    axioms = ["equal(f(e,X),X)", "equal(f(i(X),X),e)", "equal(f(f(X,Y),Z),f(X,f(Y,Z)))"] + axioms
    body = "".join(f"formula(forall([X,Y,Z],{a}),a{i}).\n" for i, a in enumerate(axioms))
    body = f"list_of_formulae(axioms).\n{body}end_of_list.\nlist_of_formulae(conjectures).\nformula(forall([X,Y],{theorem}),c).\nend_of_list.\n"
    problem(name, "functions[(f,2),(i,1),(e,0),(h,2)].", body)
group("squares", ["equal(f(X,X),e)"], "equal(f(X,Y),f(Y,X))")
group("cubes", ["equal(f(X,f(X,X)),e)", "equal(h(X,Y),f(X,f(Y,f(i(X),i(Y)))))"], "equal(h(h(X,Y),Y),e)")
PY
mklink spass clang-19 "-lm"
mkrun spass run.sh <<'R'
for f in cubes squares pigeons; do "$exe" -PGiven=0 -PProblem=0 -Loops=3000 "$D/$f.dfg" | grep -v -i "time\|on the\|0:00"; done
R
mkrun spass run-train.sh <<'R'
for f in squares pigeons; do "$exe" -PGiven=0 -PProblem=0 -Loops=400 "$D/$f.dfg" | grep -v -i "time\|on the\|0:00"; done
R

unpacked gzip; configured; keep gzip O2 gzip; texts gzip
mklink gzip clang-19 ""
mkrun gzip run.sh <<'R'
for level in 1 6 9; do "$exe" -$level -nc <"$D/text" >z; "$exe" -dc <z | cmp - "$D/text"; md5sum <z; done
R
mkrun gzip run-train.sh <<'R'
for level in 3 7; do "$exe" -$level -nc <"$D/small" >z; "$exe" -dc <z | cmp - "$D/small"; md5sum <z; done
R

unpacked mawk; configured; keep mawk O2 mawk; texts mawk
mklink mawk clang-19 "-lm"
mkrun mawk run.sh <<'R'
"$exe" '{ for (i = 1; i <= NF; i++) { w[$i]++; n += length($i) } if (/[a-z]+_[a-z]+\(/) c++; gsub(/[ \t]+/, " "); t += length($0) }
    END { for (k in w) s += w[k] * length(k); print n, c, t, s }' "$D/text"
"$exe" 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }
    BEGIN { print f(22); for (i = 0; i < 200000; i++) { x = (x * 1103 + 12345) % 65536; a[x % 97] += x } for (i = 0; i < 97; i++) printf "%d ", a[i] }'
R
mkrun mawk run-train.sh <<'R'
"$exe" '{ for (i = NF; i > 0; i--) w[$i]++; sub(/^ +/, ""); if ($1 ~ /^#/) c++; l[length($0)]++ }
    END { for (k in w) s += w[k]; print c, s; for (i = 0; i < 80; i++) print l[i] }' "$D/small"
"$exe" 'BEGIN { for (i = 0; i < 50000; i++) { s = s substr("abcdefgh", i % 8 + 1, 1); if (length(s) > 50) s = ""; b[i % 31]++ } print s }'
R

unpacked bc; configured --without-readline; keep bc O2 bc/bc
mklink bc clang-19 ""
mkdir -p "$P/bc/data"
mkrun bc run.sh <<'R'
printf 'scale=200\n4*a(1)\ne(1)\ndefine f(n) {\nif (n < 2) return (n)\nreturn (f(n-1)+f(n-2))\n}\nf(17)\nx=1\nfor (i=1;i<400;i++) x*=i\nx\n' | "$exe" -lq
R
mkrun bc run-train.sh <<'R'
printf 'scale=100\nl(2)\ns(1)\ns=0\nfor (i=0;i<5000;i++) { s+=i%%7; if (s>100) s=0; }\ns\nsqrt(2)\nobase=16\n2^200\n' | "$exe" -lq
R

unpacked zopfli
for f in src/zopfli/*.c; do BCC_MODE=O2 "$CCW" -O2 -w -c "$f"; done
BCC_MODE=O2 "$CCW" *.o -o zopfli -lm
keep zopfli O2 zopfli; texts zopfli
mklink zopfli clang-19 "-lm"
mkrun zopfli run.sh <<'R'
head -c 60000 "$D/text" >t; "$exe" --i3 -c t | md5sum
R
mkrun zopfli run-train.sh <<'R'
head -c 20000 "$D/small" >t; "$exe" --i2 --zlib -c t | md5sum
R

unpacked djpeg
BCC_MODE=native cmake -DCMAKE_C_COMPILER="$CCW" -DCMAKE_AR="$(command -v llvm-ar-19)" -DCMAKE_RANLIB="$(command -v llvm-ranlib-19)" \
  -DWITH_SIMD=0 -DENABLE_SHARED=0 -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-w" . >cmake.log 2>&1
BCC_MODE=O2 make djpeg-static cjpeg-static >make.log 2>&1
for n in djpeg cjpeg; do
  keep $n O2 $n-static
  mkdir -p "$P/$n/data"
  cp testimages/*.jpg testimages/*.ppm testimages/*.bmp "$P/$n/data"
  mklink $n clang-19 ""
done
mkrun djpeg run.sh <<'R'
for i in 1 2 3 4 5 6 7 8; do for f in testorig testprog; do "$exe" "$D/$f.jpg" 2>/dev/null | md5sum; done; done
"$exe" -fast -scale 1/2 "$D/testorig.jpg" | md5sum
R
mkrun djpeg run-train.sh <<'R'
for f in testimgari testimgint; do "$exe" -dct int "$D/$f.jpg" 2>/dev/null | md5sum; done
"$exe" -onepass -dither ordered -colors 64 "$D/testimgint.jpg" | md5sum
R
mkrun cjpeg run.sh <<'R'
for q in 30 60 90 95; do "$exe" -quality $q "$D/testorig.ppm" | md5sum; "$exe" -progressive -quality $q "$D/testorig.ppm" | md5sum; done
R
mkrun cjpeg run-train.sh <<'R'
"$exe" -optimize "$D/vgl_6548_0026a.bmp" | md5sum; "$exe" -quality 40 -gray "$D/vgl_6434_0018a.bmp" | md5sum
R
