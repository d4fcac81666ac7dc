package track

import (
	"encoding/binary"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// binding is the purpose of the token that a click adds to the address of a tracked domain.
// It is not that of a link of ours.
const binding Kind = 'e'

// bindingLast is how long such a token is valid: the page that it leads to loads at once, but
// its visitor may first be asked for consent.
const bindingLast = time.Hour

// Binding says that a visitor of a tenant's website came by a click of a message.
type Binding struct {
	Tenant  id.Tenant
	Message id.Message
	Hit     id.Hit // the click
}

// BindingToken returns the token with which the website's script reports the click h. The
// click may not be recorded yet.
func (k *Keys) BindingToken(h Hit) (string, error) {
	s, err := k.Signer(h.Tenant, h.Message)
	if err != nil {
		return "", err
	}
	h.Method, h.Agent = clean(h.Method), clean(h.Agent) // as when it is recorded
	hit := h.dedupID()
	target := binary.BigEndian.AppendUint64(append(make([]byte, 0, 24), hit[:]...), uint64(h.At.Unix()))
	return string(s.Append(nil, binding, 0, string(target))), nil
}

// VerifyBinding reads a token of BindingToken that has not expired.
func (k *Keys) VerifyBinding(text string, now time.Time) (Binding, error) {
	t, err := k.verify(binding, text)
	if err != nil || len(t.Target) != 24 || t.Preview {
		return Binding{}, ErrBadToken
	}
	at := time.Unix(int64(binary.BigEndian.Uint64([]byte(t.Target[16:]))), 0)
	if age := now.Sub(at); age >= bindingLast || age < -bindingLast {
		return Binding{}, ErrBadToken
	}
	return Binding{t.Tenant, t.Message, id.Hit([]byte(t.Target[:16]))}, nil
}
