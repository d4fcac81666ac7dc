package starter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/content/template/starter"
)

// Nobody sends links to a site that is not theirs, nor days that are over, because a starter had them.
func TestSamplesAreThoseOfTheAccount(t *testing.T) {
	now := time.Date(2030, 5, 17, 22, 30, 0, 0, time.UTC)
	for _, s := range starter.All() {
		t.Run(s.Slug, func(t *testing.T) {
			bare := s.For(tenant.Settings{Brand: tenant.DefaultBrand()}, now)
			with := s.For(tenant.Settings{Brand: tenant.DefaultBrand(), WebsiteURL: new("https://boat.example/a?b=c&d")}, now)
			for name, made := range map[string]starter.Starter{"without a website": bare, "with one": with} {
				if sample := string(made.Sample); strings.Contains(sample, "example.com") || strings.Contains(sample, `"2026-1`) {
					t.Errorf("%s: %s", name, sample)
				}
				if schema := string(made.Schema); strings.Contains(schema, "example.com") || strings.Contains(schema, `"2026-1`) {
					t.Errorf("the schema %s: %s", name, schema)
				}
				withSample(t, made) // it fits the schema
			}
			if n := strings.Count(string(s.Sample), "https://example.com/"); strings.Count(string(with.Sample), `"https://boat.example/a`) != n {
				t.Errorf("not %d links to the website: %s", n, with.Sample)
			}
		})
	}
}
