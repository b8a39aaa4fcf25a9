# Part of build-and-run.sh: builds the image twice, and looks at what is in it.

podman image exists docker.io/library/node:24-slim || "$here/base-image.sh" "$work"
revision=$(git -C "$app" rev-parse HEAD)
# Docker's format, since OCI's has no HEALTHCHECK. The certificates are there for npm alone.
build() {
  buildah bud --quiet --pull=never --format docker --volume /etc/ssl/certs:/etc/ssl/certs:ro \
    --build-arg VERSION=1.2.3 --build-arg REVISION="$revision" "$@" "$app" >"$work/build.txt" 2>&1 || fail "$(tail "$work/build.txt")"
}
build --tag "$image"
build --build-arg WITH_POSTGRES=no --tag "$image-without-postgres"
megabytes() { node -p "Math.round($(podman image inspect "$1" --format '{{.Size}}') / 1e6)"; }
base=$(megabytes docker.io/library/node:24-slim)
ok "built: $(megabytes "$image") MB, without Postgres $(megabytes "$image-without-postgres") MB; $base MB of each are the base"

inside() { engine run --rm --pull never --no-healthcheck --entrypoint sh --user "$1" "$image" -c "$2"; }
fact() { podman image inspect "$image" --format "{{json $1}}"; }

[ "$(fact .Config.User)" = '"1000:1000"' ] || fail 'the user'
[ "$(fact .Config.StopSignal)" = '"SIGTERM"' ] || fail 'the signal'
[ "$(fact .Config.Volumes)" = '{"/data":{}}' ] || fail 'the volume'
fact .Config.Labels | grep -q "\"org.opencontainers.image.revision\":\"$revision\".*\"org.opencontainers.image.version\":\"1.2.3\"" || fail 'labels'
ok 'user by number, SIGTERM, one volume, labels with version and revision'

# @types/node comes with a package that needs it.
development=$(node -p 'Object.keys(require(process.argv[1]).devDependencies).filter((name) => name !== "@types/node").join(" ")' "$app/package.json")
found=$(inside 0 "cd /app/node_modules && ls -d $development 2>/dev/null" || true)
[ -z "$found" ] || fail "development packages: $found"
inside 0 'find /app -path "*/node_modules" -prune -o -name "*.test.ts" -print -o -name test -print -o -name .git -print -o -name .env -print' | grep -q . && fail 'files of tests'
inside 0 'command -v npm npx yarn corepack git curl' | grep -q . && fail 'programs that nothing needs'
inside 0 'test -s /app/LICENSE' || fail 'the licence'
ok 'no development package, no test, no npm'

[ -z "$(inside 1000 'find /app -writable -not -type l')" ] || fail 'the user could change the program'
inside 1000 'find /app -not -readable' | grep -q . && fail 'the user cannot read all of the program'
ok 'the user can read all of /app and write none of it, on a root that can be written, too'
