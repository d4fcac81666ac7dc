package track

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// The kinds of the tokens in addresses that mail comes back to.
const (
	returnPath         Kind = 'r' // envelope senders
	unsubscribeAddress Kind = 'a' // the mailto address of List-Unsubscribe
)

// lower32 is base32 in lower case, since some relays change the case of local parts.
var lower32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

const returnPathBytes = 1 + 2 + 16 + macBytes

// ReturnPath returns the token in a message's envelope sender, which identifies the message
// of a bounce: version, day of sending, message, and a MAC.
func (k *Keys) ReturnPath(message id.Message, sent time.Time) []byte {
	return k.address(returnPath, tokenVersion, message, sent)
}

// PreviewReturnPath is ReturnPath for a test mail.
func (k *Keys) PreviewReturnPath(message id.Message, sent time.Time) []byte {
	return k.address(returnPath, tokenVersion|previewFlag, message, sent)
}

// UnsubscribeAddress returns the token in the address to which a recipient can send a mail to
// unsubscribe.
func (k *Keys) UnsubscribeAddress(message id.Message, sent time.Time) []byte {
	return k.address(unsubscribeAddress, tokenVersion, message, sent)
}

// PreviewUnsubscribeAddress is UnsubscribeAddress for a test mail.
func (k *Keys) PreviewUnsubscribeAddress(message id.Message, sent time.Time) []byte {
	return k.address(unsubscribeAddress, tokenVersion|previewFlag, message, sent)
}

// ErrPreview means that a token is valid but that of a test mail, whose bounces change
// nothing.
var ErrPreview = errors.New("the address of a test mail")

func (k *Keys) address(kind Kind, version byte, message id.Message, sent time.Time) []byte {
	raw := make([]byte, 0, returnPathBytes+sha256.Size) // the MAC is truncated
	raw = append(raw, version)
	raw = binary.BigEndian.AppendUint16(raw, day(sent))
	raw = append(raw, message[:]...)
	return lower32.AppendEncode(nil, k.mac(raw, kind, raw))
}

// VerifyReturnPath returns the message of a token and the day it was sent. For the token of
// a test mail the error is ErrPreview.
func (k *Keys) VerifyReturnPath(text string) (id.Message, time.Time, error) {
	return k.verifyAddress(returnPath, text)
}

// VerifyUnsubscribeAddress is VerifyReturnPath for the token of UnsubscribeAddress.
func (k *Keys) VerifyUnsubscribeAddress(text string) (id.Message, time.Time, error) {
	return k.verifyAddress(unsubscribeAddress, text)
}

func (k *Keys) verifyAddress(kind Kind, text string) (id.Message, time.Time, error) {
	raw, err := lower32.DecodeString(text)
	if err != nil || len(raw) != returnPathBytes || raw[0]&^previewFlag != tokenVersion || string(lower32.AppendEncode(nil, raw)) != text {
		return id.Message{}, time.Time{}, ErrBadToken
	}
	body, mac := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	if !hmac.Equal(mac, k.mac(nil, kind, body)) {
		return id.Message{}, time.Time{}, ErrBadToken
	}
	if raw[0]&previewFlag != 0 {
		return id.Message{}, time.Time{}, ErrPreview
	}
	sent := time.Unix(int64(binary.BigEndian.Uint16(body[1:3]))*24*60*60, 0).UTC()
	return id.Message(body[3:19]), sent, nil
}

func day(t time.Time) uint16 { return uint16(t.Unix() / (24 * 60 * 60)) }
