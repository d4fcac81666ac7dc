package id_test

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
)

const text = "018f2c4e-7a01-7b02-8c03-9d04ae05bf06"

var octets = []byte{0x01, 0x8f, 0x2c, 0x4e, 0x7a, 0x01, 0x7b, 0x02, 0x8c, 0x03, 0x9d, 0x04, 0xae, 0x05, 0xbf, 0x06}

func TestAnIDReadsAndWritesTheUsualSpelling(t *testing.T) {
	t.Parallel()
	for _, s := range []string{text, strings.ToUpper(text)} {
		u, ok := id.Parse[id.Contact](s)
		if !ok || u.String() != text || !bytes.Equal(u[:], octets) || u.Bytes() != [16]byte(octets) {
			t.Errorf("Parse(%q) = %v, %v; want %s", s, u, ok, text)
		}
		if c, ok := id.Canonical(s); !ok || c != text || !id.Valid(s) {
			t.Errorf("Canonical(%q) = %q, %v; want %s", s, c, ok, text)
		}
	}
	for _, s := range []string{
		"", " ", "a", text[:35], text + "0", "{" + text + "}", "urn:uuid:" + text, strings.ReplaceAll(text, "-", ""),
		" " + text[:35], "018f2c4e_7a01_7b02_8c03_9d04ae05bf06", "018f2c4e-7a01-7b02-8c03-9d04ae05bf0g",
		"00000000-0000-0000-0000-000000000000", string(octets),
	} {
		if u, ok := id.Parse[id.Contact](s); ok || !u.IsZero() || id.Valid(s) {
			t.Errorf("Parse(%q) = %v, want none", s, u)
		}
		if c, ok := id.Canonical(s); ok {
			t.Errorf("Canonical(%q) = %q, want none", s, c)
		}
	}
}

func TestJSONHoldsTheTextOfAnID(t *testing.T) {
	t.Parallel()
	type record struct {
		ID    id.Contact
		None  id.Stage
		Maybe *id.Stage
		ByKey map[id.Segment]int
	}
	r := record{ID: idtest.Must[id.Contact](text), ByKey: map[id.Segment]int{idtest.Must[id.Segment](text): 1}}
	b, err := json.Marshal(r)
	want := `{"ID":"` + text + `","None":"","Maybe":null,"ByKey":{"` + text + `":1}}`
	if err != nil || string(b) != want {
		t.Fatalf("Marshal = %s, %v; want %s", b, err, want)
	}
	back := record{None: idtest.Must[id.Stage](text)} // which the text must overwrite
	if err := json.Unmarshal(b, &back); err != nil || back.ID != r.ID || !back.None.IsZero() || back.Maybe != nil || back.ByKey[idtest.Must[id.Segment](text)] != 1 {
		t.Errorf("Unmarshal = %+v, %v; want %+v", back, err, r)
	}
	for _, bad := range []string{`"x"`, `"` + text[:35] + `"`, `"{` + text + `}"`, `"urn:uuid:` + text + `"`, `"` + strings.ReplaceAll(text, "-", "") + `"`, `1`, `[1]`} {
		u := idtest.Must[id.Contact](text)
		if err := json.Unmarshal([]byte(bad), &u); err == nil {
			t.Errorf("Unmarshal(%s) = %v, want an error", bad, u)
		}
	}
}

func TestAnIDIsScannedFromWhatColumnsHold(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]any{"BLOB": octets, "uuid": text, "text as bytes": []byte(text)} {
		var u id.Contact
		if err := u.Scan(src); err != nil || u.String() != text {
			t.Errorf("Scan of %s = %v, %v; want %s", name, u, err, text)
		}
	}
	u := idtest.Must[id.Contact](text)
	if err := u.Scan(nil); err != nil || !u.IsZero() {
		t.Errorf("Scan of NULL = %v, %v; want none", u, err)
	}
	for _, bad := range []any{"x", "", octets[:15], append(octets, 0), int64(1), 1.5, true, time.Time{}} {
		if err := u.Scan(bad); err == nil {
			t.Errorf("Scan(%v) = %v, want an error", bad, u)
		}
	}
	kept := slices.Clone(octets)
	if err := u.Scan(kept); err != nil {
		t.Fatal(err)
	}
	kept[0] = 0xff // the driver uses its memory again
	if u.String() != text {
		t.Error("Scan kept memory of the driver")
	}
	if v, err := u.Value(); err != nil || !bytes.Equal(v.([]byte), octets) {
		t.Errorf("Value = %v, %v; want %v", v, err, octets)
	}
}

