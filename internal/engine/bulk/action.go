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

// Admit reports whether p may request an action at all. It is called before the rest of the request
// is validated. API keys may neither reset a status nor anonymize; users need the role admin for
// both. An unknown action passes, and is refused later.
func Admit(p auth.Principal, action string) error {
	switch Action(action) {
	case ResetStatus, Anonymize:
	default:
		return nil
	}
	if p.IsKey() {
		return ErrNotAvailable.Sayf("%s is not available to API keys", action)
	}
	if !p.Role.AtLeast(auth.Admin) {
		return auth.ErrForbidden.Sayf("%s needs the role %s", action, auth.Admin)
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
