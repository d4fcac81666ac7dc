package deliver_test

import (
	"bytes"
	"testing"
	"time"

	verifier "github.com/emersion/go-msgauth/dkim"

	"github.com/packetboat/packetboat/e2e/sink"
	"github.com/packetboat/packetboat/internal/senders/lane"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

func TestSignaturesVerifyAgainstTheDomainsRecord(t *testing.T) {
	t.Parallel()
	for _, sign := range []bool{true, false} {
		h := newHouse(t, dbtest.One(t))
		s := sink.Start(t, sink.Options{})
		h.relay(s.Port(), func(f *lane.Fields) { f.DKIMSign = new(sign) })
		h.send(3)
		h.pass(time.Since(h.now())) // the verifier uses the system clock
		h.run(h.engine())
		h.over()
		for _, m := range s.Messages() {
			found, err := verifier.VerifyWithOptions(bytes.NewReader(m.Raw), &verifier.VerifyOptions{
				LookupTXT: func(name string) ([]string, error) {
					if want := h.Domain.DKIMSelector + "._domainkey." + h.Domain.Name; name != want {
						t.Errorf("the key is looked for at %s, want %s", name, want)
					}
					return []string{h.Domain.DKIMRecord}, nil
				},
			})
			h.must(err)
			if !sign {
				if len(found) != 0 {
					t.Errorf("%d signatures where the relay signs", len(found))
				}
				continue
			}
			if len(found) != 1 || found[0].Err != nil || found[0].Domain != h.Domain.Name {
				t.Fatalf("signatures: %+v", *found[0])
			}
		}
	}
}
