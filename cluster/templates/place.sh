{{define "place" -}}
export PLAN={{.Plan}}
export RUNALL=${RUNALL:-{{.Program}}}
export RESULTS=${RESULTS:-$PLAN/results}
export DATA={{.DataDir}} # searched before all other folders, if not empty
# Relative paths are relative to the caller's folder, not to the one below.
case $RESULTS in /*) ;; *) RESULTS=$PWD/$RESULTS ;; esac
case $RUNALL in /*) ;; */*) RUNALL=$PWD/$RUNALL ;; esac
{{with .EnvDataDir}}export POLK_DATA_DIR={{.}}
{{end}}cd -- {{.Workdir}}
{{- end}}
