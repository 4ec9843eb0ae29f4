#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs BUILD into a scratch folder, moves it (nothing may remember where it was built), and builds a project outside the tree on it: with
# find_package(Pkc), and by hand with pkg-config. usage: check_install.sh BUILD SOURCE
set -eu
build=$1 project=$2/project
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/pkc"
prefix=$scratch/pkc

echo "== find_package"
cmake -S "$project" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$scratch/cmake" >/dev/null
"$scratch/cmake/outside"

echo "== pkg-config"
libdir=$(dirname "$(find "$prefix" -name libpkrt.pc)")
export PKG_CONFIG_PATH=$libdir
"$prefix/bin/pkc" "$project/double_rows.pk" --emit=header -o "$scratch/double_rows.pk.h"
# shellcheck disable=SC2046
cc -std=c17 "$project/main.c" -I"$scratch" $(pkg-config --cflags libpkrt) $(pkg-config --libs libpkrt) -o "$scratch/by_hand"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir libpkrt) "$scratch/by_hand"

echo "== programs"
"$prefix/bin/pkrun" "$project/double_rows.pk" M=20 N=70 --backend sim
