package resp

// Discard is the Sink for replies nobody reads: CLIENT REPLY OFF, commands a
// replica applies. It still records errors.
type Discard struct {
	Outcome
	// Version is what Proto returns; 0 stands for 2.
	Version int
}

// Error records msg.
func (d *Discard) Error(msg string) { d.failed(msg) }

// Proto is the protocol version the discarded reply is shaped for.
func (d *Discard) Proto() int {
	if d.Version == 3 {
		return 3
	}
	return 2
}

// Status, Int and the rest write nothing.
func (d *Discard) Status(string)           {}
func (d *Discard) Int(int64)               {}
func (d *Discard) Bulk([]byte)             {}
func (d *Discard) BulkString(string)       {}
func (d *Discard) Null()                   {}
func (d *Discard) NullArray()              {}
func (d *Discard) Array(int)               {}
func (d *Discard) Map(int)                 {}
func (d *Discard) Set(int)                 {}
func (d *Discard) Push(int)                {}
func (d *Discard) Double(float64)          {}
func (d *Discard) Bool(bool)               {}
func (d *Discard) Decimal(string)          {}
func (d *Discard) BigNumber(string)        {}
func (d *Discard) Verbatim(string, string) {}

var (
	_ Sink = (*Encoder)(nil)
	_ Sink = (*Discard)(nil)
)
