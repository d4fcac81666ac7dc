package lane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// amazon are the records that Amazon SES needs for a MAIL FROM domain.
var amazon = []lane.ReturnPathRecordFields{
	{Type: "MX", Value: "feedback-smtp.eu-central-1.amazonses.com"},
	{Type: "TXT", Value: `"v=spf1 include:amazonses.com ~all"`},
}

func TestRulesOfReturnPathRecords(t *testing.T) {
	t.Parallel()
	record := func(kind, host, value string) lane.ReturnPathRecordFields {
		return lane.ReturnPathRecordFields{Type: kind, Host: host, Value: value}
	}
	prioritized := func(kind string, priority int) lane.ReturnPathRecordFields {
		return lane.ReturnPathRecordFields{Type: kind, Value: "mx.example", Priority: &priority}
	}
	several := func(n int) (list []lane.ReturnPathRecordFields) {
		for i := range n {
			list = append(list, record("MX", "", fmt.Sprintf("mx%d.relay.example", i)))
		}
		return list
	}
	sink := lane.Fields{Name: new("x"), Type: new(lane.Sink)}
	direct := lane.Fields{Name: new("x"), Type: new(lane.DirectMX), IPs: &[]lane.SourceFields{{IP: "192.0.2.1", HELO: "out.example.net"}}}
	for _, tt := range []struct {
		name   string
		fields lane.Fields
		list   []lane.ReturnPathRecordFields
		wrong  []string
	}{
		{"of Amazon SES", relay("smtp.example.net"), amazon, nil},
		{"none of a sink", sink, []lane.ReturnPathRecordFields{}, nil},
		{"of a sink", sink, amazon, []string{"return_path_records"}},
		{"of direct delivery", direct, amazon, []string{"return_path_records"}},
		{"without fields", relay("smtp.example.net"), make([]lane.ReturnPathRecordFields, 2), []string{"return_path_records[0].type", "return_path_records[0].value", "return_path_records[1].type", "return_path_records[1].value"}},
		{"of another type", relay("smtp.example.net"), []lane.ReturnPathRecordFields{record("A", "", "192.0.2.1")}, []string{"return_path_records[0].type"}},
		{"hosts", relay("smtp.example.net"), []lane.ReturnPathRecordFields{record("mx", "a_b.example", "x.example"), record("CNAME", "a.example", "*.example"), record("MX", "a.example", "192.0.2.1"), record("CNAME", "b.example", "B.example.")},
			[]string{"return_path_records[0].host", "return_path_records[1].value", "return_path_records[2].value", "return_path_records[3].value"}},
		{"texts", relay("smtp.example.net"), []lane.ReturnPathRecordFields{record("TXT", "", "a\nb"), record("TXT", "", "ä"), record("TXT", "", `a"b`), record("TXT", "", strings.Repeat("x", 1001)), record("TXT", "", "v=spf1 includ:x"), record("TXT", "", "v=spf1 +all")},
			[]string{"return_path_records[0].value", "return_path_records[1].value", "return_path_records[2].value", "return_path_records[3].value", "return_path_records[4].value", "return_path_records[5].value"}},
		{"priorities", relay("smtp.example.net"), []lane.ReturnPathRecordFields{prioritized("MX", 0), prioritized("MX", 65536), prioritized("MX", -1), prioritized("CNAME", 10)},
			[]string{"return_path_records[1].priority", "return_path_records[2].priority", "return_path_records[3].priority"}},
		{"twice", relay("smtp.example.net"), []lane.ReturnPathRecordFields{record("MX", "", "mx.example"), record("MX", "", "MX.example."), record("MX", "b.example", "mx.example")}, []string{"return_path_records[1]"}},
		{"two policies", relay("smtp.example.net"), []lane.ReturnPathRecordFields{record("TXT", "", "v=spf1 -all"), record("TXT", "", "token"), record("TXT", "", "v=spf1 mx -all"), record("TXT", "b.example", "v=spf1 -all")}, []string{"return_path_records[2].value"}},
		{"an alias beside another record", relay("smtp.example.net"), []lane.ReturnPathRecordFields{record("CNAME", "", "a.example"), record("TXT", "", "x"), record("CNAME", "b.example", "a.example")}, []string{"return_path_records[1].host"}},
		{"as many as there may be", relay("smtp.example.net"), several(10), nil},
		{"too many", relay("smtp.example.net"), several(11), []string{"return_path_records"}},
		{"of a change", lane.Fields{}, []lane.ReturnPathRecordFields{record("MX", "", "")}, []string{"return_path_records[0].value"}},
	} {
		tt.fields.ReturnPath = &tt.list
		check := tt.fields.CheckNew
		if tt.fields.Type == nil {
			check = tt.fields.Check
		}
		if diff := cmp.Diff(tt.wrong, invalidPaths(t, check(lane.Rules{}))); diff != "" {
			t.Errorf("%s: wrong fields (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReturnPathRecordsAreStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		box, mine, other := newBox(t), idtest.Tenant(), idtest.TenantNamed("other")
		fields := relay("smtp.example.net")
		fields.ReturnPath = &amazon
		made, err := lane.Create(t.Context(), db, box, mine, fields, lane.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := lane.Create(t.Context(), db, box, other, fields, lane.Rules{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		want := []lane.ReturnPathRecord{
			{Type: "MX", Value: "feedback-smtp.eu-central-1.amazonses.com", Priority: 10}, {Type: "TXT", Value: "v=spf1 include:amazonses.com ~all"},
		}
		changed := []lane.ReturnPathRecord{{Type: "MX", Host: "em.acme.example", Value: "mx.example", Priority: 0}, {Type: "CNAME", Host: "xn--bcher-kva.example", Value: "a.example"}}
		for _, step := range []struct {
			fields lane.Fields
			want   []lane.ReturnPathRecord
		}{
			{lane.Fields{Name: new("Renamed")}, want},
			{lane.Fields{ReturnPath: &[]lane.ReturnPathRecordFields{{Type: " mx ", Host: "EM.acme.example.", Value: "MX.example.", Priority: new(0)}, {Type: "CNAME", Host: "bücher.example", Value: "a.example"}}}, changed},
			{lane.Fields{ReturnPath: &[]lane.ReturnPathRecordFields{}}, nil},
		} {
			if _, err := lane.Update(t.Context(), db, box, mine, made.ID, step.fields, lane.Rules{}, noon); err != nil {
				t.Fatal(err)
			}
			got, err := lane.ByID(t.Context(), db, mine, made.ID)
			if diff := cmp.Diff(step.want, got.ReturnPath); err != nil || diff != "" {
				t.Errorf("stored: %v (-want +got):\n%s", err, diff)
			}
		}
		got, err := lane.ByID(t.Context(), db, other, theirs.ID)
		if diff := cmp.Diff(want, got.ReturnPath); err != nil || diff != "" {
			t.Errorf("the other tenant's: %v (-want +got):\n%s", err, diff)
		}
	})
}

func TestTheLaneThatDecidesTheReturnPath(t *testing.T) {
	t.Parallel()
	config := func(name string, kind lane.Type, edits ...func(*lane.Config)) lane.Config {
		c := lane.Config{ID: idtest.Named[id.Lane](name), Name: name, Type: kind, Active: true, CreatedAt: noon}
		if kind == lane.SMTP || kind == lane.SES {
			c.ReturnPath = []lane.ReturnPathRecord{{Type: "MX", Value: name + ".example", Priority: 10}}
		}
		for _, edit := range edits {
			edit(&c)
		}
		return c
	}
	inactive := func(c *lane.Config) { c.Active = false }
	without := func(c *lane.Config) { c.ReturnPath = nil }
	older := func(c *lane.Config) { c.CreatedAt = noon.Add(-time.Hour) }
	for _, tt := range []struct {
		name      string
		lanes     []lane.Config
		preferred string
		want      string
	}{
		{"no lanes", nil, "", ""},
		{"a relay", []lane.Config{config("a", lane.SMTP)}, "", "a"},
		{"an inactive relay", []lane.Config{config("a", lane.SMTP, inactive)}, "a", ""},
		{"a sink", []lane.Config{config("s", lane.Sink)}, "", ""},
		{"a sink and a relay", []lane.Config{config("s", lane.Sink, older), config("a", lane.SES)}, "s", "a"},
		{"direct delivery too", []lane.Config{config("a", lane.SMTP), config("d", lane.DirectMX)}, "a", ""},
		{"inactive direct delivery", []lane.Config{config("a", lane.SMTP), config("d", lane.DirectMX, inactive)}, "", "a"},
		{"the oldest", []lane.Config{config("a", lane.SMTP), config("b", lane.SES, older), config("c", lane.SMTP)}, "", "b"},
		{"the account's", []lane.Config{config("a", lane.SMTP), config("b", lane.SES, older), config("c", lane.SMTP)}, "c", "c"},
		{"the account's first", []lane.Config{config("c", lane.SMTP), config("b", lane.SES, older)}, "c", "c"},
		{"the account's is inactive", []lane.Config{config("a", lane.SMTP), config("b", lane.SES, older), config("c", lane.SMTP, inactive)}, "c", "b"},
		{"the oldest has none", []lane.Config{config("a", lane.SMTP), config("b", lane.SES, older, without)}, "", ""},
		{"the account's has none", []lane.Config{config("a", lane.SMTP), config("b", lane.SES, without)}, "b", ""},
		{"another than the account's has none", []lane.Config{config("a", lane.SMTP, older, without), config("b", lane.SES)}, "b", "b"},
	} {
		var preferred id.Lane
		if tt.preferred != "" {
			preferred = idtest.Named[id.Lane](tt.preferred)
		}
		got := lane.ReturnPathOf(tt.lanes, preferred)
		if got.Lane != tt.want || (len(got.Records) == 1) != (tt.want != "") {
			t.Errorf("%s: %+v, want those of %q", tt.name, got, tt.want)
		}
	}
}
