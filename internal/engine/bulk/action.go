package bulk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/account/auth"
	"github.com/packetboat/packetboat/internal/base/fault"
)

// Action is the change made to each contact.
type Action string

// The actions.
const (
	AddTags         Action = "add_tags"
	RemoveTags      Action = "remove_tags"
	SetStage        Action = "set_stage"
	SetField        Action = "set_field"
	SetDoNotContact Action = "set_do_not_contact"
	Subscribe       Action = "subscribe"
	Unsubscribe     Action = "unsubscribe"
	AddToList       Action = "add_to_list"
	RemoveFromList  Action = "remove_from_list"
	Suppress        Action = "suppress"
	Enroll          Action = "enroll"
	ExitSequence    Action = "exit_sequence"
	Delete          Action = "delete"
	Restore         Action = "restore"
	ResetStatus     Action = "reset_status"
	Anonymize       Action = "anonymize"
)

// Actions returns all actions.
func Actions() []Action {
	return []Action{
		AddTags, RemoveTags, SetStage, SetField, SetDoNotContact, Subscribe, Unsubscribe, AddToList, RemoveFromList,
		Suppress, Enroll, ExitSequence, Delete, Restore, ResetStatus, Anonymize,
	}
}

// ErrNotAvailable is returned to an API key for actions that require a signed-in user.
var ErrNotAvailable = fault.New(fault.Forbidden, "ACTION_NOT_AVAILABLE", "this action is not available to API keys")

// permission is what a caller needs for an action, besides being allowed to write contacts.
type permission struct {
	scope   auth.Scope // of a key; empty: no other
	session bool       // keys may not request it
	role    auth.Role  // of a user; empty: that of any action
}

// permission returns what the action needs. It is what the operation needs that has the same effect on
// one contact: a key that cannot do something to one contact must not be able to do it to many.
func (a Action) permission() permission {
	switch a {
	case AddToList, RemoveFromList:
		return permission{scope: auth.ListsWrite}
	case Suppress:
		return permission{scope: auth.SuppressionWrite}
	case Enroll:
		return permission{scope: auth.SequencesEnroll}
	case ExitSequence:
		return permission{session: true}
	case ResetStatus, Anonymize:
		return permission{session: true, role: auth.Admin}
	}
	return permission{}
}

// Admit reports whether p may request an action at all. It is called before the rest of the request
// is validated. An unknown action passes, and is refused later.
func Admit(p auth.Principal, action string) error {
	need := Action(action).permission()
	switch {
	case p.IsKey() && need.session:
		return ErrNotAvailable.Sayf("%s is not available to API keys", action)
	case p.IsKey() && need.scope != "":
		return p.Need(need.scope)
	case !p.IsKey() && need.role != "" && !p.Role.AtLeast(need.role):
		return auth.ErrForbidden.Sayf("%s needs the role %s", action, need.role)
	}
	return nil
}

// parseAction parses the name of an action.
func parseAction(p *fault.Problems, name string) Action {
	a := Action(name)
	if slices.Contains(Actions(), a) {
		return a
	}
	if name == "" {
		p.Add("action", "required")
		return ""
	}
	names := make([]string, 0, len(Actions()))
	for _, a := range Actions() {
		names = append(names, string(a))
	}
	p.Add("action", fmt.Sprintf("must be one of %s", strings.Join(names, ", ")))
	return ""
}
