package keyspace

// What a group has read of a stream is counted as long as deletions do not make
// that impossible; these are Redis' rules of when it is.

// deletedFrom reports whether an entry from start on was deleted, as far as the
// stream remembers: it keeps the greatest ID only.
func (s *Stream) deletedFrom(start StreamID) bool {
	if s.length == 0 || s.MaxDeletedID.IsZero() || !s.strictLag() && s.FirstID.Compare(s.MaxDeletedID) > 0 {
		return false
	}
	return start.Compare(s.MaxDeletedID) <= 0
}

// strictLag tells whether a deletion counts for an ID before it even if the
// stream now starts behind it, as it does from 7.4 on.
func (s *Stream) strictLag() bool { return s.limits.Version.AtLeast(7, 4) }

// entriesUpTo counts the entries ever added up to id, or UnknownEntriesRead.
func (s *Stream) entriesUpTo(id StreamID) int64 {
	switch {
	case s.EntriesAdded == 0:
		return 0
	case s.length == 0 && id.Compare(s.LastID) <= 0:
		return s.EntriesAdded
	case s.strictLag() && !id.IsZero() && id.Compare(s.MaxDeletedID) < 0:
		return UnknownEntriesRead
	case id == s.LastID:
		return s.EntriesAdded
	case id.Compare(s.LastID) > 0:
		return UnknownEntriesRead
	}
	if s.MaxDeletedID.IsZero() || s.MaxDeletedID.Compare(s.FirstID) < 0 {
		switch before := s.EntriesAdded - int64(s.length); {
		case id.Compare(s.FirstID) < 0:
			return before
		case id == s.FirstID:
			return before + 1
		}
	}
	return UnknownEntriesRead
}

// Deliver moves a group to an entry that it gets now. It reports whether the
// entry is new to the group.
func (s *Stream) Deliver(g *Group, id StreamID) bool {
	if id.Compare(g.LastID) <= 0 {
		return false
	}
	if g.EntriesRead != UnknownEntriesRead && !s.deletedFrom(id) {
		g.EntriesRead++
	} else if s.EntriesAdded != 0 {
		g.EntriesRead = s.entriesUpTo(id)
	}
	g.LastID = id
	return true
}

// Lag is the number of entries the group has still to read; ok is false if it
// cannot be told.
func (s *Stream) Lag(g *Group) (lag int64, ok bool) {
	if s.EntriesAdded == 0 {
		return 0, true
	}
	read := g.EntriesRead
	if read == UnknownEntriesRead || s.deletedFrom(g.LastID) {
		read = s.entriesUpTo(g.LastID)
	}
	return s.EntriesAdded - read, read != UnknownEntriesRead
}
