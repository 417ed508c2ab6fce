#!/bin/sh
# Installs or upgrades molar without administrator rights: sh install.sh [--prefix DIR] [--uninstall]
# The archive has to have the SHA-256 that SHA256SUMS says, and SHA256SUMS the signature of the key below.
set -eu

BASE='@BASE@'
KEY='@KEY@'

usage='Usage: sh install.sh [--prefix DIR] [--uninstall]
  --prefix DIR   Install below DIR instead of ~/.local
  --uninstall    Remove molar again; profiles, settings and data stay
MOLAR_RELEASES is the address to download from, where it is not the usual one.'

main() {
  prefix=''
  task=install
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix) [ $# -gt 1 ] || refuse '--prefix needs a folder.'; prefix=$2; shift ;;
      --prefix=*) prefix=${1#*=} ;;
      --uninstall) task=uninstall ;;
      --help | -h) say "$usage"; exit 0 ;;
      *) refuse "There is no option $1." ;;
    esac
    shift
  done
  if [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || refuse 'HOME is not set: name a folder with --prefix.'
    prefix=$HOME/.local
  fi
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  bin=$prefix/bin
  share=$prefix/share
  versions=$prefix/lib/molar
  umask 022
  is_ours || fail "$bin/molar is there already, and is not from here." "Remove it the way it was installed, or choose another folder with --prefix."
  $task
}

install() {
  target=$(this_system)
  base=${MOLAR_RELEASES:-$BASE}
  base=${base%/}
  case $base in
    *@*) refuse 'An address with a user name is not taken.' ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    *) refuse "$base is no https:// address." ;;
  esac
  mkdir -p "$versions" "$bin" || fail "Cannot make folders below $prefix." 'Choose another folder with --prefix.'
  # Of a run that was killed.
  rm -rf "$versions"/.new.*
  new=$versions/.new.$$
  trap 'rm -rf "$new"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  mkdir "$new"

  fetch SHA256SUMS
  check_signature
  line=$(grep -E "^[0-9a-f]{64} [ *]molar-[0-9][0-9A-Za-z.-]*-$target\.tar\.xz\$" "$new/SHA256SUMS") ||
    fail "There is no molar for $target at $base."
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "SHA256SUMS at $base lists more than one version for $target."
  archive=${line#* ?}
  name=${archive%.tar.xz}
  version=${name#molar-}
  version=${version%-"$target"}

  before=''
  [ ! -L "$bin/molar" ] || before=$(readlink "$bin/molar")
  before=${before#../lib/molar/}
  before=${before%%/*}
  if [ -d "$versions/$name" ]; then
    say "molar $version has been downloaded before."
  else
    [ "$(uname -s)" != Linux ] || command -v xz >/dev/null || fail 'xz is needed to unpack the archive.' 'Install it: it is in the package xz-utils (Debian, Ubuntu) or xz.'
    say "Downloading $archive ..."
    fetch "$archive"
    [ "$(sha256 "$new/$archive")" = "${line%% *}" ] ||
      fail "$archive is not what SHA256SUMS says: it is damaged, or was changed." 'Nothing was installed. Try again; if it stays so, tell who publishes it.'
    (cd "$new" && tar -xf "$archive") || fail "Cannot unpack $archive." "Nothing was installed. Is there space left in $prefix?"
    said=$("$new/$name/bin/molar" --version 2>&1) || fail "molar does not run on this system: $said" 'Nothing was installed. It needs glibc 2.34 or macOS 11, or newer.'
    case $said in *"/$version "*) ;; *) fail "$archive holds another version: $said" 'Nothing was installed.' ;; esac
    mv "$new/$name" "$versions/$name"
  fi

  # A new link takes the place of the old one in one step: at any moment there is a molar that runs.
  ln -s "../lib/molar/$name/bin/molar" "$new/molar"
  mv -f "$new/molar" "$bin/molar"
  remove_pages
  link_pages
  # The version before stays: a server may still be running from it.
  for old in "$versions"/molar-*; do
    case ${old##*/} in "$name" | "$before") ;; *) rm -rf "$old" ;; esac
  done
  say "molar $version is installed: $bin/molar"
  tell_path
}

uninstall() {
  [ -d "$versions" ] || [ -L "$bin/molar" ] || { say "molar is not installed below $prefix."; return; }
  config=$("$bin/molar" config path 2>/dev/null) || config='where they were'
  remove_pages
  rm -f "$bin/molar"
  rm -rf "$versions"
  say 'molar is removed. Data folders were left alone, and so were profiles and settings:'
  say "  $config"
}

