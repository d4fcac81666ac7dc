package broadcast_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/id/idtest"
	"github.com/packetboat/packetboat/internal/campaign/broadcast"
	"github.com/packetboat/packetboat/internal/content/content"
	"github.com/packetboat/packetboat/internal/content/draft"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// Assignments computed with exact arithmetic.
func TestAssignmentIsTheHashOfBothIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := broadcast.Broadcast{ID: id.New[id.Broadcast]()}
		total := new(big.Rat)
		for i := range rapid.IntRange(2, 10).Draw(t, "variants") {
			w := rapid.SampledFrom([]float64{1, 2, 3, 0.5, 0.25, 97}).Draw(t, "weight")
			b.Variants = append(b.Variants, broadcast.Variant{ID: string(rune('a' + i)), Weight: w})
			total.Add(total, new(big.Rat).SetFloat64(w))
		}
		contact := id.New[id.Contact]()
		sum := sha256.Sum256([]byte(b.ID.String() + ":" + contact.String()))
		x := new(big.Rat).SetFrac(new(big.Int).SetUint64(binary.BigEndian.Uint64(sum[:8])), new(big.Int).Lsh(big.NewInt(1), 64))
		x.Mul(x, total)
		reached, want := new(big.Rat), ""
		for _, v := range b.Variants {
			if reached.Add(reached, new(big.Rat).SetFloat64(v.Weight)); want == "" && reached.Cmp(x) > 0 {
				want = v.ID
			}
		}
		if got := b.Assign(contact); got != want || b.Assign(contact) != got {
			t.Fatalf("Assign = %s, want %s", got, want)
		}
	})
}

// Shares follow the weights within a bound that chance almost never exceeds.
func TestSharesFollowTheWeights(t *testing.T) {
	t.Parallel()
	b := broadcast.Broadcast{ID: idtest.Must[id.Broadcast]("00000000-0000-7000-8000-000000000001")}
	b.Variants = []broadcast.Variant{{ID: "a", Weight: 1}, {ID: "b", Weight: 2}, {ID: "c", Weight: 7}}
	const n = 20_000
	count := map[string]int{}
	for range n {
		count[b.Assign(id.New[id.Contact]())]++
	}
	for variant, share := range map[string]float64{"a": 0.1, "b": 0.2, "c": 0.7} {
		if got := float64(count[variant]) / n; math.Abs(got-share) > 6*math.Sqrt(share*(1-share)/n) {
			t.Errorf("variant %s has %.3f of all, want %.1f", variant, got, share)
		}
	}
	if got := (broadcast.Broadcast{}).Assign(id.New[id.Contact]()); got != "" {
		t.Errorf("without variants the variant is %q", got)
	}
}

func TestVariantsOverrideContent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		a := newAccount(t, db)
		variants := func(list ...broadcast.Variant) broadcast.Change { return broadcast.Change{Variants: &list} }
		variant := func(name string, overrides map[draft.Field]string) broadcast.Variant {
			return broadcast.Variant{ID: name, Name: name, Weight: 1, Overrides: overrides}
		}
		b := a.Create()
		edit := func(ch broadcast.Change) broadcast.Broadcast {
			t.Helper()
			got, err := broadcast.Update(t.Context(), a.Author(now), a.Tenant, b.ID, ch)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		const doc = `<mjml><mj-body><mj-section><mj-column><mj-text>compiled</mj-text></mj-column></mj-section></mj-body></mjml>`
		got := edit(variants(
			variant("plain", map[draft.Field]string{draft.Subject: "Other news"}),
			variant("mjml", map[draft.Field]string{draft.BodyMJML: doc, draft.Preheader: "psst"}),
		))
		if got.ContentVersion != b.ContentVersion+1 || len(got.Variants) != 2 || got.Variants[1].Overrides[draft.BodyMJML] != doc {
			t.Fatalf("version %d, variants %+v", got.ContentVersion, got.Variants)
		}
		list := got.VariantContents()
		if *list[0].Content.Subject != "Other news" || *list[0].Content.HTML != *b.Content.HTML || list[0].Content.Text != b.Content.Text {
			t.Errorf("the plain variant: %+v", list[0])
		}
		html := *list[1].Content.HTML
		if *list[1].Content.Subject != "Spring news" || !strings.Contains(html, "compiled") || strings.Count(html, "psst") != 1 || list[1].Content.Text != nil {
			t.Errorf("the variant of MJML: %+v", list[1])
		}
		if s := got.Source(list[1]); s.Context.UTMContent != "mjml" || !s.Previewed {
			t.Errorf("its source: %+v", s)
		}
		if again := edit(variants(got.Variants...)); again.ContentVersion != got.ContentVersion {
			t.Error("the same variants are a new version")
		}
		lean, err := broadcast.Head(t.Context(), db, a.Tenant, b.ID)
		if err != nil || len(lean.Variants) != 2 || lean.Variants[0].ID != "plain" || lean.Variants[0].Weight != 1 || lean.Variants[1].Overrides != nil {
			t.Errorf("a lean reading: %+v, %v", lean.Variants, err)
		}
		if none := edit(variants()); none.Variants != nil || none.ContentVersion != got.ContentVersion+1 {
			t.Errorf("without variants: %+v", none.Variants)
		}
		for name, c := range map[string]struct {
			overrides map[draft.Field]string
			want      *fault.Error
			says      string
			path      string
		}{
			"Liquid":     {map[draft.Field]string{draft.Subject: "{% if %}"}, content.ErrLiquid, "variants[1] (bad)", "subject"},
			"MJML":       {map[draft.Field]string{draft.BodyMJML: "<mjml>"}, content.ErrMJML, "variants[1] (bad)", "body_mjml"},
			"element":    {map[draft.Field]string{draft.BodyMJML: "<mjml><mj-body><mj-sect></mj-sect></mj-body></mjml>"}, content.ErrMJMLElement, "mj-sect", "body_mjml"},
			"line break": {map[draft.Field]string{draft.Subject: "a\nb"}, fault.ErrInput, "one line", "subject"},
			"no subject": {map[draft.Field]string{draft.Subject: ""}, content.ErrNoContent, "subject", "subject"},
			"no body":    {map[draft.Field]string{draft.BodyHTML: " "}, content.ErrNoContent, "body_html", "body_html"},
		} {
			_, err := broadcast.Update(t.Context(), a.Author(now), a.Tenant, b.ID, variants(variant("good", map[draft.Field]string{draft.FromName: "Ann"}), variant("bad", c.overrides)))
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v; want %s that says %q", name, err, c.want.Code, c.says)
				continue
			}
			f, _ := fault.As(err)
			details, err := json.Marshal(f.Details)
			if want := fmt.Sprintf(`"variants[1].content_overrides.%s"`, c.path); err != nil || !strings.Contains(string(details), want) {
				t.Errorf("%s: the details are %s, %v; want the field %s", name, details, err, want)
			}
		}
	})
}
