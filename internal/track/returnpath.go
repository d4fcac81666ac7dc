package track

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/id"
)

// returnPath is the kind of the tokens in envelope senders.
const returnPath Kind = 'r'

// lower32 is base32 in lower case, since some relays change the case of local parts.
var lower32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

const returnPathBytes = 1 + 2 + 16 + macBytes

// ReturnPath returns the token in a message's envelope sender, which identifies the message
// of a bounce: version, day of sending, message, and a MAC.
func (k *Keys) ReturnPath(message id.Message, sent time.Time) []byte {
	return k.returnPath(tokenVersion, message, sent)
}

// PreviewReturnPath is ReturnPath for a test mail.
func (k *Keys) PreviewReturnPath(message id.Message, sent time.Time) []byte {
	return k.returnPath(tokenVersion|previewFlag, message, sent)
}

// ErrPreview means that a token is valid but that of a test mail, whose bounces change
// nothing.
var ErrPreview = errors.New("the return path of a test mail")

func (k *Keys) returnPath(version byte, message id.Message, sent time.Time) []byte {
	raw := make([]byte, 0, returnPathBytes+sha256.Size) // the MAC is truncated
	raw = append(raw, version)
	raw = binary.BigEndian.AppendUint16(raw, day(sent))
	raw = append(raw, message[:]...)
	return lower32.AppendEncode(nil, k.mac(raw, returnPath, raw))
}

// VerifyReturnPath returns the message of a token and the day it was sent. For the token of
// a test mail the error is ErrPreview.
func (k *Keys) VerifyReturnPath(text string) (id.Message, time.Time, error) {
	raw, err := lower32.DecodeString(text)
	if err != nil || len(raw) != returnPathBytes || raw[0]&^previewFlag != tokenVersion || string(lower32.AppendEncode(nil, raw)) != text {
		return id.Message{}, time.Time{}, ErrBadToken
	}
	body, mac := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	if !hmac.Equal(mac, k.mac(nil, returnPath, body)) {
		return id.Message{}, time.Time{}, ErrBadToken
	}
	if raw[0]&previewFlag != 0 {
		return id.Message{}, time.Time{}, ErrPreview
	}
	sent := time.Unix(int64(binary.BigEndian.Uint16(body[1:3]))*24*60*60, 0).UTC()
	return id.Message(body[3:19]), sent, nil
}

func day(t time.Time) uint16 { return uint16(t.Unix() / (24 * 60 * 60)) }
