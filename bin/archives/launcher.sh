#!/bin/sh
# Runs molar with the Node that lies beside it, wherever the folder is and whatever links lead here.
file=$0
while [ -L "$file" ]; do
  link=$(readlink "$file")
  case $link in
    /*) file=$link ;;
    *) file=${file%/*}/$link ;;
  esac
done
root=$(CDPATH= cd -- "${file%/*}/.." && pwd -P) || exit
exec "$root/libexec/node" "$root/lib/bin/run.js" "$@"
