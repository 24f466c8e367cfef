# Builds ptxasw on a bare Debian 12, tests it, and leaves an image that holds the installed package:
#   docker build -t ptxasw .                      builds, tests, installs
#   docker build -t ptxasw --target build .       without the tests
#   docker run --rm -i ptxasw explain --trace - < kernel.ptx
# Tests that need a CUDA toolkit are skipped in there; mount one at /usr/local/cuda to run them.
FROM debian:12 AS build
WORKDIR /ptxasw
COPY . .
RUN ./quickstart.sh --yes

FROM build AS test
RUN ./test.sh --yes && touch tested

FROM test AS package
RUN apt-get install -y --no-install-recommends dpkg-dev file && cmake --build build && cd build && cpack -G DEB

FROM debian:12
COPY --from=package /ptxasw/build/ptxasw_*.deb /ptxasw/build/libptxasw-emulate_*.deb /tmp/
RUN apt-get update && apt-get install -y /tmp/*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
ENTRYPOINT ["ptxasw"]
