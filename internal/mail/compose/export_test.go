package compose

import "bytes"

// EncodeBody returns the body of a part and whether it is quoted-printable.
func EncodeBody(body []byte) (quoted bool, encoded []byte) {
	return EncodeKnown(body, 0, Known{})
}

// EncodeKnown is EncodeBody of body[from:], parts of which are known.
func EncodeKnown(body []byte, from int, known Known) (quoted bool, encoded []byte) {
	var b Builder
	raw := b.part(nil, "text/plain", body, from, known)
	head, encoded, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	return bytes.HasSuffix(head, []byte("quoted-printable")), encoded
}
