package dnscheck

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// checkDKIM compares the published key with that of the wanted record.
func checkDKIM(ctx context.Context, dns DNS, r Record) (Finding, error) {
	list, err := texts(ctx, dns, r.Host)
	if err != nil || len(list) == 0 {
		return Finding{Status: Missing}, err
	}
	f := Finding{Status: Invalid, Found: shown(list)}
	keys := slices.DeleteFunc(slices.Clone(list), func(text string) bool { return !strings.Contains(text, "p=") && !strings.Contains(text, "DKIM1") })
	switch {
	case len(keys) == 0:
		f.Problem = "the TXT record is no DKIM key: it must begin with v=DKIM1;"
	case len(keys) > 1:
		f.Problem = "there are several DKIM keys, of which receivers may use any; delete all but this one"
	case len(list) > 1:
		f.Problem = "there is another TXT record beside the key, and receivers may use any; delete it"
	default:
		f.Problem = compareKeys(keys[0], r.Value)
		if f.Problem == "" {
			f.Status = OK
		}
	}
	return f, nil
}

// compareKeys returns what is wrong with a published key record, or "". What it accepts is what the
// strictest receivers accept.
func compareKeys(published, wanted string) string {
	if problem := notation(published); problem != "" {
		return problem
	}
	have, first, err := parseTags(published)
	if err != nil {
		return clean(fmt.Sprintf("the record has a mistake, so that receivers ignore it: %v; copy the whole value", err))
	}
	want, _, err := parseTags(wanted)
	if err != nil {
		return "the wanted record: " + err.Error()
	}
	p, ok := have["p"]
	p = strings.Join(strings.Fields(p), "") // base64 may be folded
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
	version, versioned := have["v"]
	switch {
	case versioned && (version != "DKIM1" || first != "v"):
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
	case have["t"] != "" && allowed("t", "y"):
		return "the tag t=y says that the key is only tested, so that receivers act as without a signature; delete it"
	}
	return ""
}

func sameKey(a, b string) bool {
	x, err := base64.StdEncoding.DecodeString(a)
	y, other := base64.StdEncoding.DecodeString(b)
	return err == nil && other == nil && string(x) == string(y)
}

// What of the notation of zone files stands in values that were pasted from one.
const (
	quotesProblem      = "the value has quotation marks; remove them: they are only the notation of zone files"
	backslashesProblem = "the value has backslashes; remove them: they are only the notation of zone files"
)

// notation returns the problem of a value that was pasted in the notation of zone files, or "".
func notation(text string) string {
	switch {
	case strings.Contains(text, `"`):
		return quotesProblem
	case strings.Contains(text, `\;`):
		return backslashesProblem
	}
	return ""
}

// plain returns a value without the notation of zone files.
func plain(text string) string {
	return strings.TrimSpace(strings.NewReplacer(`" "`, "", `"`, "", `\;`, ";").Replace(text))
}

var (
	tagName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	tagValue = regexp.MustCompile(`^[!-:<-~ \t\r\n]*$`)
)

// parseTags parses a list of tags (RFC 6376 section 3.2). first is the name of the first tag.
func parseTags(text string) (tags map[string]string, first string, err error) {
	tags = map[string]string{}
	parts := strings.Split(text, ";")
	if last := len(parts) - 1; last > 0 && strings.TrimSpace(parts[last]) == "" {
		parts = parts[:last]
	}
	for _, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.Trim(name, fold), strings.Trim(value, fold)
		_, twice := tags[name]
		switch {
		case !ok || !tagName.MatchString(name):
			return nil, "", fmt.Errorf("%.40q is not a tag such as p=…", part)
		case twice:
			return nil, "", fmt.Errorf("the tag %s is there twice", name)
		case !tagValue.MatchString(value):
			return nil, "", fmt.Errorf("the tag %s has characters that are not ASCII", name)
		}
		if first == "" {
			first = name
		}
		tags[name] = value
	}
	return tags, first, nil
}

// fold is the white space that may surround names and values of tags.
const fold = " \t\r\n"
