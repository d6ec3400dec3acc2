#!/usr/bin/env bash
help='Boots a machine of eight NUMA nodes in a ring under QEMU, in software, and holds what numasim-runtime sees there
against what was built: nodes, distances, hardware threads, and that memory and threads bound to a node are found on it.

    verification/boot_numa_guest.sh [PROGRAM]

PROGRAM is a statically linked numasim-runtime; without it one is built, which needs cmake and a C compiler. Needed
besides: qemu-system-x86 and cpio (Debian packages of these names), and apt-get, which fetches Debian'"'"'s cloud kernel
and busybox-static once into ${XDG_CACHE_HOME:-~/.cache}/numasim-qemu. KERNEL=FILE and BUSYBOX=FILE take others instead.
No right beyond those of a user is needed. Exit status 0: all is as built; 1: it is not, or the guest did not come up
within five minutes; 2: bad input, or something is missing.'
set -euo pipefail
nodes=8 memory_mib=96
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/numasim-qemu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

refuse() { echo "boot_numa_guest.sh: $*" >&2; exit 2; }

require() {
  for tool in "$@"; do command -v "$tool" >/dev/null || refuse "$tool is missing; --help says what is needed"; done
}

# fetch PACKAGE PATTERN: the file of a Debian package that matches, kept in the cache.
fetch() {
  local package=$1 pattern=$2
  mkdir -p "$cache/$package"
  if ! compgen -G "$cache/$package/$pattern" >/dev/null; then
    require apt-get dpkg-deb
    (cd "$work" && apt-get download -qq "$package" >/dev/null && dpkg-deb -x "$package"_*.deb "$cache/$package") 2>"$work/apt.log" ||
      refuse "the Debian package $package cannot be fetched"
  fi
  compgen -G "$cache/$package/$pattern" | head -n 1
}

cloud_kernel() {
  require apt-cache
  apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

static_program() {
  require cmake cc
  cmake -S "$here/../lib/runtime" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_EXE_LINKER_FLAGS=-static >"$work/build.log" 2>&1 &&
    cmake --build "$work/build" --target numasim-runtime >>"$work/build.log" 2>&1 ||
    { tail -n 20 "$work/build.log" >&2; refuse "numasim-runtime cannot be built"; }
  echo "$work/build/numasim-runtime"
}

initramfs() {
  mkdir -p "$work/root"/{bin,proc,sys,dev}
  cp "$busybox" "$work/root/bin/busybox"
  cp "$program" "$work/root/bin/numasim-runtime"
  cat >"$work/root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox mount -t devtmpfs devtmpfs /dev
echo "guest: up after $(/bin/busybox cut -d' ' -f1 /proc/uptime) s"
echo "guest: $(/bin/numasim-runtime topology)"
echo "guest: $(/bin/numasim-runtime topology --binding; echo status $?)"
/bin/busybox poweroff -f
INIT
  chmod +x "$work/root/init"
  (cd "$work/root" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initramfs.gz"
}

distance() { # FROM TO: of a ring
  local ahead=$((($2 - $1 + nodes) % nodes)) back=$((($1 - $2 + nodes) % nodes))
  echo $((10 + 6 * (ahead < back ? ahead : back)))
}

machine() {
  local from to
  for ((from = 0; from < nodes; from++)); do
    printf '%s\n' -object "memory-backend-ram,id=m$from,size=${memory_mib}M" \
      -numa "node,nodeid=$from,cpus=$from,memdev=m$from"
  done
  for ((from = 0; from < nodes; from++)); do
    for ((to = 0; to < nodes; to++)); do
      ((from == to)) || printf '%s\n' -numa "dist,src=$from,dst=$to,val=$(distance $from $to)"
    done
  done
}

boot() {
  local -a arguments
  mapfile -t arguments < <(machine)
  timeout 300 qemu-system-x86_64 -M q35,accel=tcg -cpu max -smp "$nodes,sockets=$nodes,cores=1,threads=1" \
    -m $((nodes * memory_mib))M "${arguments[@]}" -kernel "$kernel" -initrd "$work/initramfs.gz" \
    -append 'console=ttyS0 quiet panic=-1 rdinit=/init' -display none -serial stdio -monitor none -no-reboot </dev/null
}

expected_distances() {
  local from to rows=()
  for ((from = 0; from < nodes; from++)); do
    local row=()
    for ((to = 0; to < nodes; to++)); do row+=("$(distance $from $to)"); done
    rows+=("[$(printf '%s, ' "${row[@]}" | sed 's/, $//')]")
  done
  printf '"distance": [%s]' "$(printf '%s, ' "${rows[@]}" | sed 's/, $//')"
}

failures=0
expect() { # WHAT TEXT
  if grep -qF -- "$2" "$work/console"; then
    echo "as built: $1"
  else
    echo "NOT as built: $1; expected $2"
    failures=$((failures + 1))
  fi
}

case ${1:-} in
  -h | --help) echo "$help"; exit 0 ;;
  -*) refuse "$1 is no option; expected --help or a statically linked numasim-runtime" ;;
esac
[[ $# -le 1 ]] || refuse "$# arguments; expected one, a statically linked numasim-runtime"
[[ $# -eq 0 || -x $1 ]] || refuse "$1 is no program; expected a statically linked numasim-runtime"
require qemu-system-x86_64 cpio timeout
kernel=${KERNEL:-$(package=$(cloud_kernel) && fetch "$package" 'boot/vmlinuz-*')}
busybox=${BUSYBOX:-$(fetch busybox-static 'bin/busybox')}
program=${1:-$(static_program)}
initramfs
started=$SECONDS
boot | tr -d '\r' | grep --line-buffered '^guest: \|^status' | tee "$work/console" || true
[[ -s $work/console ]] || { echo "boot_numa_guest.sh: the guest did not come up" >&2; exit 1; }
echo "the guest ran for $((SECONDS - started)) s"
expect "eight sockets of one core each" "\"sockets\": $nodes, \"cores\": $nodes,"
expect "distances of a ring" "$(expected_distances)"
for ((node = 0; node < nodes; node++)); do
  expect "a processor on node $node" "{\"id\": $node, \"core\": $node, \"socket\": $node, \"node\": $node, "
done
expect "memory bound to each node is on it" "\"pages_at_home\": [$(for ((n = 0; n < nodes; n++)); do
  printf '%s[%d, 16]' "$( ((n)) && echo ', ')" "$n"
done)]"
expect "threads pinned to each processor are on its node" "\"threads_at_home\": $nodes, \"threads\": $nodes}"
expect "the runtime's own verdict" "status 0"
exit $((failures > 0))
