package reply

import (
	"regexp"
	"slices"
	"strings"
)

// Class is the meaning of an outcome; see the package comment.
type Class string

// The classes.
const (
	Accepted Class = "accepted"
	Deferred Class = "deferred"
	Hard     Class = "hard"
	Soft     Class = "soft"
	Block    Class = "block"
	Lane     Class = "lane"
)

// Category is the reason of a refusal, for reports.
type Category string

// The categories.
const (
	Mailbox Category = "mailbox" // no such mailbox, or it is closed
	Domain  Category = "domain"  // no such domain, or no route to it
	Full    Category = "full"    // the mailbox is full
	Policy  Category = "policy"  // the sender or its volume was refused
	Content Category = "content" // what the message contains, or its size
	Network Category = "network" // no answer, or not a complete one
	Other   Category = "other"
)

// Verdict is the result of Classify.
type Verdict struct {
	Class    Class
	Category Category // empty if accepted
	Rule     string   // id of the rule that decided, for logs and support
}

// Expired returns the class of a message with this last verdict when there is no time left to retry:
// a deferral for policy becomes a block, any other a soft bounce. A failure of the lane stays one,
// since the message was not refused.
func (v Verdict) Expired() Class {
	switch {
	case v.Class == Deferred && v.Category == Policy:
		return Block
	case v.Class == Deferred:
		return Soft
	default:
		return v.Class
	}
}

// Classify returns the meaning of an outcome. Failures before MAIL, and those without a reply, are
// the lane's; all others are decided by the first rule that matches. An uncertain outcome is
// classified as deferred: the caller counts attempts and decides whether to retry.
func Classify(o Outcome) Verdict {
	switch {
	case o.Accepted:
		return Verdict{Class: Accepted, Rule: "accepted"}
	case o.Uncertain:
		return Verdict{Deferred, Network, "uncertain"}
	case o.Stage == Auth:
		return Verdict{Lane, Policy, "login"}
	case o.Stage == Connect || o.Stage == TLS:
		return Verdict{Lane, Network, "no-conversation"}
	case o.Code == 0:
		return Verdict{Lane, Network, "cut-off"}
	}
	words := anAddress.ReplaceAllString(strings.ToLower(o.Text), " ")
	for _, r := range rules {
		if r.matches(o, words) {
			return Verdict{r.class, r.category, r.id}
		}
	}
	return Verdict{Deferred, Other, "unknown"}
}

// anAddress matches addresses, which are removed from the text before words are searched.
var anAddress = regexp.MustCompile(`<[^<>]*>|[^\s<>@]+@[^\s<>@]+`)

// rule decides about the replies that match all of its conditions. An empty condition matches every
// reply.
type rule struct {
	id       string
	stages   []Stage
	codes    []int          // 4 and 5 mean all codes of the class
	enhanced []string       // whole codes, or prefixes that end in a dot
	words    *regexp.Regexp // searched in the text, in lower case and without addresses
	class    Class
	category Category
}

func (r rule) matches(o Outcome, words string) bool {
	return (r.stages == nil || slices.Contains(r.stages, o.Stage)) &&
		(r.codes == nil || slices.Contains(r.codes, o.Code) || slices.Contains(r.codes, o.Code/100)) &&
		(r.enhanced == nil || slices.ContainsFunc(r.enhanced, func(e string) bool {
			return e == o.Enhanced || strings.HasSuffix(e, ".") && strings.HasPrefix(o.Enhanced, e)
		})) &&
		(r.words == nil || r.words.MatchString(words))
}
