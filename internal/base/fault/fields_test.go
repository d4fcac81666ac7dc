package fault_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/packetboat/packetboat/internal/base/fault"
)

func fieldsOf(t *testing.T, err error) fault.Fields {
	t.Helper()
	f, ok := fault.As(err)
	if !ok {
		t.Fatalf("%v is no fault", err)
	}
	return f.Details.(fault.Fields)
}

func TestAHundredProblemsAreReported(t *testing.T) {
	var p fault.Problems
	for i := range fault.MaxFields {
		p.Add(fmt.Sprint("a", i), "wrong")
	}
	if got := fieldsOf(t, p.Err()); len(got.Fields) != 100 || got.Truncated || p.Truncated() {
		t.Errorf("100 problems: %d, truncated %v", len(got.Fields), got.Truncated)
	}
	p.Add("b", "wrong")
	if got := fieldsOf(t, p.Err()); len(got.Fields) != 100 || !got.Truncated || !p.Truncated() {
		t.Errorf("101 problems: %d, truncated %v", len(got.Fields), got.Truncated)
	}
	if got := fieldsOf(t, fault.Input(make([]fault.Field, 5000)...)); len(got.Fields) != 100 || !got.Truncated {
		t.Errorf("Input of 5000: %d, truncated %v", len(got.Fields), got.Truncated)
	}
}

func TestElementsWithOneProblemAreCounted(t *testing.T) {
	var p fault.Problems
	p.AddElement("tags", "too long")
	for range 3 {
		p.AddElement("tags", "empty")
		p.AddElement("days", "no day")
	}
	p.Add("tags", "empty") // the array
	got := fieldsOf(t, p.Err())
	want := []fault.Field{
		{Path: "tags", Message: "1 element: too long"},
		{Path: "tags", Message: "3 elements: empty"},
		{Path: "days", Message: "3 elements: no day"},
		{Path: "tags", Message: "empty"},
	}
	if diff := cmp.Diff(want, got.Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestCountingElementsTakesNoMemory(t *testing.T) {
	var p fault.Problems
	p.AddElement("tags", "wrong")
	if n := testing.AllocsPerRun(10, func() {
		for range 10_000 {
			p.AddElement("tags", "wrong")
		}
	}); n != 0 {
		t.Errorf("10000 elements took %v allocations", n)
	}
}
