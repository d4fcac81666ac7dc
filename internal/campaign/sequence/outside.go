package sequence

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/campaign/usermail"
	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// WebhookStep makes a request. The contact does not wait for its answer. Values of headers and texts
// in the body may contain Liquid. A step that is stored has its headers sealed.
type WebhookStep struct {
	URL     string          `json:"url"`
	Headers webhook.Headers `json:"headers,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`      // a text, or a JSON object or array; absent: an object about the contact
	Seconds int             `json:"timeout_s,omitempty"` // 0: defaultTimeout
	oneWay
}

// defaultTimeout is the timeout of a webhook, in seconds.
const defaultTimeout = 10

// Timeout is how long an attempt may take.
func (s WebhookStep) Timeout() time.Duration {
	return time.Duration(cmp.Or(s.Seconds, defaultTimeout)) * time.Second
}

// NotifyStep mails users of the account. The subject and the body, which is plain text, may contain
// Liquid.
type NotifyStep struct {
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	Body    string   `json:"body"`
	oneWay
}

// maxNotified is how many users a step may mail.
const maxNotified = 20

func (s WebhookStep) check() error {
	err := required("url", s.URL != "")
	if s.URL != "" {
		_, wrong := webhook.CheckURL(s.URL, webhook.Rules{AllowPrivate: true})
		err = named("url", wrong)
	}
	if len(s.Headers) > webhook.MaxCallHeaders {
		err = errors.Join(err, fmt.Errorf("headers: at most %d", webhook.MaxCallHeaders))
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		path := "headers." + name
		err = errors.Join(err, named(path, webhook.CheckHeaderName(name)))
		if text := s.Headers[name].Text; text != nil {
			err = errors.Join(err, checkValue(path, *text))
		}
		if lower := strings.ToLower(name); seen[lower] {
			err = errors.Join(err, fmt.Errorf("%s: another header has this name", path))
		} else {
			seen[lower] = true
		}
	}
	if limit := int(webhook.MaxCallTimeout / time.Second); s.Seconds < 0 || s.Seconds > limit {
		err = errors.Join(err, fmt.Errorf("timeout_s: must be 1 to %d", limit))
	}
	mediaType := ""
	for name, v := range s.Headers {
		if v.Text != nil && strings.EqualFold(name, "Content-Type") {
			mediaType = *v.Text
		}
	}
	_, wrong := s.Template(mediaType)
	return errors.Join(err, named("body", wrong))
}

// checkCallURL checks the URL of a request that is written. Those of earlier versions may have Liquid, which
// was never rendered.
func checkCallURL(text string, rules webhook.Rules) error {
	if strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.ContainsAny(strings.TrimSpace(text), " \t\r\n") {
		return errors.New("must not contain Liquid or spaces; put what differs by contact into the body or a header")
	}
	_, err := webhook.CheckURL(text, rules)
	return err
}

// BodyTemplate is the body of a webhook, parsed.
type BodyTemplate struct {
	text   *liquid.Template
	isJSON bool // text is JSON, in which values are escaped
	value  any  // of JSON, with a *liquid.Template for each text with Liquid
}

// Template parses the body; nil if there is none. A text is JSON if its media type says so or, without
// one, if it looks like an object or a list.
func (s WebhookStep) Template(mediaType string) (*BodyTemplate, error) {
	raw := bytes.TrimSpace(s.Body)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string:
		o := liquid.Options{}
		isJSON := strings.Contains(strings.ToLower(mediaType), "json") || mediaType == "" && looksLikeJSON.MatchString(v)
		if isJSON {
			o.Mode = liquid.JSON
		}
		t, err := liquid.Parse(v, o)
		if err != nil {
			return nil, fmt.Errorf("the Liquid is not valid: %w", err)
		}
		return &BodyTemplate{text: t, isJSON: isJSON}, nil
	case map[string]any, []any:
		value, err := parseTexts(v)
		return &BodyTemplate{value: value}, err
	}
	return nil, errors.New("must be a text, an object or an array")
}

// looksLikeJSON matches a text that begins and ends as an object or a list does.
var looksLikeJSON = regexp.MustCompile(`(?s)^\s*(\{\s*(["}]|\{%).*\}|\[\s*(["\[\]\d-]|\{[^{%]).*\])\s*$`)

// parseTexts replaces the texts with Liquid in a JSON value by their templates.
func parseTexts(v any) (any, error) {
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "{{") && !strings.Contains(v, "{%") {
			return v, nil
		}
		t, err := liquid.Parse(v, liquid.Options{})
		if err != nil {
			return nil, fmt.Errorf("the Liquid of %q is not valid: %w", v, err)
		}
		return t, nil
	case []any:
		for i := range v {
			one, err := parseTexts(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = one
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			one, err := parseTexts(v[key])
			if err != nil {
				return nil, err
			}
			v[key] = one
		}
	}
	return v, nil
}

// Render returns the body, with each text rendered.
func (b *BodyTemplate) Render(render func(*liquid.Template) (string, error)) (string, error) {
	if b.text != nil {
		text, err := render(b.text)
		if err == nil && b.isJSON && !json.Valid([]byte(text)) {
			err = errors.New("it is not JSON with the values of this contact")
		}
		return text, err
	}
	value, err := renderTexts(b.value, render)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err = e.Encode(value)
	return strings.TrimSuffix(out.String(), "\n"), err
}

func renderTexts(v any, render func(*liquid.Template) (string, error)) (any, error) {
	switch v := v.(type) {
	case *liquid.Template:
		return render(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = renderTexts(v[i], render); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			var err error
			if object[key], err = renderTexts(v[key], render); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return v, nil
}

func (s NotifyStep) check() error {
	var err error
	if len(s.To) == 0 || len(s.To) > maxNotified {
		err = fmt.Errorf("to: must be 1 to %d addresses of users of the tenant", maxNotified)
	}
	if s.Subject == "" || len([]rune(s.Subject)) > usermail.MaxSubject {
		err = errors.Join(err, fmt.Errorf("subject: must be 1 to %d characters", usermail.MaxSubject))
	}
	err = errors.Join(err, required("body", s.Body != ""))
	return errors.Join(err, checkValue("subject", s.Subject), checkValue("body", s.Body))
}

// referNotify checks that the addresses are those of users of the account.
func (c *checker) referNotify(ctx context.Context, s NotifyStep) (code IssueCode, wrong, err error) {
	users, err := auth.MemberAddresses(ctx, c.db, c.tenant)
	if err != nil {
		return "", nil, err
	}
	for i, to := range s.To {
		if !users[strings.ToLower(strings.TrimSpace(to))] {
			wrong = errors.Join(wrong, fmt.Errorf("to[%d]: no user of the tenant has the address %q, or they have not proven it", i, to))
		}
	}
	return UnknownReference, wrong, nil
}
