package liquid_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

// conformanceFile is next to the repository, not in it.
const conformanceFile = "../../../../shared/data/liquid-cases.json"

// refusedTags are tags of Shopify's that our Liquid does not have.
var refusedTags = regexp.MustCompile(`\{%-?\s*(echo|liquid|tablerow|ifchanged|doc|#|include|render)`)

// TestConformance runs the public cases that use our tags and filters only.
func TestConformance(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(conformanceFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no conformance cases at %s", conformanceFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tests []struct {
			Name, Template string
			Data           json.RawMessage
			Result         string
			Results        []string
			Invalid        bool
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	passed, refused := 0, map[string]int{}
	for _, c := range file.Tests {
		if m := refusedTags.FindStringSubmatch(c.Template); m != nil && !strings.Contains(c.Template, "{% comment %}") {
			refused[m[1]]++
			if _, err := liquid.Parse(c.Template, liquid.Options{}); err == nil {
				t.Errorf("%s: the tag %q is accepted", c.Name, m[1])
			}
			continue
		}
		want := c.Results
		if want == nil {
			want = []string{c.Result}
		}
		got, err := renderCase(t, c.Template, c.Data)
		switch {
		case c.Invalid && err == nil:
			t.Errorf("%s: %q gave %q, want an error", c.Name, c.Template, got)
		case !c.Invalid && err != nil:
			t.Errorf("%s: %q: %v", c.Name, c.Template, err)
		case !c.Invalid && !slices.Contains(want, got):
			t.Errorf("%s: %q gave %q, want %q", c.Name, c.Template, got, want)
		default:
			passed++
		}
	}
	t.Logf("%d of %d cases passed; cases of tags we refuse: %v", passed, len(file.Tests), refused)
}

func renderCase(t *testing.T, source string, data json.RawMessage) (string, error) {
	t.Helper()
	tmpl, err := liquid.Parse(source, liquid.Options{})
	if err != nil {
		return "", err
	}
	env := liquid.Values{Vars: map[string]any{}, At: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)}
	if len(data) > 0 {
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		v, err := decodeOrdered(d)
		if err != nil {
			t.Fatal(err)
		}
		env.Vars = v.(*object).fields
	}
	out, err := tmpl.Append(t.Context(), nil, env, liquid.NewBudget(liquid.Limits{}))
	return string(out), err
}

// object is an Object that keeps the order of its fields.
type object struct {
	names  []string
	fields map[string]any
}

func (o *object) Field(name string) any { return o.fields[name] }
func (o *object) Names() []string       { return o.names }

func decodeOrdered(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeOrdered(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		o := &object{fields: map[string]any{}}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			key := fmt.Sprint(name)
			if o.fields[key], err = decodeOrdered(d); err != nil {
				return nil, err
			}
			o.names = append(o.names, key)
		}
		_, err := d.Token()
		return o, err
	}
	return token, nil
}