func TestIDsSortByTheTimeTheyWereMade(t *testing.T) {
	t.Parallel()
	var made []id.Contact
	for range 1000 {
		made = append(made, id.New[id.Contact]())
	}
	if !slices.IsSortedFunc(made, id.Compare) {
		t.Error("ids that were made one after the other are not sorted")
	}
	texts := make([]string, len(made))
	for i, u := range made {
		texts[i] = u.String()
		if u[6]>>4 != 7 || u[8]>>6 != 2 {
			t.Fatalf("%s is not a version 7 UUID", u)
		}
	}
	if !slices.IsSorted(texts) {
		t.Error("their texts are not sorted as they are")
	}
	when := time.Date(2026, 3, 1, 12, 0, 0, 7_999_999, time.UTC)
	at, first := id.At[id.Contact](when), id.FirstAt[id.Contact](when)
	if got := id.Time(at); !got.Equal(when.Truncate(time.Millisecond)) {
		t.Errorf("Time(At(%v)) = %v", when, got)
	}
	if id.Compare(first, at) > 0 || id.Compare(id.At[id.Contact](when.Add(-time.Millisecond)), first) >= 0 {
		t.Error("FirstAt does not part what was made before from what was made since")
	}
	if at[6]>>4 != 7 || at[8]>>6 != 2 || at == id.At[id.Contact](when) {
		t.Errorf("At = %s, want a random version 7 UUID", at)
	}
	if got := id.Time(id.At[id.Contact](time.Unix(-1, 0))); !got.Equal(time.Unix(0, 0)) {
		t.Errorf("an id from before 1970 is of %v, want 1970", got)
	}
	from, err := id.From[id.Contact](rand.New(rand.NewSource(1)))
	if err != nil || from[6]>>4 != 7 {
		t.Errorf("From = %s, %v; want a version 7 UUID", from, err)
	}
	if !id.Valid(id.NewText()) {
		t.Error("NewText is not a UUID")
	}
}

func TestTheZeroIDIsNone(t *testing.T) {
	t.Parallel()
	var none id.Contact
	b, err := none.MarshalText()
	if !none.IsZero() || none.String() != "" || len(b) != 0 || err != nil {
		t.Errorf("none = %q, %q, %v", none.String(), b, err)
	}
	if id.New[id.Contact]().IsZero() {
		t.Error("a fresh id is none")
	}
}

func TestATenantIsANumberThatCallersSeeAsAUUID(t *testing.T) {
	t.Parallel()
	for tenant, want := range map[id.Tenant]string{
		1:         "7061636b-6574-8626-8f61-740000000001",
		1 << 16:   "7061636b-6574-8626-8f61-740000010000",
		1<<31 - 1: "7061636b-6574-8626-8f61-74007fffffff",
	} {
		if tenant.String() != want {
			t.Errorf("%d is %s, want %s", int(tenant), tenant, want)
		}
		if !id.Valid(want) || want[14] != '8' || !strings.ContainsRune("89ab", rune(want[19])) {
			t.Errorf("%s is not a version 8 UUID", want)
		}
		for _, s := range []string{want, strings.ToUpper(want)} {
			if got, ok := id.ParseTenant(s); !ok || got != tenant || id.ReadTenant(s) != tenant {
				t.Errorf("ParseTenant(%q) = %d, %v; want %d", s, int(got), ok, int(tenant))
			}
		}
		b, err := json.Marshal(tenant)
		var back id.Tenant
		if err != nil || string(b) != `"`+want+`"` || json.Unmarshal(b, &back) != nil || back != tenant {
			t.Errorf("JSON of %d is %s, %v, and reads as %d", int(tenant), b, err, int(back))
		}
		if v, err := tenant.Value(); err != nil || v != int64(tenant) {
			t.Errorf("Value = %v, %v", v, err)
		}
		if err := back.Scan(int64(tenant)); err != nil || back != tenant {
			t.Errorf("Scan = %d, %v", int(back), err)
		}
	}
	for _, s := range []string{
		"", "1", text, "7061636b-6574-8626-8f61-740000000000", "7061636b-6574-8626-8f61-740080000000",
		"7061636b-6574-8626-8f61-7400ffffffff", "7061636b-6574-8626-8f61-750000000001", "{7061636b-6574-8626-8f61-740000000001}",
	} {
		if got, ok := id.ParseTenant(s); ok {
			t.Errorf("ParseTenant(%q) = %d, want none", s, int(got))
		}
		if s == "" {
			continue
		}
		var tenant id.Tenant
		if err := tenant.UnmarshalText([]byte(s)); err == nil {
			t.Errorf("UnmarshalText(%q) = %d, want an error", s, int(tenant))
		}
	}
	tenant := id.Tenant(5)
	if err := tenant.Scan(nil); err != nil || !tenant.IsZero() || tenant.String() != "" {
		t.Errorf("Scan of NULL = %d, %v; want none", int(tenant), err)
	}
	for _, bad := range []any{"1", []byte("1"), 1.5, int64(-1), int64(1 << 31)} {
		if err := tenant.Scan(bad); err == nil {
			t.Errorf("Scan(%v) = %d, want an error", bad, int(tenant))
		}
	}
}

func TestNamedIDsSortAsTheirNames(t *testing.T) {
	t.Parallel()
	names := []string{"a", "ab", "b", "contact-1", "contact-10", "contact-2"}
	ids := make([]id.Contact, len(names))
	for i, n := range names {
		ids[i] = idtest.Named[id.Contact](n)
	}
	if !slices.IsSortedFunc(ids, id.Compare) || idtest.Named[id.Contact]("a") != ids[0] {
		t.Errorf("Named gives %v for %v", ids, names)
	}
	if long := strings.Repeat("x", 20); idtest.Named[id.Contact](long) == idtest.Named[id.Contact](long+"y") {
		t.Error("two long names share an id")
	}
	named, again := idtest.TenantNamed("a"), idtest.TenantNamed("a")
	if a, b := idtest.Tenant(), idtest.Tenant(); a == b || a < 1 || named != again || !idtest.TenantNamed("").IsZero() {
		t.Errorf("tenants %d and %d", int(a), int(b))
	}
}
