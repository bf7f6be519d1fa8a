// Package oracle holds the emulator against real Redis: it sends the same
// bytes to both and compares every reply byte for byte.
//
// The one idea: a test is a list of steps, whoever wrote it. Recorded scripts
// (testdata/*.txt) and the seeded random generator (grammar/*.txt) both make
// steps; the runner executes them on the two sides, a rule per command forgives
// what Redis itself leaves open (the order of a hash table, a random member, a
// time, an address) and nothing else; and the first difference is shrunk to the
// shortest list of steps that still shows it.
package oracle
