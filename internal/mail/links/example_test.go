package links_test

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/mail/links"
)

func ExampleRewrite() {
	out, found, err := links.Rewrite(`<p>Read <a href="https://example.org/?a=1&amp;b=2">our news</a> or <a href="{{ unsubscribe_url }}">leave</a>.</p>`, links.Options{
		Href: func(l links.Link) string { return fmt.Sprintf("https://t.example.org/_q/c/{{ token }}?l=%d", l.Index) },
	})
	fmt.Println(out, err)
	for _, l := range found {
		fmt.Printf("%d %q leads to %s\n", l.Index, l.Label, l.URL)
	}
	// Output:
	// <p>Read <a href="https://t.example.org/_q/c/{{ token }}?l=0">our news</a> or <a href="{{ unsubscribe_url }}">leave</a>.</p> <nil>
	// 0 "our news" leads to https://example.org/?a=1&b=2
}
