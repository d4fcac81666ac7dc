package segment_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/audience/segment"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/people/contact"
)

func TestAudiencesOfRules(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		de, fr, at := o.createInCountry("DE", 9), o.createInCountry("FR", 4), o.createInCountry("AT", 3)
		vip, out := list(t, o.db, o.acme, "VIP"), list(t, o.db, o.acme, "Out")
		add(t, o.db, o.acme, vip, fr[0], de[0])
		add(t, o.db, o.acme, out, de[2], at[0])
		nowhere := o.createContact("nowhere@example.org", contact.Change{}) // has no country, so is in no country's segment
		add(t, o.db, o.acme, vip, nowhere)
		germans, austrians := o.createRule("Germans", german), o.createRule("Austrians", strings.ReplaceAll(german, "de", "AT"))
		sorted := func(lists ...[]id.Contact) []id.Contact {
			return slices.SortedFunc(slices.Values(slices.Concat(lists...)), id.Compare)
		}
		for name, tt := range map[string]struct {
			include, exclude []id.Segment
			want             []id.Contact
		}{
			"a rule":                 {[]id.Segment{germans.ID}, nil, sorted(de)},
			"a rule and a list":      {[]id.Segment{vip.ID, germans.ID}, nil, sorted(de, fr[:1], []id.Contact{nowhere})},
			"two rules less a list":  {[]id.Segment{germans.ID, austrians.ID}, []id.Segment{out.ID}, sorted(de[:2], de[3:], at[1:])},
			"a list less a rule":     {[]id.Segment{vip.ID}, []id.Segment{germans.ID}, sorted(fr[:1], []id.Contact{nowhere})},
			"a rule less itself":     {[]id.Segment{germans.ID}, []id.Segment{germans.ID, out.ID}, nil},
			"a missing segment":      {[]id.Segment{id.New[id.Segment](), austrians.ID}, []id.Segment{id.New[id.Segment]()}, sorted(at)},
			"no segment less a rule": {nil, []id.Segment{germans.ID}, nil},
			"only a missing segment": {[]id.Segment{id.New[id.Segment]()}, []id.Segment{germans.ID}, nil},
		} {
			for _, limit := range []int{1, 3, 4, 9, 100} {
				for _, ahead := range []int{1, 5, 12, 0} {
					a := segment.Audience{Tenant: o.acme, Include: tt.include, Exclude: tt.exclude, Ahead: ahead}
					got, pages, after := []id.Contact{}, 0, id.Contact{}
					for {
						page, err := a.After(t.Context(), o.db, after, limit, noon)
						o.ok(err)
						got = append(got, page...)
						if len(page) < limit {
							break
						}
						after = page[len(page)-1]
						if pages++; pages%2 == 0 { // a crash: another Audience continues
							a = segment.Audience{Tenant: o.acme, Include: tt.include, Exclude: tt.exclude, Ahead: ahead}
						}
					}
					if !slices.Equal(got, tt.want) {
						t.Errorf("%s in pages of %d, %d ahead: %d contacts, want %d", name, limit, ahead, len(got), len(tt.want))
					}
				}
			}
			a := segment.Audience{Tenant: o.acme, Include: tt.include, Exclude: tt.exclude}
			if any, err := a.Any(t.Context(), o.db, noon); err != nil || any != (len(tt.want) > 0) {
				t.Errorf("%s: Any = %v, %v", name, any, err)
			}
		}
		// A read-ahead is used for a limited time only.
		a := segment.Audience{Tenant: o.acme, Include: []id.Segment{austrians.ID}}
		first, err := a.After(t.Context(), o.db, id.Contact{}, 1, noon)
		o.ok(err)
		_, err = contact.Delete(t.Context(), o.db, o.acme, []id.Contact{at[1]}, noon)
		o.ok(err)
		code := "DE"
		_, _, err = contact.Upsert(t.Context(), o.db, o.acme, "at2@example.org", contact.Change{Texts: map[contact.Text]*string{contact.Country: &code}}, contact.Rules{}, noon)
		o.ok(err)
		soon, err := a.After(t.Context(), o.db, first[0], 5, noon.Add(time.Second))
		o.ok(err)
		later, err := a.After(t.Context(), o.db, first[0], 5, noon.Add(time.Hour))
		o.ok(err)
		if len(soon) != 2 || len(later) != 1 {
			t.Errorf("%d soon after, %d later; want the 2 that were read ahead, then 1", len(soon), len(later))
		}
	})
}

// An audience can be read however large its rules are together, while a definition may not make
// another one too large.
func TestSizeOfDefinitionsAndAudiences(t *testing.T) {
	eachAccount(t, func(t *testing.T, o account) {
		de := o.createInCountry("DE", 1)
		leaves := func(n int, leaf string) string {
			return `{"logic": "or", "conditions": [` + leaf + strings.Repeat(`,`+leaf, n-1) + `]}`
		}
		a := segment.Audience{Tenant: o.acme}
		large := leaves(100, `{"field": "country", "operator": "equals", "value": "DE"}`)
		for i := range 12 {
			s := o.createRule(fmt.Sprint("s", i), large)
			a.Include = append(a.Include, s.ID)
		}
		if page, err := a.After(t.Context(), o.db, id.Contact{}, 10, noon); err != nil || !slices.Equal(page, de) {
			t.Errorf("an audience of 1200 leaves = %v, %v", page, err)
		}
		small := o.createRule("Small", german)
		o.createRule("Above", leaves(100, `{"type": "segment", "operator": "in", "segment_keys": ["small"]}`))
		_, err := segment.Update(t.Context(), o.db, o.acme, small.ID, segment.Change{Definition: json.RawMessage(large)}, noon)
		if !errors.Is(err, segment.ErrInvalidDefinition) || !strings.Contains(err.Error(), "above") {
			t.Errorf("a change that makes another definition 10,000 leaves large = %v", err)
		}
		_, err = segment.Create(t.Context(), o.db, o.acme, segment.Change{Name: new("x"), Definition: json.RawMessage(leaves(100, `{"type": "segment", "operator": "in", "segment_keys": ["s0"]}`))}, noon)
		if !errors.Is(err, segment.ErrInvalidDefinition) {
			t.Errorf("a definition of 10,000 leaves = %v", err)
		}
	})
}
