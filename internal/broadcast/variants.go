package broadcast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"packetboat/internal/fault"
)

// Bounds on the arms of a broadcast.
const (
	minArms = 2
	maxArms = 10
)

var (
	armID       = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	armFields   = []string{"subject", "preheader", "from_name", "reply_to", "body_html", "body_mjml", "body_text"}
	armDelivery = []string{"sending_identity_id", "sending_identity_ids", "sending_identity_email", "sending_identity_emails", "mta_config_id", "mta_config_key"}
)

// CheckVariants says what is wrong with the arms of a request (contract 9.3).
// An arm that names a sender or an MTA config is told that before anything else.
func CheckVariants(raw []byte) error {
	var arms []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &arms); err != nil || arms == nil {
		return badArm("variants", "must be an array of objects")
	}
	for i, arm := range arms {
		if key := deliveryKey(arm); key != "" {
			return ErrArmDelivery.With(fault.Fields{Fields: []fault.Field{
				{Path: fmt.Sprintf("variants[%d].%s", i, key), Message: "a variant cannot have this of its own"},
			}})
		}
	}
	if len(arms) < minArms || len(arms) > maxArms {
		return badArm("variants", "must have 2 to 10 arms")
	}
	seen := map[string]bool{}
	for i, arm := range arms {
		path := fmt.Sprintf("variants[%d]", i)
		var name, label string
		var weight float64
		switch {
		case json.Unmarshal(arm["id"], &name) != nil || !armID.MatchString(name):
			return badArm(path+".id", "must be 1 to 64 letters, digits, - or _")
		case seen[name]:
			return badArm(path+".id", "is taken by another arm")
		case json.Unmarshal(arm["name"], &label) != nil || label == "" || len([]rune(label)) > 200:
			return badArm(path+".name", "must be 1 to 200 characters")
		case json.Unmarshal(arm["weight"], &weight) != nil || !(weight > 0):
			return badArm(path+".weight", "must be a number above 0")
		}
		seen[name] = true
		if err := checkOverrides(path+".content_overrides", arm["content_overrides"]); err != nil {
			return err
		}
	}
	return nil
}

func checkOverrides(path string, raw json.RawMessage) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		return badArm(path, "must be an object with at least one field")
	}
	for key, value := range fields {
		var text *string
		if !slices.Contains(armFields, key) {
			return badArm(path, "may hold only subject, preheader, from_name, reply_to, body_html, body_mjml and body_text")
		}
		if json.Unmarshal(value, &text) != nil {
			return badArm(path+"."+key, "must be a string")
		}
	}
	return nil
}

// deliveryKey returns the first key anywhere in an arm by which it would choose
// how it is delivered.
func deliveryKey(arm map[string]json.RawMessage) string {
	var overrides map[string]json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(arm["content_overrides"]), []byte("{")) {
		_ = json.Unmarshal(arm["content_overrides"], &overrides) // checked later
	}
	for _, key := range armDelivery {
		if _, ok := arm[key]; ok {
			return key
		}
		if _, ok := overrides[key]; ok {
			return "content_overrides." + key
		}
	}
	return ""
}

func badArm(path, message string) error {
	f := fault.Field{Path: path, Message: message}
	return ErrVariants.Sayf("%s: %s", path, message).With(fault.Fields{Fields: []fault.Field{f}})
}
