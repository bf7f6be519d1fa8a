package resp

// Sink receives one reply, written left to right. Handlers write to a Sink and
// never build reply trees; what comes out is decided by the Sink: RESP2 or
// RESP3 bytes (Encoder) or Lua values (lua.Builder).
//
// Aggregates announce how many items follow; the items are then written to the
// same Sink. In RESP2 a Map of n pairs is an array of 2n items, a Set an array,
// a Double a bulk string, a Bool the integers 1 and 0, a Null a null bulk.
type Sink interface {
	// Status writes a simple string such as OK, without the leading plus.
	Status(s string)
	// Error writes an error without the leading minus; its first word is the
	// code: "ERR syntax error". Carriage returns and newlines become spaces.
	Error(msg string)
	Int(n int64)
	// Bulk writes a bulk string. b is copied before Bulk returns.
	Bulk(b []byte)
	BulkString(s string)
	// Null writes the null bulk string of RESP2, the null of RESP3.
	Null()
	// NullArray writes the null array of RESP2, the null of RESP3.
	NullArray()
	Array(n int)
	// Map announces n pairs, key then value.
	Map(n int)
	Set(n int)
	// Push announces an out-of-band message; an array in RESP2.
	Push(n int)
	// Double writes f as Redis prints a double in the protocol at hand: 17
	// significant digits, "inf", "-inf", "nan".
	Double(f float64)
	// Decimal writes a floating point number that the command has printed in its
	// own way; a bulk string in RESP2.
	Decimal(digits string)
	Bool(b bool)
	// BigNumber writes an integer of any size given in decimal digits; a bulk
	// string in RESP2.
	BigNumber(digits string)
	// Verbatim writes text with its three-letter format ("txt", "mkd"); a bulk
	// string in RESP2.
	Verbatim(format, text string)
	// Proto is the protocol version the reply is meant for, 2 or 3: some
	// commands shape their answer by it.
	Proto() int
}
