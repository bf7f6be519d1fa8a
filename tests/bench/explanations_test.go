package bench

// explanations say, for each section, how it is measured, and why goals are
// missed and what it would take to reach them.
var explanations = map[string]struct{ how, misses string }{
	"start":      {how: "", misses: ""},
	"in-process": {how: "", misses: ""},
	"tcp":        {how: "", misses: ""},
	"big-keys":   {how: "", misses: ""},
	"memory":     {how: "", misses: ""},
	"crowds":     {how: "", misses: ""},
	"garbage":    {how: "", misses: ""},
}
