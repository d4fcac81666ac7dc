package mjml_test

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/mail/mjml"
)

func ExampleCheck() {
	warnings, err := mjml.Check(`<mjml>
<mj-body>
  <mj-section>
    {% if vip %}
    <mj-column><mj-text>Hello {{ first_name }}</mj-text></mj-column>
  </mj-section>
</mj-body>
</mjml>`)
	fmt.Println(warnings[0].Line, warnings[0].Message)
	fmt.Println(err)

	_, err = mjml.Check("<mjml><mj-body>\n<mj-text>Hello</mj-body></mjml>")
	fmt.Println(err)
	// Output:
	// 4 {% if vip %} stands between elements, where Liquid is dropped: put it into mj-raw, or into mj-text
	// <nil>
	// mjml: line 2: <mj-text> is not closed: </mj-body> of line 2 ends what is around it
}
