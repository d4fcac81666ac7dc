package sequence

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/campaign/webhook"
	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// A text of JSON stays the JSON that its author wrote, whatever the values are; other texts are written as they are.
func TestBodiesOfWebhooksThatAreTexts(t *testing.T) {
	t.Parallel()
	env := liquid.Values{Vars: map[string]any{"name": `Jo "JJ"`, "evil": `x","admin":"1`, "lines": "a\nb", "n": 3, "list": []any{"a"}}, At: time.Now()}
	const bad = "it is not JSON"
	for _, c := range []struct{ media, body, want string }{
		{"", `{"name":"{{ name }}"}`, `{"name":"Jo \"JJ\""}`},
		{"", `{"name":"{{ evil }}"}`, `{"name":"x\",\"admin\":\"1"}`},
		{"", ` { "a": {{ n }}, "b": {{ lines }} } `, ` { "a": 3, "b": "a\nb" } `},
		{"", `["{{ lines }}"]`, `["a\nb"]`},
		{"", `[{"a":"{{ name }}"}]`, `[{"a":"Jo \"JJ\""}]`},
		{"", `{"tags":{{ list | json }}}`, `{"tags":["a"]}`},
		{"application/json", `"{{ name }}"`, `"Jo \"JJ\""`},
		{"application/vnd.api+JSON; charset=utf-8", `{% if n %}{"a":"{{ name }}"}{% endif %}`, `{"a":"Jo \"JJ\""}`},
		{"", `{{ name }} paid`, `Jo "JJ" paid`},
		{"", `[{{ name }}] paid`, `[Jo "JJ"] paid`},
		{"", `[1] see below`, `[1] see below`},
		{"", `name={{ name }}`, `name=Jo "JJ"`},
		{"text/plain", `{"name":"{{ name }}"}`, `{"name":"Jo "JJ""}`},
		{"application/x-www-form-urlencoded", `a={{ name | url_encode }}`, `a=Jo+%22JJ%22`},
		{"", `{"a":1,{% if nothing %}"b":2{% endif %}}`, bad},
		{"application/json", `{{ name }} paid`, bad},
	} {
		raw, _ := json.Marshal(c.body)
		template, err := WebhookStep{Body: raw}.Template(c.media)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		got, err := template.Render(func(text *liquid.Template) (string, error) {
			out, err := text.Append(context.Background(), nil, env, nil)
			return string(out), err
		})
		if c.want == bad {
			if err == nil || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s %s: %q, %v, want an error", c.media, c.body, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s %s: %q, %v, want %q", c.media, c.body, got, err, c.want)
		}
	}
}

func TestURLsOfWebhooksHaveNoLiquid(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"https://hooks.example.com/a?n=1": true, "https://hooks.example.com/{id}": true, " https://hooks.example.com/ ": true,
		"https://hooks.example.com/?n={{ first_name }}": false, "https://hooks.example.com/{% if a %}b{% endif %}": false,
		"https://hooks.example.com/a b": false, "https://hooks.example.com/a\nb": false, "http://hooks.example.com/": false,
	} {
		if err := checkCallURL(url, webhook.Rules{}); (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
	}
}
