package markup

import (
	"crypto/sha256"
	"strings"
)

// WordNotIn returns a word of small letters that begins with stem and does not occur in the source. It is
// derived from the source's hash, so that a source cannot be written to contain it.
func WordNotIn(source, stem string) string {
	hash := sha256.Sum256([]byte(source))
	for {
		word := []byte(stem)
		for _, b := range hash[:8] {
			word = append(word, 'k'+b%16)
		}
		if !strings.Contains(source, string(word)) {
			return string(word)
		}
		hash = sha256.Sum256(hash[:])
	}
}
