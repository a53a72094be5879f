#!/usr/bin/env bash
# Proves that a bare machine is enough: makes a fresh minimal Debian with debootstrap, puts the tracked files in, and runs the README's two
# commands in it, with their times and exit statuses.
#
#   tools/bare.sh bookworm|trixie [COMMAND...]    COMMAND: instead of tools/demo.sh and tools/test.sh, as typed in the checkout
#
# The root is thrown away at the end. What it takes from the network (the minimal system, .deb files) and what ccache keeps are left in
# ${XDG_CACHE_HOME:-~/.cache}/profile-bare; remove that folder to start from nothing. The mirror, proxy and other apt settings are the host's;
# PROFILE_BARE_MIRROR names a Debian mirror where the host has none.
#
# Everything is mounted inside a mount namespace of its own, so no mount can outlive the run and removing the root never reaches through one.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checkout="/home/new user/profile"  # with a space: paths are quoted everywhere or this fails

fail() { echo "bare: $*" >&2; exit 1; }

suite=${1-}
[[ $suite == bookworm || $suite == trixie ]] || { echo "use: tools/bare.sh bookworm|trixie [COMMAND...]" >&2; exit 2; }
shift
commands=("$@")
[[ $# -gt 0 ]] || commands=(tools/demo.sh tools/test.sh)
if [[ $EUID != 0 ]]; then exec sudo --preserve-env=XDG_CACHE_HOME,PROFILE_BARE_MIRROR,http_proxy,https_proxy "$0" "$suite" "$@"; fi
"$root/tools/setup.sh" bare
cache="${XDG_CACHE_HOME:-$HOME/.cache}/profile-bare/$suite"
mkdir -p "$cache/debs" "$cache/ccache"

# mirror_of LABEL: where this host gets its Debian packages (LABEL Debian) or its security updates (Debian-Security).
mirror_of() {
  # shellcheck disable=SC2016  # apt's own placeholders
  apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Identifier: Packages' | sed -n "s/^$1 //p" | head -n 1
}
mirror=${PROFILE_BARE_MIRROR:-$(mirror_of Debian)}
[[ $mirror ]] || fail "apt here has no Debian mirror; set PROFILE_BARE_MIRROR to the address of one"
security=$(mirror_of Debian-Security)
extra_packages=()
if [[ $mirror == https:* ]]; then extra_packages=(--include=ca-certificates); fi

target=$(mktemp -d "$cache/root.XXXXXX")
remove_root() {
  # Nothing is ever mounted here outside the namespace; the check and --one-file-system are the second and third lock on the door.
  if grep -q -F " $target" /proc/self/mountinfo; then echo "bare: something is mounted under $target: left as it is" >&2; return; fi
  rm -rf --one-file-system "$target"
}
trap remove_root EXIT
trap 'exit 130' INT TERM

if [[ ! -f $cache/base.tar ]]; then
  echo "bare: debootstrap $suite"
  unshare --mount debootstrap --variant=minbase "${extra_packages[@]}" "$suite" "$target" "$mirror" >"$cache/debootstrap.log" 2>&1 ||
    fail "debootstrap failed: $(tail -n 1 "$cache/debootstrap.log") (whole log: $cache/debootstrap.log)"
  tar -C "$target" --one-file-system -cf "$cache/base.tar.part" .
  mv "$cache/base.tar.part" "$cache/base.tar"
else
  tar -C "$target" -xpf "$cache/base.tar"
fi

# The root's view of the world: the host's mirrors, proxy and resolver.
{
  echo "deb $mirror $suite main"
  echo "deb $mirror $suite-updates main"
  if [[ $security ]]; then echo "deb $security $suite-security main"; fi
} >"$target/etc/apt/sources.list"
apt-config dump Acquire | grep -v '^Acquire::IndexTargets' >"$target/etc/apt/apt.conf.d/90host"
echo force-unsafe-io >"$target/etc/dpkg/dpkg.cfg.d/throwaway"  # no fsync for a root that is thrown away
for file in resolv.conf hosts; do cat "/etc/$file" >"$target/etc/$file"; done

mkdir -p "$target$checkout" "$target/root/.cache/ccache"
git -C "$root" ls-files -z | tar -C "$root" --null -T - -cf - | tar -C "$target$checkout" --no-same-owner -xf -
chmod 755 "$target"  # made by mktemp with 0700, and so in the tarball: only root could pass through "/" in there
cp -l "$cache/debs/"*.deb "$target/var/cache/apt/archives/" 2>/dev/null || true

# enter COMMAND: runs it in the checkout inside the root, with its own mounts and processes; both end with it.
enter() {
  # shellcheck disable=SC2016  # expanded by the inner shells
  unshare --mount --propagation private --pid --fork --kill-child bash -c '
    set -e
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    mount --bind "$4" "$1/root/.cache/ccache"
    exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CXXFLAGS=-Werror \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      ${CMAKE_BUILD_PARALLEL_LEVEL:+CMAKE_BUILD_PARALLEL_LEVEL="$CMAKE_BUILD_PARALLEL_LEVEL"} \
      bash -c "cd \"\$1\" && eval \"\$2\"" - "$2" "$3"
  ' - "$target" "$checkout" "$1" "$cache/ccache" </dev/null
}

status=0
summary=()
for command in "${commands[@]}"; do
  echo "bare: $suite: $command"
  begin=$SECONDS
  code=0
  enter "$command" || code=$?
  summary+=("bare: $suite: $command: exit $code after $((SECONDS - begin)) s")
  if [[ $code != 0 ]]; then status=1; fi
done
cp -l -n "$target/var/cache/apt/archives/"*.deb "$cache/debs/" 2>/dev/null || true
printf '%s\n' "${summary[@]}"
exit $status
