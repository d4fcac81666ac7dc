package dnscheck

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
)

// checkDKIM compares the published key with that of the wanted record.
func checkDKIM(ctx context.Context, dns DNS, r Record) (Finding, error) {
	list, err := texts(ctx, dns, r.Host)
	if err != nil || len(list) == 0 {
		return Finding{Status: Missing}, err
	}
	f := Finding{Status: Invalid, Found: shown(list)}
	var keys []string
	for _, text := range list {
		if t, _ := parseTags(text); t["p"] != "" || t["v"] != "" || strings.Contains(text, "p=") {
			keys = append(keys, text)
		}
	}
	switch len(keys) {
	case 0:
		f.Problem = "the TXT record is no DKIM key: it must begin with v=DKIM1;"
	case 1:
		f.Problem = compareKeys(keys[0], r.Value)
		if f.Problem == "" {
			f.Status = OK
		}
	default:
		f.Problem = "there are several DKIM keys, of which receivers may use any; delete all but this one"
	}
	return f, nil
}

// compareKeys returns what is wrong with a published key record, or "".
func compareKeys(published, wanted string) string {
	have, first := parseTags(published)
	want, _ := parseTags(wanted)
	p, ok := have["p"]
	algorithm := have["k"]
	if algorithm == "" {
		algorithm = "rsa"
	}
	allowed := func(tag, value string) bool {
		list, restricted := have[tag]
		if !restricted {
			return true
		}
		for item := range strings.SplitSeq(list, ":") {
			if item = strings.TrimSpace(item); item == value || item == "*" && tag == "s" {
				return true
			}
		}
		return false
	}
	switch {
	case have["v"] != "" && (have["v"] != "DKIM1" || first != "v"):
		return "the record must begin with v=DKIM1;"
	case !ok:
		return "the record has no key (p=); copy the whole value"
	case p == "":
		return "the key is empty, which means that it is revoked; copy the whole value"
	case algorithm != want["k"]:
		return fmt.Sprintf("the record is for a key of type k=%s, not k=%s", clean(algorithm), want["k"])
	case !sameKey(p, want["p"]):
		if strings.HasPrefix(want["p"], p) {
			return fmt.Sprintf("the key ends after %d of %d characters; split the value into strings of at most 255 characters, without changing it", len(p), len(want["p"]))
		}
		return "this is another key; replace the whole value"
	case !allowed("h", "sha256"):
		return "the tag h= does not allow sha256; delete it"
	case !allowed("s", "email"):
		return "the tag s= does not allow email; delete it"
	}
	return ""
}

func sameKey(a, b string) bool {
	x, err := base64.StdEncoding.DecodeString(a)
	y, other := base64.StdEncoding.DecodeString(b)
	return err == nil && other == nil && string(x) == string(y)
}

// parseTags parses a list of tags (RFC 6376 section 3.2) leniently: white space in values and quotes
// around the whole are dropped. first is the name of the first tag.
func parseTags(text string) (tags map[string]string, first string) {
	tags = map[string]string{}
	for part := range strings.SplitSeq(strings.Trim(strings.TrimSpace(text), `"`), ";") {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			continue
		}
		if len(tags) == 0 {
			first = name
		}
		if _, twice := tags[name]; !twice {
			tags[name] = strings.Join(strings.Fields(strings.ReplaceAll(value, `"`, "")), "")
		}
	}
	return tags, first
}
