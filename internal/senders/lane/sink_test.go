package lane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/mail/reply"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func sinkWith(list ...lane.FailPatternFields) lane.Fields {
	return lane.Fields{Name: new("Trial"), Type: new(lane.Sink), FailPatterns: &list}
}

func TestTheFirstPatternThatMatchesRefusesMail(t *testing.T) {
	t.Parallel()
	db, box := dbtest.One(t), newBox(t)
	for _, tt := range []struct {
		pattern       string
		match, differ []string
	}{
		{"ann@example.com", []string{"ann@example.com"}, []string{"joann@example.com", "ann@example.com.au", "ann@mail.example.com", "bob@example.com"}},
		{" Ann@Example.COM ", []string{"ann@example.com"}, nil},
		{"example.com", []string{"ann@example.com", "bob@example.com"}, []string{"ann@mail.example.com", "ann@anexample.com", "example.com@example.org"}},
		{"*.example.com", []string{"ann@mail.example.com", "ann@a.b.example.com"}, []string{"ann@example.com"}},
		{"*example.com", []string{"ann@example.com", "ann@anexample.com"}, []string{"ann@example.com.au"}},
		{"mail.*", []string{"ann@mail.example.com", "ann@mail.example"}, []string{"mail.x@example.com"}},
		{"m*l.*.com", []string{"ann@mail.example.com", "ann@mel.ml.com"}, []string{"ann@m.example.com", "ann@mail.com"}},
		{"*", []string{"ann@example.com", "bob@mail.example.org"}, nil},
		{"bounce*@example.com", []string{"bounce@example.com", "bounce-17@example.com"}, []string{"ann-bounce@example.com", "bounce@example.org"}},
		{"*+full*@*", []string{"ann+full@example.com", "x+fuller@a.b.example"}, []string{"ann@full.example", "full@example.com"}},
		{"*@bücher.*", []string{"ann@xn--bcher-kva.example"}, []string{"ann@bucher.example"}},
		{"Bücher.example", []string{"ann@xn--bcher-kva.example"}, nil},
		{"a*b*a@example.com", []string{"aba@example.com", "abba@example.com"}, []string{"aa@example.com", "ab@example.com", "a@example.com"}},
	} {
		c, err := lane.Create(t.Context(), db, box, idtest.Tenant(), sinkWith(lane.FailPatternFields{Pattern: tt.pattern, Response: "550 no"}), lane.Rules{}, noon)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		for i, to := range append(tt.match, tt.differ...) {
			if got := c.Sink.Refusal(to); (got != "") != (i < len(tt.match)) {
				t.Errorf("%s: mail to %s is answered with %q", tt.pattern, to, got)
			}
		}
	}
	c, err := lane.Create(t.Context(), db, box, idtest.Tenant(), sinkWith(
		lane.FailPatternFields{Pattern: "ann@example.com", Response: "451 later"}, lane.FailPatternFields{Pattern: "example.com", Response: "550 no "},
	), lane.Rules{}, noon)
	if err != nil || c.Sink.Refusal("ann@example.com") != "451 later" || c.Sink.Refusal("bob@example.com") != "550 no" || c.Sink.Refusal("bob@example.org") != "" {
		t.Errorf("%+v, %v", c.Sink, err)
	}
}

func TestWrongPatternsAreReportedTogether(t *testing.T) {
	t.Parallel()
	db, box := dbtest.One(t), newBox(t)
	pattern := func(s string) lane.FailPatternFields {
		return lane.FailPatternFields{Pattern: s, Response: "550 no"}
	}
	response := func(i int, s string) lane.FailPatternFields {
		return lane.FailPatternFields{Pattern: fmt.Sprintf("d%d.example", i), Response: s}
	}
	var list []lane.FailPatternFields
	var wrong []string
	for _, s := range []string{
		"", "localhost", "a b@example.com", "ann@", "@example.com", "a@b@example.com", "ann@[192.0.2.1]", "<ann@example.com>", "ann@example.com, bob@example.com", "*..com",
		"exa mple.*", "bü*.example", "ann.@*", "\"a b\"@example.com", "ann@example.com\n*", strings.Repeat("a", 243) + ".example.com", "^.*$", "192.0.2.1", "ä@example.com", "\xff*.com",
	} {
		wrong = append(wrong, fmt.Sprintf("settings.fail_patterns[%d].pattern", len(list)))
		list = append(list, pattern(s))
	}
	for i, s := range []string{
		"", "250 ok", "399 no", "600 no", "55 no", "5500 no", "550-no", "550no", " 550 no", "no", "550 no\r\n", "550 no\n550 no", "550 \x00", "550 \xff", "550 a\u2028b",
		"550 " + strings.Repeat("x", 497),
	} {
		wrong = append(wrong, fmt.Sprintf("settings.fail_patterns[%d].response", len(list)))
		list = append(list, response(i, s))
	}
	_, err := lane.Create(t.Context(), db, box, idtest.Tenant(), sinkWith(list...), lane.Rules{}, noon)
	if diff := cmp.Diff(wrong, invalidPaths(t, err)); diff != "" {
		t.Errorf("Create = %v; wrong fields (-want +got):\n%s", err, diff)
	}
	_, err = lane.Create(t.Context(), db, box, idtest.Tenant(), sinkWith(pattern("example.com"), pattern("EXAMPLE.com"), lane.FailPatternFields{}), lane.Rules{}, noon)
	if diff := cmp.Diff([]string{"settings.fail_patterns[1].pattern", "settings.fail_patterns[2].pattern", "settings.fail_patterns[2].response"}, invalidPaths(t, err)); diff != "" {
		t.Errorf("Create = %v; wrong fields (-want +got):\n%s", err, diff)
	}
	for _, tt := range []struct {
		name   string
		fields lane.Fields
		wrong  []string
	}{
		{"the longest response", sinkWith(lane.FailPatternFields{Pattern: "a.example", Response: "550 " + strings.Repeat("x", 496)}), nil},
		{"a code alone", sinkWith(lane.FailPatternFields{Pattern: "a.example", Response: "450"}), nil},
		{"too many", sinkWith(manyPatterns(51)...), []string{"settings.fail_patterns"}},
		{"as many as there may be", sinkWith(manyPatterns(50)...), nil},
		{"of a relay", with(relay("smtp.example.net"), func(f *lane.Fields) { f.FailPatterns = &[]lane.FailPatternFields{pattern("a.example")} }), []string{"settings.fail_patterns"}},
		{"none of a relay", with(relay("smtp.example.net"), func(f *lane.Fields) { f.FailPatterns = &[]lane.FailPatternFields{} }), nil},
		{"of a change without a type", lane.Fields{FailPatterns: &[]lane.FailPatternFields{pattern("a b")}}, []string{"settings.fail_patterns[0].pattern"}},
	} {
		check := tt.fields.CheckNew
		if tt.fields.Type == nil {
			check = tt.fields.Check
		}
		if diff := cmp.Diff(tt.wrong, invalidPaths(t, check(lane.Rules{}))); diff != "" {
			t.Errorf("%s: wrong fields (-want +got):\n%s", tt.name, diff)
		}
	}
}

