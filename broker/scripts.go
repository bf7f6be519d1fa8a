package broker

import (
	_ "embed" // the scripts

	"github.com/fakecluster/fakecluster/shim"
)

//go:embed scripts/take.lua
var takeSource string

//go:embed scripts/claim.lua
var claimSource string

//go:embed scripts/orphans.lua
var orphansSource string

//go:embed scripts/settle_list.lua
var settleListSource string

//go:embed scripts/settle_stream.lua
var settleStreamSource string

//go:embed scripts/delay.lua
var delaySource string

//go:embed scripts/due.lua
var dueSource string

//go:embed scripts/return_list.lua
var returnListSource string

//go:embed scripts/return_stream.lua
var returnStreamSource string

//go:embed scripts/leave.lua
var leaveSource string

// Times are those of the server in every script, so that the clocks of consumers do
// not matter.
var (
	takeScript         = shim.NewScript(takeSource, "queue", "processing", "claims")
	claimScript        = shim.NewScript(claimSource, "claims")
	orphansScript      = shim.NewScript(orphansSource, "processing", "claims")
	settleListScript   = shim.NewScript(settleListSource, "processing", "target or claims...")
	settleStreamScript = shim.NewScript(settleStreamSource, "stream", "target...")
	delayScript        = shim.NewScript(delaySource, "delay queue")
	dueScript          = shim.NewScript(dueSource, "delay queue")
	returnListScript   = shim.NewScript(returnListSource, "delay queue", "queue")
	returnStreamScript = shim.NewScript(returnStreamSource, "delay queue", "stream")
	leaveScript        = shim.NewScript(leaveSource, "stream")
)
