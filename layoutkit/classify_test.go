package layoutkit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestClassify(t *testing.T) {
	// Names written by hand from the contract: bucketOf("chat1") and such are not
	// asked, the buckets were computed apart (FNV-1a of "a" is 0xe40c292c, modulo 32
	// it is 12).
	for _, test := range []struct {
		key       string
		namespace Namespace
		role      role
		layout    Layout
		ids       []string
	}{
		{"p:{m:a%3Ab}:z", NamespaceMessages, roleIndex, Cluster, []string{"a:b"}},
		{"p:{m:a%3Ab}:i:x", NamespaceMessages, roleRecord, Cluster, []string{"a:b", "x"}},
		{"p:msg:a", NamespaceMessages, roleIndex, Legacy, []string{"a"}},
		{"p:msg:a:x", NamespaceMessages, roleRecord, Legacy, []string{"a", "x"}},
		{"p:{ch:12}:r:a", NamespaceChats, roleRecord, Cluster, []string{"a"}},
		{"p:{ct:12}:r:a", NamespaceContacts, roleRecord, Cluster, []string{"a"}},
		{"p:{cp:12}:r:a", NamespaceCheckpoints, roleRecord, Cluster, []string{"a"}},
		{"p:{sc:12}:r:a", NamespaceSchedules, roleRecord, Cluster, []string{"a"}},
		{"p:{sc:31}:idx", NamespaceSchedules, roleIndex, Cluster, []string{"31"}},
		{"p:chat:a", NamespaceChats, roleRecord, Legacy, []string{"a"}},
		{"p:contact:a", NamespaceContacts, roleRecord, Legacy, []string{"a"}},
		{"p:checkpoint:a", NamespaceCheckpoints, roleRecord, Legacy, []string{"a"}},
		{"p:schedule:a", NamespaceSchedules, roleRecord, Legacy, []string{"a"}},
		{"p:{ud:u}:e:n:k", NamespaceUserData, roleRecord, Cluster, []string{"u", "n", "k"}},
		{"p:{ud:u}:idx", NamespaceUserData, roleIndex, Cluster, []string{"u"}},
		{"p:user:u:n:k", NamespaceUserData, roleRecord, Legacy, []string{"u", "n", "k"}},
		{"p:{lk:%7Bx%7D}:l", NamespaceLocks, roleHolder, Cluster, []string{"{x}"}},
		{"p:{lk:x}:f", NamespaceLocks, roleCounter, Cluster, []string{"x"}},
		{"p:lock:x", NamespaceLocks, roleHolder, Legacy, []string{"x"}},
		{"p:fence:x", NamespaceLocks, roleCounter, Legacy, []string{"x"}},
		{"p:co:{t:c}:tix", NamespaceTurns, roleHolder, Cluster, []string{"c", "tix"}},
		{"p:co:turn:c:owner", NamespaceTurns, roleHolder, Legacy, []string{"c", "owner"}},
		{"p:co:{ld:n}", NamespaceLeadership, roleHolder, Cluster, []string{"n"}},
		{"p:co:{ld:n}:term", NamespaceLeadership, roleCounter, Cluster, []string{"n"}},
		{"p:co:leader:n", NamespaceLeadership, roleHolder, Legacy, []string{"n"}},
		{"p:co:leader:n:term", NamespaceLeadership, roleCounter, Legacy, []string{"n"}},
		{"p:conv:c", NamespaceConversations, roleRecord, Auto, []string{"c"}},
		{"p:cursor:c", NamespaceCursors, roleRecord, Auto, []string{"c"}},
		{"p:lease:l", NamespaceLeases, roleRecord, Auto, []string{"l"}},
		{"p:co:rep:r", NamespaceHeartbeats, roleHolder, Auto, []string{"r"}},
		{"p:{durable:in}:e:1:x", NamespaceJournal, roleRecord, Auto, []string{"in", "e:1:x"}},
		{"p:{meta}:layout", namespaceMeta, roleMarker, Auto, nil},
	} {
		want := keyClass{test.key, test.namespace, test.role, test.layout, test.ids}
		if diff := cmp.Diff(want, classify("p", test.key), cmp.AllowUnexported(keyClass{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.key, diff)
		}
	}
}

func TestForeignKeys(t *testing.T) {
	for _, key := range []string{
		"", "p", "p:", "q:chat:a", "pp:chat:a", "p:chat:", "p:chat:a:b", "p:chat", "p:CHAT:a",
		"p:chat:a b", "p:chat:%61", "p:chat:%3a", "p:chat:%", "p:chat:a*", "p:chat:ü",
		"p:{ch:11}:r:a", "p:{ch:012}:r:a", "p:{ch:32}:idx", "p:{ch:-1}:idx", "p:{ch:}:idx", "p:{zz:1}:idx",
		"p:{ch:12}", "p:{ch:12}:", "p:{ch:12}:r:", "p:{ch:12}:r:a:b", "p:{ch:12}x:r:a", "p:{ch:12:r:a",
		"p:{m:a}:i", "p:{m:a}:i:x:y", "p:{m:}:z", "p:{m:a:b}:z", "p:{m:a}:zz", "p:msg:a:b:c",
		"p:{ud:u}:e:n", "p:user:u:n", "p:user:u:n:k:z",
		"p:{lk:x}:g", "p:{lk:x}", "p:co:{t:c}:other", "p:co:{ld:n}:", "p:co:{ld:n}:terms", "p:co:turn:c:other",
		"p:co:leader:n:other", "p:co:rep", "p:co", "p:{durable:}:x", "p:{durable:t}", "p:{durable:t}:",
		"p:{meta}:other", "p:{meta}", "p:{meta:x}:layout", "p:conv:a:b",
	} {
		if c := classify("p", key); c.role != roleForeign || c.namespace != "" || c.layout != Auto {
			t.Errorf("%q is %+v, not foreign", key, c)
		}
	}
}

// Every name is recognised as what it was made of, whatever the ids.
func TestClassifyIsTheInverseOfNames(t *testing.T) {
	id := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.Byte(), 1, 30).Draw(t, "bytes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom([]Layout{Legacy, Cluster}).Draw(t, "layout")
		n := names{rapid.SampledFrom([]string{"p", "a:b", "p*[x]?", "msg"}).Draw(t, "prefix"), layout}
		a, b, c := id.Draw(t, "a"), id.Draw(t, "b"), id.Draw(t, "c")
		lock, fence := n.lock(a)
		leader, term := n.leader(a)
		want := []keyClass{
			{n.messageLog(a), NamespaceMessages, roleIndex, layout, []string{a}},
			{n.messageItem(a, b), NamespaceMessages, roleRecord, layout, []string{a, b}},
			{n.userEntry(a, b, c), NamespaceUserData, roleRecord, layout, []string{a, b, c}},
			{lock, NamespaceLocks, roleHolder, layout, []string{a}},
			{fence, NamespaceLocks, roleCounter, layout, []string{a}},
			{leader, NamespaceLeadership, roleHolder, layout, []string{a}},
			{term, NamespaceLeadership, roleCounter, layout, []string{a}},
			{n.turn(a, "seq"), NamespaceTurns, roleHolder, layout, []string{a, "seq"}},
			{n.heartbeat(a), NamespaceHeartbeats, roleHolder, Auto, []string{a}},
			{n.conversation(a), NamespaceConversations, roleRecord, Auto, []string{a}},
			{n.cursor(a), NamespaceCursors, roleRecord, Auto, []string{a}},
			{n.lease(a), NamespaceLeases, roleRecord, Auto, []string{a}},
		}
		for k := range kinds {
			want = append(want, keyClass{n.record(kind(k), a), kindNamespaces[k], roleRecord, layout, []string{a}})
		}
		for _, w := range want {
			if diff := cmp.Diff(w, classify(n.prefix, w.key), cmp.AllowUnexported(keyClass{})); diff != "" {
				t.Fatalf("%q (-want +got):\n%s", w.key, diff)
			}
		}
	})
}
