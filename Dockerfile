# docker build -t p3 . && docker run --rm -v "$PWD:/src" -w /src p3 p3-rewrite prog.bc -k 4 -o out/
#
# Built in one image, installed as a package in another, with the compilers that it calls. Copies have equal addresses
# where personality(2) is allowed (--security-opt seccomp=unconfined); `p3-rewrite doctor` says what else is missing.
FROM rust:1-bookworm AS build
WORKDIR /p3
COPY . .
# Versions of LLVM, as --build-arg LLVM='19 22': one engine for each; those that are in the image if not given.
ARG LLVM
RUN make deb ${LLVM:+LLVM="$LLVM"}

FROM debian:bookworm-slim
COPY --from=build /p3/target/debian/p3-rewrite*.deb /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/p3-rewrite*.deb g++ libc6-dev z3 \
    && rm -rf /var/lib/apt/lists/* /tmp/p3-rewrite*.deb
CMD ["p3-rewrite", "doctor"]
