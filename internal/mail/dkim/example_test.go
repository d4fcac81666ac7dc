package dkim_test

import (
	"fmt"
	"strings"
	"time"

	verifier "github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/internal/mail/dkim"
)

func ExampleSigner_Sign() {
	private, err := dkim.GenerateKey()
	if err != nil {
		panic(err)
	}
	key, err := dkim.NewRSAKey(private)
	if err != nil {
		panic(err)
	}
	signer, err := dkim.New("news.example.org", "s1", key)
	if err != nil {
		panic(err)
	}
	raw := "From: ann@news.example.org\r\nTo: bob@example.com\r\nSubject: Hello\r\n\r\nGood morning.\r\n"
	header, err := signer.Sign(nil, []byte(raw), time.Now())
	if err != nil {
		panic(err)
	}

	// A receiver finds the public key in the DNS.
	record, err := dkim.Record(&private.PublicKey)
	if err != nil {
		panic(err)
	}
	results, err := verifier.VerifyWithOptions(strings.NewReader(string(header)+raw), &verifier.VerifyOptions{
		LookupTXT: func(name string) ([]string, error) {
			fmt.Println("asked for", name)
			return []string{record}, nil
		},
	})
	fmt.Println(results[0].Domain, results[0].Err, err)
	// Output:
	// asked for s1._domainkey.news.example.org
	// news.example.org <nil> <nil>
}
