#!/usr/bin/env bash
# Builds the image and uses it as a user would: read-only root, no capabilities, its own user, only /data to write to.
# Not part of `npm test`: ten minutes as root on Debian 12 with debootstrap, buildah, podman, crun, redis-server and
# postgresql installed, and `npm ci` done here. Prints a line for each thing that holds; the first that does not ends it.
# Usage: npm run verify:image -- [FOLDER [PART...]]   a folder of an earlier run has its images: PARTs without `image` use them
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
app=$(cd "$here/../.." && pwd)
export PATH=$app/node_modules/.bin:$PATH

# A mount namespace of our own: crun does not like a machine with both kinds of cgroups.
if [ -z "${LEADSYNC_UNSHARED:-}" ]; then LEADSYNC_UNSHARED=1 exec unshare --mount "$0" "$@"; fi
umount /sys/fs/cgroup/unified 2>/dev/null || true

parts=("${@:2}")
work=${1:-$(mktemp --directory /var/tmp/leadsync-image.XXXXXX)}
mkdir -p "$work"
# Images and containers of our own, beside those of the machine.
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/storage"\nrunroot = "%s/run"\n' "$work" "$work" >"$work/storage.conf"
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot
image=localhost/leadsync
network=(--network host)

cleanup() {
  podman ps --all --quiet | xargs --no-run-if-empty podman rm --force --time 0 >/dev/null 2>&1 || true
  jobs -p | xargs --no-run-if-empty kill 2>/dev/null || true
  [ -z "${postgres:-}" ] || runuser -u postgres -- "$postgres/pg_ctl" -D "$work/postgres" -m immediate stop >/dev/null 2>&1 || true
}
trap cleanup EXIT
ok() { printf 'ok  %s\n' "$*"; }
fail() { printf 'FAILED  %s\n' "$*"; exit 1; }
seconds() { node -p "((Date.now() - $1) / 1000).toFixed(1)"; }
now() { date +%s%3N; }

# --- how containers are run ------------------------------------------------------------------------------------------

# Root may lack the right to raise limits in here, and podman always wants to; no systemd: nobody runs health checks.
mkdir -p "$work/runtime"
cat >"$work/runtime/crun" <<'RUNTIME'
#!/usr/bin/env bash
node -e '
  const { existsSync, readFileSync, writeFileSync } = require("node:fs");
  const args = process.argv.slice(1);
  const files = args.map((arg, at) => ({ "--bundle": `${args[at + 1]}/config.json`, "--process": args[at + 1] })[arg]);
  for (const file of files) {
    if (file === undefined || !existsSync(file)) continue;
    const spec = JSON.parse(readFileSync(file, "utf8"));
    const started = spec.process ?? spec;
    delete started.rlimits;
    delete started.oomScoreAdj;
    writeFileSync(file, JSON.stringify(spec));
  }
' -- "$@"
exec /usr/bin/crun "$@"
RUNTIME
chmod +x "$work/runtime/crun"
engine() { podman --runtime "$work/runtime/crun" "$@"; }

# contain NAME DATA-FOLDER [PODMAN-OPTION...] -- [ARGUMENT...]
contain() {
  local name=$1 data=$2 options=()
  shift 2
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  mkdir -p "$data"
  [ "$(stat -c %u "$data")" != 0 ] || chown 1000:1000 "$data"
  engine run --name "$name" --pull never --no-healthcheck "${network[@]}" --read-only --read-only-tmpfs=false \
    --cap-drop ALL --security-opt no-new-privileges --volume "$data:/data" "${options[@]}" "$image" "$@"
}

# A Leads service on this machine: service NAME LEADS [OPTION...]; its variables are in the file NAME.env.
service() {
  local name=$1 leads=$2
  shift 2
  node "$app/bin/leadsync.js" sandbox --leads "$leads" "$@" >"$work/$name.txt" 2>&1 &
  until_true 20 grep -q LEADS_API_KEY "$work/$name.txt"
  sed -n 's/^ *export //p' "$work/$name.txt" >"$work/$name.env"
}

until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || fail "waited too long for: $*"
    sleep 0.1
  done
}
answers() { curl --silent --fail "http://127.0.0.1:$1"; }
said() { engine logs "$1" 2>&1 | grep -q "$2"; }

# stops NAME: SIGTERM, and it must end with 0 within ten seconds.
stops() {
  local begun; begun=$(now)
  engine stop --time 30 "$1" >/dev/null
  local took; took=$(seconds "$begun")
  [ "$(engine inspect "$1" --format '{{.State.ExitCode}}')" = 0 ] || fail "$1 ended with $(engine inspect "$1" --format '{{.State.ExitCode}}')"
  node -e "process.exit($took < 10 ? 0 : 1)" || fail "$1 took $took s to stop"
  ok "$2: stopped by SIGTERM after $took s, exit code 0"
}

[ ${#parts[@]} -gt 0 ] || parts=(image first-use worker own-servers)
for part in "${parts[@]}"; do
  printf '\n== %s\n' "$part"
  # shellcheck source=/dev/null
  . "$here/$part.sh"
done
printf '\nall of it holds; the images are in %s\n' "$work"
