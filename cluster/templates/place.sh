{{define "place" -}}
export PLAN={{.Plan}}
export RUNALL=${RUNALL:-{{.Program}}}
export RESULTS=${RESULTS:-$PLAN/results}
export DATA={{.DataDir}} # searched before all other folders, if not empty
{{with .EnvDataDir}}export POLK_DATA_DIR={{.}}
{{end}}cd -- {{.Workdir}}
{{- end}}
