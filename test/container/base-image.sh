#!/usr/bin/env bash
# Stands in for docker.io/library/node:24-slim where no registry of images can be reached: Debian 12 from its packages,
# Node 24 from the npm package `node`, npm, and the user `node`. Into the storage that CONTAINERS_STORAGE_CONF names.
# Usage: base-image.sh FOLDER-FOR-THE-FILES
set -euo pipefail
root=$1/node-24-slim
app=$(cd "$(dirname "$0")/../.." && pwd)

debootstrap --variant=minbase --include=ca-certificates bookworm "$root" >"$1/debootstrap.txt"
# As in Debian's slim images.
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,info,locale} "$root"/var/log/*
chroot "$root" groupadd --gid 1000 node
chroot "$root" useradd --uid 1000 --gid node --shell /bin/bash --create-home node

cp "$app/node_modules/node/bin/node" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules/npm" "$root/usr/local/etc"
(cd "$1" && npm pack --silent npm@11 >/dev/null)
tar -xzf "$1"/npm-11.*.tgz -C "$root/usr/local/lib/node_modules/npm" --strip-components=1
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
# The build sees this machine's certificates (see build-and-run.sh): it may be behind a proxy with one of its own.
echo cafile=/etc/ssl/certs/ca-certificates.crt >"$root/usr/local/etc/npmrc"

container=$(buildah from scratch)
buildah copy --quiet "$container" "$root" / >/dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
buildah commit --quiet --format docker "$container" docker.io/library/node:24-slim >/dev/null
buildah rm "$container" >/dev/null
