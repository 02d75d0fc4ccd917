package main
import ("testing";"os";"context";"io";"strings")
func TestZZProf(t *testing.T){ if os.Getenv("ZZ")=="" {t.Skip()}
 cmd:=newTrain(); cmd.SetArgs(strings.Fields(os.Getenv("ZZ"))); cmd.SetErr(os.Stderr); cmd.SetOut(io.Discard); if err:=cmd.ExecuteContext(context.Background()); err!=nil {t.Fatal(err)} }
