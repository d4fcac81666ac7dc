package sequence

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
)

// Every type of node and every code that is stored has a letter of its own, and what is stored is read again.
func TestRecordsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	if len(nodeTypesByMark) != len(NodeTypes()) || len(whyCodesByMark) != len(whyMarks) {
		t.Error("two types of nodes, or two codes, have the same letter")
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	present := []WhyCode{AtWait, AtPause, AtPending} // are not stored
	var g Graph
	for _, typ := range NodeTypes() {
		g.Nodes = append(g.Nodes, Node{ID: "of_" + string(typ), Type: typ, Config: []byte(`{"a": 1}`)})
	}
	var log strings.Builder
	var want []visit
	for i, code := range WhyCodes() {
		if slices.Contains(present, code) {
			continue
		}
		n := g.Nodes[i%len(g.Nodes)]
		v := visit{node: n.ID, typ: n.Type, fingerprint: n.fingerprint(), at: at.Add(time.Duration(i) * time.Hour), left: true, why: Why{Code: code}}
		switch i % 3 {
		case 0:
			v.label, v.why.Until = "a label, with \\ and ü", new(at.Add(24*time.Hour))
		case 1:
			v.why.Reason, v.why.Visit = "unsubscribed_type", 100
		case 2:
			v.why.Delivery = id.New[id.Delivery]()
		}
		want = append(want, v)
		log.WriteString(record{enters: g.mark(n.ID), at: v.at}.text() + record{label: v.label, why: &v.why}.text())
	}
	log.WriteString(record{enters: g.mark("gone"), at: at}.text())
	want = append(want, visit{node: "gone", at: at})
	all := cmp.AllowUnexported(visit{})
	if diff := cmp.Diff(want, visits(log.String()), all); diff != "" {
		t.Errorf("written (-) and read (+)\n%s", diff)
	}
	// A log that was cut anywhere has the visits that follow.
	text := log.String()
	for cut := range text {
		if got, rest := visits(text[cut:]), want[strings.Count(text[:cut], "\n"):]; len(got) != len(rest) || len(got) > 0 && !cmp.Equal(got[0], rest[0], all) {
			t.Fatalf("cut after %d characters, %d visits are read, want %d", cut, len(got), len(rest))
		}
	}
	for _, damaged := range []string{"", "x", "\n", "\n\n", "\n1\t\t\t", "\n1\ts\tf", "\tx\trmanual", "\n!\t?\t\t?\t?\t\t"} {
		_ = visits(damaged)
	}
	if a, b := (Node{Type: TagNode, Config: []byte(`{"b":1,"a":[2]}`)}), (Node{Type: TagNode, Config: []byte(`{ "a": [2], "b": 1 }`)}); a.fingerprint() != b.fingerprint() {
		t.Error("the same configuration has two fingerprints")
	}
}
