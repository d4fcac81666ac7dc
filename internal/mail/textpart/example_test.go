package textpart_test

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/mail/textpart"
)

func ExampleFromHTML() {
	fmt.Print(textpart.FromHTML(`<style>h1 { color: red }</style>
<h1>News</h1><p>Dear {{ first_name | default: "reader" }}, <a href="https://example.org/">read on</a>:</p>
<ul><li>one</li>{% if vip %}<li>two</li>{% endif %}</ul>`))
	// Output:
	// News
	// ====
	//
	// Dear {{ first_name | default: "reader" }}, read on (https://example.org/):
	//
	// - one{% if vip %}
	// - two{% endif %}
}
