package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
)

// Headers are the headers that the calls of a step have, by name. Their values are often credentials, so
// they are stored sealed, for the one address that they were given for, and are never shown.
type Headers map[string]HeaderText

// HeaderText is the value of a header: a text that may contain Liquid, as a request gives it, or one
// that is sealed, as it is stored. The zero value is null in JSON, and stands for a stored value that is
// not shown, or that a request keeps.
type HeaderText struct {
	Text   *string
	Sealed string
}

type sealedHeader struct {
	Sealed string `json:"sealed"`
}

// MarshalJSON returns a text, {"sealed": …} or null.
func (h HeaderText) MarshalJSON() ([]byte, error) {
	if h.Sealed != "" {
		return json.Marshal(sealedHeader{h.Sealed})
	}
	return json.Marshal(h.Text)
}

// UnmarshalJSON reads what MarshalJSON returns.
func (h *HeaderText) UnmarshalJSON(text []byte) error {
	var stored sealedHeader
	if json.Unmarshal(text, &stored) == nil && stored.Sealed != "" {
		*h = HeaderText{Sealed: stored.Sealed}
		return nil
	}
	*h = HeaderText{}
	if json.Unmarshal(text, &h.Text) != nil {
		return errors.New("must be a text, or null to keep the value that is stored")
	}
	return nil
}

// Shown returns the headers with their names only.
func (h Headers) Shown() Headers {
	shown := maps.Clone(h)
	for name := range shown {
		shown[name] = HeaderText{}
	}
	return shown
}

// Plain reports whether a value is a text that is not sealed.
func (h Headers) Plain() bool {
	for _, v := range h {
		if v.Text != nil {
			return true
		}
	}
	return false
}

// HeaderSource are the headers of a step as they are stored, and the URL they are for.
type HeaderSource struct {
	URL     string
	Headers Headers
}

// ErrHeaderKept reports that a value is to be kept and there is none for the address.
var ErrHeaderKept = errors.New("no value is stored for this scheme, host and port; send the value")

// Seal returns the headers of a request as they are stored. Those without a value keep that of stored,
// if it is for the same scheme, host and port: that of own, which is the step before the change, or else
// the only one that all steps of others have. The error joins the problems, each beginning with the path
// of its header.
func (h Headers) Seal(box *secret.Box, t id.Tenant, target string, own HeaderSource, others []HeaderSource) (Headers, error) {
	if len(h) == 0 {
		return nil, nil
	}
	place := headerPlace(t, target)
	sealed, problems := Headers{}, error(nil)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		switch v := h[name]; {
		case v.Sealed != "": // nobody was ever shown one
			problems = errors.Join(problems, fmt.Errorf("headers.%s: must be a text, or null to keep the value that is stored", name))
		case v.Text != nil:
			sealed[name] = HeaderText{Sealed: box.Seal([]byte(*v.Text), place)}
		default:
			kept := findHeader(t, place, name, own, others)
			if kept == "" {
				problems = errors.Join(problems, fmt.Errorf("headers.%s: %w", name, ErrHeaderKept))
			}
			sealed[name] = HeaderText{Sealed: kept}
		}
	}
	return sealed, problems
}

// findHeader returns the sealed value of a header that opens at a place; empty: there is none, or others
// have several.
func findHeader(t id.Tenant, place, name string, own HeaderSource, others []HeaderSource) string {
	of := func(s HeaderSource) string {
		if headerPlace(t, s.URL) != place {
			return ""
		}
		for n, v := range s.Headers {
			if strings.EqualFold(n, name) {
				return v.Sealed
			}
		}
		return ""
	}
	if found := of(own); found != "" {
		return found
	}
	found := ""
	for _, s := range others {
		one := of(s)
		if one != "" && found != "" && one != found {
			return ""
		}
		if one != "" {
			found = one
		}
	}
	return found
}

// Open returns the texts of stored headers, for calls to target.
func (h Headers) Open(box *secret.Box, t id.Tenant, target string) (map[string]string, error) {
	texts := make(map[string]string, len(h))
	for name, v := range h {
		if v.Sealed == "" {
			return nil, fmt.Errorf("the header %s has no value", name)
		}
		text, err := box.Open(v.Sealed, headerPlace(t, target))
		if err != nil {
			return nil, fmt.Errorf("open the header %s: %w", name, err)
		}
		texts[name] = string(text)
	}
	return texts, nil
}

// headerPlace binds a value to where it is sent.
func headerPlace(t id.Tenant, target string) string {
	origin := target
	if u, err := url.Parse(strings.TrimSpace(target)); err == nil {
		origin = u.Scheme + "://" + strings.ToLower(u.Host)
	}
	return "webhook_header:" + t.String() + ":" + origin
}

// sealCallHeaders returns rendered headers of a call as they are stored with its delivery.
func sealCallHeaders(box *secret.Box, t id.Tenant, queue id.Webhook, headers map[string]string) string {
	if len(headers) == 0 {
		return "{}"
	}
	return encode(box.Seal([]byte(encode(headers)), callHeadersPlace(t, queue)))
}

// openCallHeaders reads what sealCallHeaders returned; those of earlier versions are not sealed.
func openCallHeaders(box *secret.Box, t id.Tenant, queue id.Webhook, stored string) (headers map[string]string, err error) {
	var sealed string
	if json.Unmarshal([]byte(stored), &sealed) == nil {
		text, err := box.Open(sealed, callHeadersPlace(t, queue))
		if err != nil {
			return nil, fmt.Errorf("open the headers of a call: %w", err)
		}
		stored = string(text)
	}
	return headers, json.Unmarshal([]byte(stored), &headers)
}

func callHeadersPlace(t id.Tenant, queue id.Webhook) string {
	return "webhook_call_headers:" + t.String() + ":" + queue.String()
}
