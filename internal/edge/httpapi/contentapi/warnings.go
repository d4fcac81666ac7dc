package contentapi

import (
	"slices"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

// distinct returns warnings as an answer has them: without their places, and therefore some only once.
func distinct[W comparable](list []W, withoutPlace func(W) W) []W {
	all := []W{}
	for _, w := range list {
		if w = withoutPlace(w); !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

func hintWithoutPlace(w binding.Warning) binding.Warning { w.At = 0; return w }
