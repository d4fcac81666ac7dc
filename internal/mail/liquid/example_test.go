package liquid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/mail/liquid"
)

func ExampleTemplate_Append() {
	t, err := liquid.Parse(`<p>Dear {{ first_name | default: "reader" }},{% for city in cities %} {{ forloop.index }}. {{ city }}{% endfor %}</p>`, liquid.Options{Mode: liquid.HTML})
	if err != nil {
		panic(err)
	}
	out, err := t.Append(context.Background(), nil, liquid.Values{
		Vars: map[string]any{"first_name": "Ann & Bob", "cities": []string{"Oslo", "Turin"}},
		At:   time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC),
	}, nil)
	fmt.Println(string(out), err)
	fmt.Println(t.Variables())
	// Output:
	// <p>Dear Ann &amp; Bob, 1. Oslo 2. Turin</p> <nil>
	// [cities first_name]
}
