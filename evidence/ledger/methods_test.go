package ledger_test

import _ "polkrepro/harness" // registers the methods that specs name