func with(f lane.Fields, change func(*lane.Fields)) lane.Fields {
	change(&f)
	return f
}

func manyPatterns(n int) (list []lane.FailPatternFields) {
	for i := range n {
		list = append(list, lane.FailPatternFields{Pattern: fmt.Sprintf("d%d.example", i), Response: "550 no"})
	}
	return list
}

func TestPatternsAreStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box, mine, other := newBox(t), idtest.Tenant(), idtest.TenantNamed("other")
		fields := sinkWith(lane.FailPatternFields{Pattern: "*.Example.com", Response: "550 5.1.1 no such user"})
		made, err := lane.Create(t.Context(), db, box, mine, fields, lane.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := lane.Create(t.Context(), db, box, other, fields, lane.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := []lane.FailPattern{{Pattern: "*.example.com", Response: "550 5.1.1 no such user"}}
		if got, err := lane.ByID(t.Context(), db, mine, made.ID); err != nil || !slices.Equal(got.Sink.FailPatterns, want) {
			t.Errorf("stored: %+v, %v", got.Sink, err)
		}
		for _, step := range []struct {
			fields lane.Fields
			want   []lane.FailPattern
		}{
			{lane.Fields{Name: new("Renamed")}, want},
			{lane.Fields{FailPatterns: &[]lane.FailPatternFields{}}, nil},
		} {
			if _, err := lane.Update(t.Context(), db, box, mine, made.ID, step.fields, lane.Rules{}, noon); err != nil {
				t.Fatal(err)
			}
			if got, err := lane.ByID(t.Context(), db, mine, made.ID); err != nil || !slices.Equal(got.Sink.FailPatterns, step.want) {
				t.Errorf("after a change: %+v, %v; want %+v", got.Sink, err, step.want)
			}
		}
		if got, err := lane.ByID(t.Context(), db, other, theirs.ID); err != nil || !slices.Equal(got.Sink.FailPatterns, want) {
			t.Errorf("the other tenant's: %+v, %v", got.Sink, err)
		}
	})
}

// FuzzFailPatterns checks that what is accepted can be parsed as a reply that refuses, has a canonical
// spelling, and matches the address that its pattern is.
func FuzzFailPatterns(f *testing.F) {
	for _, s := range []string{"ann@example.com", "*@*", "**", "*.b*.example", "bücher.example", "xn--*.example", "a@b@c.example", "-*.example", "@", "*@", ".*"} {
		f.Add(s, "550 5.1.1 no such user")
	}
	f.Add("a.example", "421")
	f.Add("a.example", "550-x\r\n550 y")
	f.Fuzz(func(t *testing.T, pattern, response string) {
		fields := sinkWith(lane.FailPatternFields{Pattern: pattern, Response: response})
		s, err := lane.SinkSettingsOf(fields)
		if err != nil {
			return
		}
		again, err := lane.SinkSettingsOf(sinkWith(lane.FailPatternFields{Pattern: s.FailPatterns[0].Pattern, Response: s.FailPatterns[0].Response}))
		if err != nil || again.FailPatterns[0] != s.FailPatterns[0] {
			t.Errorf("%+v is not canonical: %+v, %v", s, again, err)
		}
		if addr, err := address.Normalize(pattern); err == nil && s.Refusal(addr) == "" {
			t.Errorf("%q does not match itself", pattern)
		}
		r, err := reply.Parse(s.FailPatterns[0].Response)
		if err != nil || r.Code < 400 || r.Code > 599 {
			t.Errorf("Parse(%q) = %+v, %v", response, r, err)
		}
		if o := r.Outcome(reply.Rcpt); reply.Classify(o).Class == reply.Accepted {
			t.Errorf("%q accepts", response)
		}
		for _, to := range []string{"ann@example.com", "x@a.b.example", "*@example.com"} {
			s.Refusal(to)
		}
	})
}
