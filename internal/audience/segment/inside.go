package segment

import (
	"github.com/packetboat/packetboat/internal/audience/rule"
	"github.com/packetboat/packetboat/internal/people/contact"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Tree returns the rule that a contact is in a list or segment; of a list, that it is on it.
func Tree(s rule.SegmentRule) rule.Tree {
	if s.Static {
		return all(rule.List{Keys: []string{s.Key}, Operator: rule.In})
	}
	return s.Tree
}

// Inside returns the condition that a contact is in a list or segment. Contacts that are pending or
// anonymized are in none.
func Inside(db *sqldb.DB, env rule.Env, s rule.SegmentRule) (contact.Condition, error) {
	return matches(db, env, Tree(s))
}

// Has reports whether a contact is in a list or segment, as Inside does.
func Has(env rule.Env, s rule.SegmentRule, who rule.Subject) bool {
	return who.Contact.Status != contact.Pending && who.Contact.AnonymizedAt == nil && Tree(s).Match(env, who)
}
