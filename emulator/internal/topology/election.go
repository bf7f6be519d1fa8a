package topology

// election is a replica's attempt to become master.
type election struct {
	at    int64  // when votes are asked for, 0 for never before
	sent  bool   // votes have been asked for
	epoch uint64 // of the attempt
	votes int
	rank  int // how many replicas of the same master know more
}
