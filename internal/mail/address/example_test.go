package address_test

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/mail/address"
)

func ExampleParse() {
	for _, s := range []string{" Ann.Lee@BÜCHER.example ", "ann@localhost", "Ann <ann@example.org>"} {
		a, err := address.Parse(s)
		fmt.Println(a, err)
	}
	// Output:
	// ann.lee@xn--bcher-kva.example <nil>
	//  the domain has no dot
	//  the address must stand alone, without a name or angle brackets
}
