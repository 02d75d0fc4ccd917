#!/bin/bash
# N shards on this machine, one a core: bash docs/cluster/parallel.sh N [SPEC... FLAG...]
export GOMAXPROCS=1
seq "$1" | parallel --quote --halt never "${RUNALL:-bin/runall}" reproduce "${@:2}" --shard "{}/$1" \
	--results shards/{} --require-data --progress plain