# linux-x64 and so on; under Rosetta a Mac calls itself what it is not.
this_system() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=macos ;;
    *) fail "There is no molar for $(uname -s) here." 'On Windows use install.ps1; elsewhere install it with npm.' ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "There is no molar for $(uname -m) here." 'Install it with npm.' ;;
  esac
  [ "$os" != macos ] || [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" != 1 ] || arch=arm64
  say "$os-$arch"
}

fetch() {
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --proto '=http,https' --proto-redir '=https' --retry 2 \
      --connect-timeout 20 --speed-limit 1 --speed-time 60 --output "$new/$1" "$base/$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$new/$1" "$base/$1"
  else
    fail 'curl or wget is needed to download molar.'
  fi || fail "Cannot download $base/$1." 'Nothing was installed. Check the network and the space on the disk, and try again.'
}

check_signature() {
  case $(openssl version 2>/dev/null) in
    'OpenSSL '[3-9]*) ;;
    *)
      say 'The signature was not checked: that needs OpenSSL 3. What is downloaded is still compared with SHA256SUMS.'
      return
      ;;
  esac
  fetch SHA256SUMS.sig
  printf '%s\n' "$KEY" >"$new/key.pem"
  openssl pkeyutl -verify -pubin -inkey "$new/key.pem" -rawin -in "$new/SHA256SUMS" -sigfile "$new/SHA256SUMS.sig" \
    >/dev/null 2>&1 ||
    fail 'SHA256SUMS does not have the signature of those who publish molar.' 'Nothing was installed. Do not install it from there; tell who publishes it.'
}

sha256() {
  if command -v sha256sum >/dev/null; then
    sum=$(sha256sum <"$1")
  elif command -v shasum >/dev/null; then
    sum=$(shasum -a 256 <"$1")
  else
    sum=$(openssl dgst -sha256 -r <"$1")
  fi || fail "Cannot read $1."
  printf '%s' "${sum%% *}"
}

# Whether what is called molar there is a link of this script, or nothing.
is_ours() {
  [ -L "$bin/molar" ] || { [ ! -e "$bin/molar" ] && return; }
  case $(readlink "$bin/molar") in ../lib/molar/molar-*) ;; *) return 1 ;; esac
}

# Manual pages, and completion where each shell looks for it.
link_pages() {
  for folder in "$versions/$name"/share/man/man*; do
    section=${folder##*/}
    mkdir -p "$share/man/$section"
    (cd "$share/man/$section" && ln -sf "../../../lib/molar/$name/share/man/$section"/* .)
  done
  for file in "$versions/$name"/share/completions/*; do
    case $file in
      *.bash) link_completion "$file" bash-completion/completions molar ;;
      *.fish) link_completion "$file" fish/vendor_completions.d molar.fish ;;
      */_molar) link_completion "$file" zsh/site-functions _molar ;;
    esac
  done
}

link_completion() {
  mkdir -p "$share/$2"
  ln -sf "../../../lib/molar/$name/share/completions/${1##*/}" "$share/$2/$3"
}

remove_pages() {
  for link in "$share"/man/man?/molar.? "$share"/man/man?/molar-*.? "$share/bash-completion/completions/molar" \
    "$share/fish/vendor_completions.d/molar.fish" "$share/zsh/site-functions/_molar"; do
    [ ! -L "$link" ] || rm -f "$link"
  done
}

tell_path() {
  case :$PATH: in
    *":$bin:"*)
      first=$(command -v molar) || first=''
      [ "$first" = "$bin/molar" ] || say "Another molar comes first in your PATH: $first"
      say 'Next: molar demo'
      return
      ;;
  esac
  say "$bin is not in your PATH yet. To put it there, run this, then open a new terminal:"
  # The dollar sign is for the file.
  # shellcheck disable=SC2016
  case ${SHELL:-} in
    */fish) say "  fish_add_path '$bin'" ;;
    */zsh) say "  echo 'export PATH=\"$bin:\$PATH\"' >> ~/.zshrc" ;;
    */bash) say "  echo 'export PATH=\"$bin:\$PATH\"' >> ~/.bashrc" ;;
    *) say "  echo 'export PATH=\"$bin:\$PATH\"' >> ~/.profile" ;;
  esac
  say "Next: $bin/molar demo"
}

say() { printf '%s\n' "$1"; }

fail() {
  printf 'Error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'Next: %s\n' "$2" >&2
  exit 1
}

refuse() {
  printf 'Error: %s\n%s\n' "$1" "$usage" >&2
  exit 2
}

# On the last line, so that a script that was cut off on its way does nothing.
main "$@"
