// Package resp is both directions of the Redis protocol. Parser turns bytes
// that arrive in any pieces into commands, with the limits, error texts and
// leniencies of a real server. Sink is where a handler writes its reply;
// Encoder makes RESP2 or RESP3 of it and Discard nothing at all.
//
// The one idea: neither side knows a socket. Bytes are handed in and handed
// out, so a connection decides when to read, when to execute and when to flush.
package resp
