package contentapi

import (
	"testing"

	"github.com/packetboat/packetboat/internal/mail/binding"
)

func TestAnswersWarnOnceOfEachLine(t *testing.T) {
	t.Parallel()
	list := []binding.Warning{{Code: "a", Line: 1, At: 3}, {Code: "a", Line: 1, At: 9}, {Code: "a", Line: 2, At: 20}}
	if got := distinct(list, hintWithoutPlace); len(got) != 2 || got[1].Line != 2 {
		t.Errorf("got %v", got)
	}
	if distinct(nil, hintWithoutPlace) == nil {
		t.Error("no warnings are null")
	}
}
