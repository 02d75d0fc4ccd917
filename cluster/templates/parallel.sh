#!/bin/bash
# Written by runall plan: its tasks on this machine, by GNU parallel. A second
# call goes on with those that are not done; with numbers of tasks as arguments
# it does these in any case. RUNALL, RESULTS and JOBS (tasks at a time; default
# one a core) may be set in the environment.
set -eu
{{template "place" .}}
# Paths reach the jobs by the environment, where nothing has to be quoted.
job='"$RUNALL" exec "$PLAN" --task {} --results "$RESULTS" ${DATA:+--data-dir "$DATA"} --progress plain >>"$PLAN/log/{}.out" 2>&1'
if [ $# -gt 0 ]; then
	printf '%s\n' "$@" | parallel --halt never --jobs "${JOBS:-100%}" "$job"
	exit
fi
status=0
{{- if .Ordinary}}
seq 0 {{.LastOrdinary}} | GOMAXPROCS="${GOMAXPROCS:-1}" GOMEMLIMIT="${GOMEMLIMIT:-{{.Limit}}MiB}" \
	parallel --halt never --jobs "${JOBS:-100%}" --joblog "$PLAN/log/parallel.tsv" --resume-failed "$job" || status=$?
{{- end}}
{{- if .Large}}
# Those that need a large memory ({{.LargeMemory}} MiB): one after another on all cores.
seq {{.Ordinary}} {{.LastTask}} |
	parallel --halt never --jobs 1 --joblog "$PLAN/log/parallel-large.tsv" --resume-failed "$job" || status=$?
{{- end}}
exit $status
