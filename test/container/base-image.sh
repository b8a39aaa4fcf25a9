#!/usr/bin/env bash
# Stands in for docker.io/library/node:24-slim where no registry of images can be reached: Debian 12 from its packages,
# Node 24 from the npm package `node`, npm, and the user `node`; and for gcr.io/distroless/nodejs24-debian12: that Node, the
# libraries that it loads, certificates. Into the storage that CONTAINERS_STORAGE_CONF names.
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

# keep FOLDER NAME [CONFIG...]: the folder as an image.
keep() {
  local container; container=$(buildah from scratch)
  buildah copy --quiet "$container" "$1" / >/dev/null
  buildah config "${@:3}" "$container"
  buildah commit --quiet --format docker "$container" "$2" >/dev/null
  buildah rm "$container" >/dev/null
}
keep "$root" docker.io/library/node:24-slim --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node

distroless=$1/distroless
mkdir -p "$distroless"/{nodejs/bin,etc,tmp,usr/bin}
cp "$root/usr/local/bin/node" "$distroless/nodejs/bin/node"
chroot "$root" ldd /usr/local/bin/node | grep -o '/[^ ]*' | while read -r library; do
  install -D --mode 755 "$root$library" "$distroless$library"
done
install -D "$root/etc/ssl/certs/ca-certificates.crt" "$distroless/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$distroless/etc/passwd"
keep "$distroless" gcr.io/distroless/nodejs24-debian12 --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --entrypoint '["/nodejs/bin/node"]'
