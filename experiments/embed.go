// Package experiments holds the experiments as YAML files. Package spec reads them.
//
// The specs of the paper's tables and figures are in the folder paper, those of other readings of
// the paper in readings, those of what it leaves open in questions, those of Table S3 in learners
// and those of other data sets in public. The folder base has what specs include, settings the
// searches in which settings were tuned, ledgers the claims, assumptions and errata.
// The numbers that the paper prints are in paper.yaml.
package experiments

import "embed"

// Files holds all YAML files of this folder but the searches in settings.
//
//go:embed *.yaml base paper readings questions learners public ledgers
var Files embed.FS

// Folder is the path of this folder in the module, as messages show it.
const Folder = "experiments/"
