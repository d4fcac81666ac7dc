package track

import (
	"encoding/hex"

	"github.com/packetboat/packetboat/internal/id"
)

// messageID is the purpose of the code in a Message-ID.
const messageID Kind = 'm'

// MessageID returns what stands before the @ of a message's Message-ID: its
// identifier, and a code that nobody can guess and that is the same at every attempt.
func (k *Keys) MessageID(m id.Message) string {
	const codeBytes = 8
	return m.String() + "." + hex.EncodeToString(k.mac(nil, messageID, m[:])[:codeBytes])
}
