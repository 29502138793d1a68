#!/bin/sh
# Builds the release: static, the same bytes from the same commit, one archive
# a platform and their digests.
set -eu
version=${VERSION:-dev}
rm -rf dist && mkdir dist
epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
    os=${platform%/*} arch=${platform#*/}
    dir=dist/satelle-$version-$os-$arch
    mkdir "$dir"
    CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=false \
        -ldflags "-s -w -X main.version=$version" -o "$dir/" ./cmd/satelle ./cmd/satelle-hook
    cp LICENSE README.md "$dir/"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C dist -cf - "${dir#dist/}" | gzip -n9 > "$dir.tar.gz"
    rm -r "$dir"
    echo "$dir.tar.gz"
done
(cd dist && sha256sum -- *.tar.gz > SHA256SUMS)
