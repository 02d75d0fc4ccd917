package spec_test

import _ "polkrepro/harness" // registers the methods that specs and records name
