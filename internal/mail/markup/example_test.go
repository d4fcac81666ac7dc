package markup_test

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/mail/markup"
)

func ExampleScanner() {
	src := `<p class="{{ look | default: ">" }}">Hi<!-- a > b -->`
	s := markup.New(src, markup.Syntax{})
	for t := range s.All() {
		fmt.Println(t.Start, t.End, src[t.Start:t.End])
		if t.Kind == markup.StartTag {
			for a := range s.Attributes(t) {
				fmt.Println("  ", a.Name, "is", s.Value(a))
			}
		}
	}
	// Output:
	// 0 37 <p class="{{ look | default: ">" }}">
	//    class is {{ look | default: ">" }}
	// 37 39 Hi
	// 39 53 <!-- a > b -->
}
