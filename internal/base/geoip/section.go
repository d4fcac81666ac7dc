package geoip

// section is the data or the metadata of a file: values, one after the other. Its methods return
// false for what is not valid.
type section []byte

// The types of values.
const (
	typePointer = 1
	typeText    = 2
	typeUint16  = 5
	typeUint32  = 6
	typeMap     = 7
	typeArray   = 11
	typeBool    = 14
)

// maxValues bounds the values that are read to find one, whatever the file contains.
const maxValues = 10_000

// value is the head of a value: its type, its size, and the offset of its content. The size of maps
// and arrays is the number of their elements.
type value struct{ kind, size, at int }

// head reads the head of the value at an offset, or of the value that a pointer there leads to.
func (s section) head(at int) (v value, ok bool) {
	for range 2 { // a pointer does not lead to another pointer
		v, ok = s.control(at)
		if !ok || v.kind != typePointer {
			return v, ok
		}
		at = v.size
	}
	return v, false
}

// control reads a control byte and the bytes that belong to it. Of a pointer, size is where it leads.
func (s section) control(at int) (v value, ok bool) {
	b, ok := s.bytes(at, 1)
	if !ok {
		return v, false
	}
	control := int(b[0])
	v = value{control >> 5, control & 31, at + 1}
	if v.kind == typePointer {
		n := v.size>>3 + 1
		b, ok := s.bytes(v.at, n)
		if !ok {
			return v, false
		}
		v.at += n
		v.size = bigEndian(b) + [...]int{0, 2048, 526336, 0}[n-1]
		if n < 4 {
			v.size += (control & 7) << (8 * n)
		}
		return v, true
	}
	if v.kind == 0 {
		if b, ok = s.bytes(v.at, 1); !ok {
			return v, false
		}
		v.kind = int(b[0]) + 7
		v.at++
	}
	if more := v.size - 28; more > 0 {
		if b, ok = s.bytes(v.at, more); !ok {
			return v, false
		}
		v.at += more
		v.size = bigEndian(b) + [...]int{29, 285, 65821}[more-1]
	}
	return v, true
}

func (s section) bytes(at, n int) ([]byte, bool) {
	if at < 0 || n < 0 || at > len(s) || n > len(s)-at {
		return nil, false
	}
	return s[at : at+n], true
}

func bigEndian(b []byte) (n int) {
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n
}

// find returns the offset of the value of a key in the map at an offset.
func (s section) find(at int, key string) (int, bool) {
	m, ok := s.head(at)
	if !ok || m.kind != typeMap {
		return 0, false
	}
	at = m.at
	budget := maxValues
	for range m.size {
		name, ok := s.raw(at)
		if !ok {
			return 0, false
		}
		if at, ok = s.skip(at, &budget); !ok {
			return 0, false
		}
		if string(name) == key {
			return at, true
		}
		if at, ok = s.skip(at, &budget); !ok {
			return 0, false
		}
	}
	return 0, false
}

// skip returns the offset behind the value at an offset.
func (s section) skip(at int, budget *int) (int, bool) {
	for left := 1; left > 0; left-- {
		if *budget--; *budget < 0 {
			return 0, false
		}
		v, ok := s.control(at)
		if !ok {
			return 0, false
		}
		at = v.at
		switch v.kind {
		case typePointer, typeBool: // without content
		case typeMap:
			left += 2 * v.size
		case typeArray:
			left += v.size
		default:
			at += v.size
		}
	}
	return at, true
}

// text returns the text at an offset.
func (s section) text(at int) (string, bool) {
	b, ok := s.raw(at)
	return string(b), ok
}

// raw is text without a copy.
func (s section) raw(at int) ([]byte, bool) {
	v, ok := s.head(at)
	if !ok || v.kind != typeText {
		return nil, false
	}
	return s.bytes(v.at, v.size)
}

// number returns the unsigned number at an offset, of at most 32 bits.
func (s section) number(at int) (int, bool) {
	v, ok := s.head(at)
	if !ok || v.kind != typeUint16 && v.kind != typeUint32 || v.size > 4 {
		return 0, false
	}
	b, ok := s.bytes(v.at, v.size)
	return bigEndian(b), ok
}
