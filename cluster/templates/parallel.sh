#!/bin/bash
# Written by runall cluster plan: its tasks on this machine, by GNU parallel, or only those
# whose numbers are its arguments. Runs that are finished are kept. RUNALL, RESULTS
# and JOBS (tasks at a time; default one a core) may be set in the environment.
set -eu
{{template "place" .}}
[ $# -gt 0 ] || set -- $(seq 0 {{.LastTask}})
ordinary=() large=()
for k; do
	if [ "$k" -lt {{.Ordinary}} ]; then ordinary+=("$k"); else large+=("$k"); fi
done
# Paths reach the jobs by the environment, where nothing has to be quoted.
job='"$RUNALL" cluster exec "$PLAN" --task {} --results "$RESULTS" ${DATA:+--data-dir "$DATA"} --progress plain >>"$PLAN/log/{}.out" 2>&1'
status=0
if [ ${#ordinary[@]} -gt 0 ]; then
	printf '%s\n' "${ordinary[@]}" | GOMAXPROCS="${GOMAXPROCS:-1}" GOMEMLIMIT="${GOMEMLIMIT:-{{.Limit}}MiB}" \
		parallel --halt never --jobs "${JOBS:-100%}" "$job" || status=$?
fi
# Those that need a large memory: one after another on all cores.
if [ ${#large[@]} -gt 0 ]; then
	printf '%s\n' "${large[@]}" | parallel --halt never --jobs 1 "$job" || status=$?
fi
exit $status
