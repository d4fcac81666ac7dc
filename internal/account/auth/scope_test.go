package auth

import (
	"errors"
	"slices"
	"testing"
)

func TestASetGrantsWhatItsScopesImply(t *testing.T) {
	t.Parallel()
	for _, held := range Scopes() {
		set := Set{held.Scope}
		for _, asked := range Scopes() {
			want := asked.Scope == held.Scope || slices.Contains(held.Implies, asked.Scope)
			if got := set.Has(asked.Scope); got != want {
				t.Errorf("a key with %s has %s: %v, want %v", held.Scope, asked.Scope, got, want)
			}
		}
	}
}

func TestNewSetListsUnknownScopes(t *testing.T) {
	t.Parallel()
	for _, bad := range [][]string{nil, {"contacts:read", "moon:walk"}, {"custom-fields:write"}} {
		if _, err := NewSet(bad); !errors.Is(err, ErrInvalidScope) {
			t.Errorf("NewSet(%q) error = %v, want ErrInvalidScope", bad, err)
		}
	}
	got, err := NewSet([]string{"lists:read", "contacts:read", "lists:read"})
	if err != nil || !slices.Equal(got, Set{ContactsRead, ListsRead}) {
		t.Errorf("NewSet = %v, %v; want the two scopes, sorted", got, err)
	}
}

func TestRolesAreOrdered(t *testing.T) {
	t.Parallel()
	if !Owner.AtLeast(Admin) || !Editor.AtLeast(Editor) || Viewer.AtLeast(Editor) || Role("").AtLeast(Viewer) {
		t.Error("roles are out of order")
	}
}
