#!/usr/bin/env bash
# Installs the Debian packages that building, testing and running need; asks apt only for what is missing, so a second call takes no time.
#
#   tools/setup.sh [ci] [bare] [fuzz]   ci: also clang-format and clang-tidy 19 (with its omp.h), Xvfb and xdotool; bare: also debootstrap; fuzz: also clang
#
# Runs on Debian 12 and 13 (tools/bare.sh proves it). Ubuntu 24.04 has the same package names: not run. Ubuntu 22.04 has no LLVM 16: it ends
# with the message below.
set -euo pipefail

packages=(g++ cmake ninja-build ccache pkg-config python3 libfmt-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev libssl-dev
  libxxhash-dev libzstd-dev zstd zlib1g-dev libdnnl-dev libgtest-dev libimgui-dev libstb-dev libglfw3-dev libgl-dev fonts-dejavu-core)
for group in "$@"; do
  case $group in
    ci) packages+=(git clang-format clang-tidy-19 libomp-19-dev xvfb xdotool imagemagick) ;;
    bare) packages+=(git debootstrap) ;;
    fuzz) packages+=(clang-19 libclang-rt-19-dev libomp-19-dev) ;;
    *) echo "setup: unknown group '$group'; use: tools/setup.sh [ci] [bare] [fuzz]" >&2; exit 2 ;;
  esac
done
llvm_versions=(20 19 18 17 16)  # the newest first; CMakeLists.txt looks for the same

fail() { echo "setup: $*" >&2; exit 1; }

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
  fail "this is no Debian or Ubuntu (no apt-get); install by hand: ${packages[*]} llvm-16-dev or newer, up to 20"

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# What the next apt-get would have to do; the LLVM is chosen after `apt-get update`, when apt knows what the system offers.
missing=()
for package in "${packages[@]}"; do installed "$package" || missing+=("$package"); done
has_llvm=false
for version in "${llvm_versions[@]}"; do
  if installed "llvm-$version-dev"; then has_llvm=true; break; fi
done
if [[ ${#missing[@]} == 0 && $has_llvm == true ]]; then exit 0; fi

by_hand="apt-get install ${missing[*]}"
if [[ $has_llvm == false ]]; then by_hand+=" llvm-19-dev (or another of 16 to 20)"; fi
as_root=()
if [[ $EUID != 0 ]]; then
  command -v sudo >/dev/null || fail "not root and no sudo; as root, run: $by_hand"
  as_root=(sudo)
  if [[ ! -t 0 ]]; then
    sudo -n true 2>/dev/null || fail "sudo asks for a password and there is no terminal; run tools/setup.sh once in one"
    as_root=(sudo -n)
  fi
fi
apt() { ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A source of somebody else that does not answer is no reason to stop: what counts is whether the packages can be had.
apt update >"$log" 2>&1 || true

if [[ $has_llvm == false ]]; then
  for version in "${llvm_versions[@]}"; do
    if apt-cache show "llvm-$version-dev" >/dev/null 2>&1; then
      missing+=("llvm-$version-dev")
      has_llvm=true
      break
    fi
  done
fi
if [[ $has_llvm == false ]]; then
  apt-cache show libfmt-dev >/dev/null 2>&1 || fail "the package sources cannot be read: $(grep -m 1 '^[EW]:' "$log" || echo 'is there a network?')"
  fail "the package sources offer no llvm-16-dev to llvm-20-dev; add one that does"
fi

echo "setup: installing ${missing[*]}"
apt install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 ||
  fail "apt-get install failed: $(grep '^E:' "$log" | tail -n 1 || true); is there a network, and room on the disk?"
