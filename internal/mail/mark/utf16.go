package mark

// UTF16 counts a text in UTF-16 code units, as JavaScript does.
type UTF16 struct {
	Text  string
	at    int // bytes that are counted
	units int
}

// At returns the position of an offset in bytes. Ascending offsets are cheap.
func (u *UTF16) At(offset int) int {
	if offset < u.at {
		u.at, u.units = 0, 0
	}
	for _, r := range u.Text[u.at:offset] {
		if u.units++; r > 0xffff {
			u.units++
		}
	}
	u.at = offset
	return u.units
}
