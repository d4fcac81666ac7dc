package compose

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// WireReady returns an error unless raw can be sent by SMTP: lines of at most 998 bytes that end in
// CRLF, no other CR or LF, no NUL, seven bits. Servers refuse anything else, or may read it as two
// messages.
func WireReady(raw []byte) error {
	if !bytes.HasSuffix(raw, []byte("\r\n")) {
		return errors.New("the last line does not end in CRLF")
	}
	if err := checkBytes(raw); err != nil {
		return err
	}
	lines := 0
	for rest := raw; len(rest) > 0; lines++ {
		n := bytes.IndexByte(rest, '\n') // there is one: raw ends in it
		switch {
		case n == 0 || rest[n-1] != '\r':
			return errors.New("a line feed stands alone")
		case n-1 > maxLine:
			return errors.New("a line is longer than 998 bytes")
		}
		rest = rest[n+1:]
	}
	if bytes.Count(raw, []byte{'\r'}) != lines {
		return errors.New("a carriage return stands alone")
	}
	return nil
}

// checkBytes is WireReady without the checks of lines.
func checkBytes(raw []byte) error {
	if !isSevenBit(raw) {
		return errors.New("a byte has its eighth bit set")
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return errors.New("a byte is NUL")
	}
	return nil
}

func isSevenBit(raw []byte) bool {
	var all uint64
	for ; len(raw) >= 32; raw = raw[32:] {
		all |= binary.LittleEndian.Uint64(raw) | binary.LittleEndian.Uint64(raw[8:]) |
			binary.LittleEndian.Uint64(raw[16:]) | binary.LittleEndian.Uint64(raw[24:])
	}
	for len(raw) >= 8 {
		all |= binary.LittleEndian.Uint64(raw)
		raw = raw[8:]
	}
	for _, c := range raw {
		all |= uint64(c)
	}
	return all&0x8080808080808080 == 0
}
