// Schemagen writes the JSON Schema of experiment specs. It is run by
//
//	go generate ./experiments
package main

import (
	"flag"
	"log"
	"os"

	"polkrepro/experiments/internal/doc"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("schemagen: ")
	out := flag.String("o", "schema.json", "file to write")
	flag.Parse()
	b, err := doc.Schema()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, b, 0o644); err != nil {
		log.Fatal(err)
	}
}
