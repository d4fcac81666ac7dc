package links

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

// CheckTarget returns an error unless a redirect may lead to target, a URL without Liquid: http or
// https, a host, no user information, no control bytes. The error is a clause for the author.
func CheckTarget(target string) error {
	for i := range len(target) {
		if target[i] < 0x20 || target[i] == 0x7f {
			return errors.New("the URL holds a control character")
		}
	}
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return errors.New("the URL must start with http:// or https://")
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	switch {
	case strings.ContainsRune(rest, '@'):
		return errors.New("the URL must not hold a user name or password")
	case strings.ContainsAny(rest, "\\ <>\"'`{}|^%"):
		return errors.New("the host of the URL is not valid")
	}
	host, port := rest, ""
	if literal, after, ok := strings.Cut(rest, "]"); ok {
		if ip, err := netip.ParseAddr(strings.TrimPrefix(literal, "[")); err != nil || !ip.Is6() || literal[0] != '[' {
			return errors.New("the host of the URL is not valid")
		}
		if after != "" && after[0] != ':' {
			return errors.New("the host of the URL is not valid")
		}
		port = strings.TrimPrefix(after, ":")
	} else {
		host, port, _ = strings.Cut(rest, ":")
	}
	switch {
	case host == "" || strings.Trim(host, ".") == "":
		return errors.New("the URL has no host")
	case strings.Trim(port, "0123456789") != "" || len(port) > 5:
		return errors.New("the port of the URL is not valid")
	}
	return nil
}

// LeadsToWeb reports whether a URL with Liquid begins, before all Liquid, with
// http: or https:.
func LeadsToWeb(url string) bool {
	if spans := markup.Spans(url); len(spans) > 0 {
		url = url[:spans[0].Start]
	}
	scheme, _ := schemeIn(url)
	return scheme == "http" || scheme == "https"
}

// UTM are the parameters by which web analytics identify a campaign. Empty ones are not added.
type UTM struct {
	Source, Medium, Campaign, Content string
}

// AddUTM adds to target, before its fragment, each parameter that it does not have. All other bytes
// stay, Liquid included.
func AddUTM(target string, utm UTM) string {
	query := queryOf(markup.Mask(target))
	var added strings.Builder
	for _, p := range []struct{ key, value string }{
		{"utm_source", utm.Source},
		{"utm_medium", utm.Medium},
		{"utm_campaign", utm.Campaign},
		{"utm_content", utm.Content},
	} {
		if p.value == "" || hasKey(query.text, p.key) {
			continue
		}
		if added.Len() > 0 {
			added.WriteByte('&')
		}
		added.WriteString(p.key)
		added.WriteByte('=')
		added.WriteString(strings.ReplaceAll(url.QueryEscape(p.value), "+", "%20"))
	}
	if added.Len() == 0 {
		return target
	}
	return query.add(target, added.String())
}

// AddParameter adds a parameter to target, before its fragment. All other bytes stay.
func AddParameter(target, name, value string) string {
	return queryOf(target).add(target, name+"="+url.QueryEscape(value))
}

// query is the query of a URL.
type query struct {
	text    string
	present bool
	end     int // offset in the URL
}

func queryOf(target string) query {
	end := len(target)
	if i := strings.IndexByte(target, '#'); i >= 0 {
		end = i
	}
	_, text, present := strings.Cut(target[:end], "?")
	return query{text, present, end}
}

// add returns target, whose query this is, with parameters added to the query.
func (q query) add(target, parameters string) string {
	joiner := "&"
	switch {
	case !q.present:
		joiner = "?"
	case q.text == "" || q.text[len(q.text)-1] == '&':
		joiner = ""
	}
	return target[:q.end] + joiner + parameters + target[q.end:]
}

// hasKey reports whether a raw query holds the parameter key.
func hasKey(query, key string) bool {
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name == key {
			return true
		}
		if strings.IndexByte(name, '%') >= 0 {
			if plain, err := url.QueryUnescape(name); err == nil && plain == key {
				return true
			}
		}
	}
	return false
}
