#!/bin/bash
# git 2.39 without the network: a history is imported, looked through, compared, searched and packed, by one process each.
. "$RECIPES/env.sh"
n=git
without="NO_OPENSSL=1 NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_PERL=1 NO_PYTHON=1 NO_TCLTK=1 NO_PTHREADS=1 NO_ICONV=1 NO_REGEX=NeedsStartEnd"
for m in $MODES; do
  d=$W/$n/$m; rm -rf "$d"; mkdir -p "$d"; tar xf "$SRC"/git_*.orig.tar.xz -C "$d" --strip-components=1
  BCC_MODE=$m make -C "$d" -j"$(nproc)" git CC="$CCW" AR="$AR" CFLAGS="-O2 -w" $without >"$d/make.log" 2>&1
  keep $n $m "$d/git"
done
# A history as fast-import reads it: each commit changes lines of three of git's own files.
mkdir -p "$P/$n/data"
for input in run:*.c:300 train:builtin/*.c:120; do
  IFS=: read -r name files commits <<<"$input"
  (cd "$W/$n/${MODES%% *}" && ls $files | head -60 | xargs cat) | awk -v commits="$commits" '
    { line[NR] = $0 }
    END {
      for (c = 1; c <= commits; c++) {
        printf "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 9\nchange %02d\n", 1600000000 + c * 3600, c % 100
        for (f = 0; f < 3; f++) {
          text = ""
          from = (c * 7 + f * 1000) % (NR - 400)
          for (i = 0; i < 300; i++) text = text line[from + i] (i % 50 == c % 50 ? " " c : "") "\n"
          printf "M 100644 inline file%d\ndata %d\n%s\n", (c + f * 5) % 17, length(text), text
        }
      }
    }' >"$P/$n/data/$name"
done
mklink $n clang-19 "-lz"
for name in run train; do
  script=run.sh; [ $name = run ] || script=run-train.sh
  mkrun $n $script <<R
export HOME=\$T GIT_CONFIG_NOSYSTEM=1 TZ=UTC GIT_EXEC_PATH=\$T GIT_PAGER=cat
"\$exe" init -q -b main r && cd r && "\$exe" fast-import --quiet <"\$D/$name"
"\$exe" log -p --stat | md5sum
"\$exe" log --oneline -- file3 file5 | md5sum
for file in file0 file7 file11; do "\$exe" blame main -- \$file | md5sum; done
"\$exe" diff --histogram main~40 main | md5sum
"\$exe" grep -n -F 'for (' main | md5sum
"\$exe" rev-list --objects --all | "\$exe" pack-objects --threads=1 --stdout -q | wc -c
"\$exe" fsck --full 2>&1 | md5sum
R
done
