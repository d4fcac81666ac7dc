package inline_test

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/mail/inline"
)

func ExampleCSS() {
	out, err := inline.CSS(`<style>
p { color: black }
p.note { color: {{ account.color }} }
a:hover { color: red }
</style>
<p class="note" style="margin:0">Hello {{ contact.first_name }}</p>`)
	fmt.Println(out, err)
	// Output:
	// <style>
	// a:hover { color: red !important }
	// </style>
	// <p class="note" style="color:{{ account.color }};margin:0">Hello {{ contact.first_name }}</p> <nil>
}
