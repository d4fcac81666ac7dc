package dsn

import "strings"

// Limits of the addresses that are found in a text.
const (
	maxAddresses = 500
	maxLocal     = 64
	maxDomain    = 252
)

// span is where something stands in a text.
type span struct{ from, to int }

// addresses returns where the first addresses in a text are. They need not be valid.
func (m *meter) addresses(text string, most int) (list []span) {
	m.Steps += len(text)
	for end := 0; len(list) < most; { // end of what was read
		at := strings.IndexByte(text[end:], '@')
		if at < 0 {
			break
		}
		at += end
		from := at
		for from > end && at-from < maxLocal && isLocal(text[from-1]) {
			from--
		}
		to := at + 1
		for to < len(text) && to-at-1 < maxDomain && isDomain(text[to]) {
			to++
		}
		for to > at+1 && !isAlphanumeric(text[to-1]) {
			to--
		}
		m.Steps += to - from
		if from == at || to == at+1 || !isAlphanumeric(text[at+1]) {
			end = at + 1
			continue
		}
		list = append(list, span{from, to})
		end = to
	}
	return list
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isDomain(c byte) bool { return isAlphanumeric(c) || c == '.' || c == '-' }

func isLocal(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte(".!#$%&'*+/=?^_{|}~-", c) >= 0
}
