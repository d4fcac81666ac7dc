package starter

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
)

// What the samples contain where a mail of an account has its own.
const (
	sampleSite   = "https://example.com/"
	sampleDomain = "@example.com"
	sampleDay    = "2026-11-21" // the day on which a sample is sent
)

var sampleSites = regexp.MustCompile(`https://example\.com/[\w/-]*`)

// For returns the starter as mails of an account begin with it: in its language and brand, with links to its website, and
// with days that are as far ahead as those of the sample. Links, and blocks with links, are left out if the account names
// no website, and so is the address of somebody else.
func (s Starter) For(a tenant.Settings, now time.Time) Starter {
	s = s.In(a.Locale).Branded(a.Brand)
	site := ""
	if a.WebsiteURL != nil {
		site = *a.WebsiteURL
	}
	if site != "" {
		quoted, _ := json.Marshal(site) // a text
		s.Schema = sampleSites.ReplaceAllLiteral(s.Schema, quoted[1:len(quoted)-1])
	}
	d := json.NewDecoder(bytes.NewReader(s.Schema))
	d.UseNumber()
	var schema, sample any
	if err := d.Decode(&schema); err != nil {
		panic(err) // embedded in the program
	}
	if err := json.Unmarshal(s.Sample, &sample); err != nil {
		panic(err) // embedded in the program
	}
	first, _ := time.Parse(time.DateOnly, sampleDay)
	later := now.UTC().Truncate(24 * time.Hour).Sub(first)
	ownSamples(schema, site, later)
	s.Schema, _ = json.Marshal(schema) // it was JSON
	sample, _ = own(sample, site, later)
	if parts, ok := sample.(map[string]any); ok && site == "" {
		delete(parts, "slots") // their blocks need links
	}
	s.Sample, _ = json.Marshal(sample) // it was JSON
	return s
}

// ownSamples makes the samples in a schema those of an account.
func ownSamples(v any, site string, later time.Duration) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if name != "sample" {
				ownSamples(value, site, later)
			} else if mine, ok := own(value, site, later); ok {
				v[name] = mine
			} else {
				delete(v, name)
			}
		}
	case []any:
		for _, value := range v {
			ownSamples(value, site, later)
		}
	}
}

// own returns a value of a sample as that of an account. It reports whether there is one.
func own(v any, site string, later time.Duration) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			var ok bool
			if v[name], ok = own(value, site, later); !ok {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i], _ = own(v[i], site, later)
		}
	case string:
		if day, err := time.Parse(time.DateOnly, v); err == nil {
			return day.Add(later).Format(time.DateOnly), true
		}
		if strings.HasPrefix(v, sampleSite) {
			return site, site != ""
		}
		return v, !strings.HasSuffix(v, sampleDomain)
	}
	return v, true
}
