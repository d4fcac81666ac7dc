package broadcast_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestMetadataRules(t *testing.T) {
	t.Parallel()
	keys := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"k%d": %d`, i, i)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for _, tt := range []struct {
		name, in string
		ok       bool
	}{
		{"empty", `{}`, true},
		{"every kind of value", `{"s": "x", "n": -1.5e3, "b": true, "l": ["a", 1, false], "e": []}`, true},
		{"20 keys", keys(20), true},
		{"21 keys", keys(21), false},
		{"longest key", `{"` + strings.Repeat("k", 64) + `": 1}`, true},
		{"key too long", `{"` + strings.Repeat("k", 65) + `": 1}`, false},
		{"key in capitals", `{"Campaign": 1}`, false},
		{"key that begins with a digit", `{"1st": 1}`, false},
		{"key with a hyphen", `{"a-b": 1}`, false},
		{"empty key", `{"": 1}`, false},
		{"string of 256 characters", `{"a": "` + strings.Repeat("é", 256) + `"}`, true},
		{"string of 257 characters", `{"a": "` + strings.Repeat("é", 257) + `"}`, false},
		{"50 items", `{"a": [` + strings.TrimSuffix(strings.Repeat("1,", 50), ",") + `]}`, true},
		{"51 items", `{"a": [` + strings.TrimSuffix(strings.Repeat("1,", 51), ",") + `]}`, false},
		{"null value", `{"a": null}`, false},
		{"null item", `{"a": [null]}`, false},
		{"nested object", `{"a": {"b": 1}}`, false},
		{"nested array", `{"a": [[1]]}`, false},
		{"object in an array", `{"a": [{}]}`, false},
		{"NUL", `{"a": "x\u0000"}`, false},
		{"number no machine holds", `{"a": 1e999}`, false},
		{"number too close to zero", `{"a": 1e-20000}`, false},
		{"zero with too many places", `{"a": 0.00e-20000}`, false},
		{"exponent no machine holds", `{"a": 0e99999999999999999999}`, false},
		{"the smallest there is", `{"a": 5E-324}`, true},
		{"zero in many words", `{"a": -0.00e+12}`, true},
		{"8 KB and no more", `{"a": [` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", 250)+`",`, 33), ",") + `]}`, false},
		{"null", `null`, false},
		{"array", `[]`, false},
		{"string", `"a"`, false},
		{"nothing", ``, false},
		{"two values", `{} {}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := broadcast.ParseMetadata([]byte(tt.in))
			if tt.ok && err != nil || !tt.ok && !errors.Is(err, broadcast.ErrMetadata) {
				t.Errorf("ParseMetadata(%.80s) = %v, want ok %v", tt.in, err, tt.ok)
			}
		})
	}
}

func TestMetadataFilterRules(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return `{"a": "` + strings.Repeat("é", n-9) + `"}` }
	for _, tt := range []struct {
		in string
		ok bool
	}{
		{`{}`, true}, {` {"a": {"b": [1, null]}}`, true}, {long(8191), true}, {long(8192), false},
		{`[]`, false}, {`null`, false}, {`"a"`, false}, {`{`, false}, {`{}{}`, false}, {"\xff", false},
		{`{"a": 1e999}`, true}, {`{"a": "\u0000"}`, true}, {strings.Repeat(`{"a":`, 800) + `1` + strings.Repeat(`}`, 800), true},
	} {
		if _, err := broadcast.ParseContainment(tt.in); (err == nil) != tt.ok {
			t.Errorf("ParseContainment(%.60s) = %v, want ok %v", tt.in, err, tt.ok)
		}
	}
}

// Valid metadata is stored unchanged in both databases, and a filter equal to it matches.
func FuzzMetadata(f *testing.F) {
	for _, s := range []string{`{"a": 1}`, `{"a": ["x", 1e2, 0.10, 12345678901234567890], "b": false}`, `{"a": "\u0000"}`, `{"a":{}}`, `{`, `{"k":"<é>"}`, `{"a":-0}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		m, err := broadcast.ParseMetadata([]byte(in))
		if err != nil {
			return
		}
		again, err := broadcast.ParseMetadata([]byte(m.JSON()))
		if err != nil || again.JSON() != m.JSON() {
			t.Errorf("%s became %s: %v", m.JSON(), again.JSON(), err)
		}
		if _, err := broadcast.ParseContainment(m.JSON()); err != nil {
			t.Errorf("ParseContainment(%s) = %v", m.JSON(), err)
		}
	})
}

func FuzzContainment(f *testing.F) {
	for _, s := range []string{`{"a": 1}`, `{"a": {"b": [1]}}`, `{"a": "\u0000"}`, `{`, `{"a": 1e999}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if _, err := broadcast.ParseContainment(in); err == nil && !json.Valid([]byte(in)) {
			t.Errorf("ParseContainment(%q) took what is not JSON", in)
		}
	})
}

func FuzzVariants(f *testing.F) {
	for _, s := range []string{`[]`, `null`, `[{},{}]`, `[{"id":"a","name":"A","weight":1,"content_overrides":{"subject":"x"}},{"id":"b","name":"B","weight":2,"content_overrides":{"subject":null}}]`, `[{"mta_config_key":1}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) { _, _ = broadcast.ReadVariants([]byte(in)) })
}

func TestVariantRules(t *testing.T) {
	t.Parallel()
	variant := func(id, more string) string {
		return `{"id": "` + id + `", "name": "N", "weight": 1, "content_overrides": {"subject": "s"}` + more + `}`
	}
	many := strings.TrimSuffix(strings.Repeat(variant("a", "")+",", 11), ",")
	for _, tt := range []struct {
		name, in string
		want     error
	}{
		{"two variants", `[` + variant("a", "") + `,` + variant("b", "") + `]`, nil},
		{"none", `[]`, broadcast.ErrVariants},
		{"one", `[` + variant("a", "") + `]`, broadcast.ErrVariants},
		{"eleven", `[` + many + `]`, broadcast.ErrVariants},
		{"not an array", `{}`, broadcast.ErrVariants},
		{"not objects", `[1, 2]`, broadcast.ErrVariants},
		{"same id", `[` + variant("a", "") + `,` + variant("a", "") + `]`, broadcast.ErrVariants},
		{"odd id", `[` + variant("a b", "") + `,` + variant("b", "") + `]`, broadcast.ErrVariants},
		{"weight zero", `[` + variant("a", `, "weight": 0`) + `,` + variant("b", "") + `]`, broadcast.ErrVariants},
		{"no overrides", `[` + variant("a", `, "content_overrides": {}`) + `,` + variant("b", "") + `]`, broadcast.ErrVariants},
		{"unknown override", `[` + variant("a", `, "content_overrides": {"from": "x"}`) + `,` + variant("b", "") + `]`, broadcast.ErrVariants},
		{"a sender of its own", `[` + variant("a", `, "sending_identity_id": "x"`) + `]`, broadcast.ErrVariantDelivery},
		{"a lane of its own", `[` + variant("a", `, "content_overrides": {"mta_config_key": "x"}`) + `,` + variant("b", "") + `]`, broadcast.ErrVariantDelivery},
	} {
		if _, err := broadcast.ReadVariants([]byte(tt.in)); !errors.Is(err, tt.want) {
			t.Errorf("%s: ReadVariants = %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestMetadataIsStoredAndFound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a, other := newAccount(t, db), newOtherAccount(t, db)
		const text = `{"team": "growth", "wave": 3, "ratio": 0.10, "big": 12345678901234567890, "live": true, "tags": ["a", "b", 1]}`
		m, err := broadcast.ParseMetadata([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b := a.Create(func(ch *broadcast.Change) { ch.Metadata = m })
		other.Create(func(ch *broadcast.Change) { ch.Metadata = m })
		a.Create()
		if got := a.Load(b.ID).Metadata.JSON(); got != m.JSON() {
			t.Errorf("metadata came back as %s, want %s", got, m.JSON())
		}
		for filter, want := range map[string]int{
			`{}`: 2, `{"team": "growth"}`: 1, `{"team": "sales"}`: 0, `{"wave": 3.0}`: 1, `{"tags": ["b"]}`: 1,
			`{"tags": ["b", "a"]}`: 1, `{"tags": ["c"]}`: 0, `{"tags": []}`: 1, `{"team": {"a": 1}}`: 0,
			`{"wave": "3"}`: 0, `{"live": true, "wave": 3}`: 1, `{"a": 1e999}`: 0, `{"a": "\u0000"}`: 0, `{"team": null}`: 0,
		} {
			c, err := broadcast.ParseContainment(filter)
			if err != nil {
				t.Fatal(err)
			}
			list, err := broadcast.List(t.Context(), db, a.Tenant, broadcast.Filter{Metadata: &c})
			if err != nil || len(list) != want {
				t.Errorf("list with metadata %s = %d broadcasts, %v; want %d", filter, len(list), err, want)
			}
		}
	})
}
