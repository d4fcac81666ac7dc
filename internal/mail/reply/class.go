package reply

import (
	"regexp"
	"slices"
	"strings"
)

// Class says what an outcome means; see the package comment.
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

// Category groups the reasons of a refusal for reports.
type Category string

// The categories.
const (
	Mailbox Category = "mailbox" // no such mailbox, or it is closed
	Domain  Category = "domain"  // no such domain, or no way to it
	Full    Category = "full"    // the mailbox is full
	Policy  Category = "policy"  // who we are, or how much we send
	Content Category = "content" // what the message says or how big it is
	Network Category = "network" // no answer, or not a complete one
	Other   Category = "other"
)

// Verdict is what Classify makes of an outcome.
type Verdict struct {
	Class    Class
	Category Category // empty if accepted
	Rule     string   // id of the rule that decided, for logs and support
}

// Expired returns the class of a message whose last verdict this is when there
// is no time left to try again: a deferral for policy was a block, any other a
// soft bounce. A failure of the lane stays one, since the message was not refused.
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

// Classify says what an outcome means. What came before MAIL, and what ended
// without a reply, is the lane's; everything else is decided by the first of
// the rules that matches. An uncertain outcome counts as deferred: whether to
// try again is decided where attempts are counted.
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

// anAddress finds addresses, whose words must not count as the server's own.
var anAddress = regexp.MustCompile(`<[^<>]*>|[^\s<>@]+@[^\s<>@]+`)

// rule decides about the replies that meet all of its conditions. An empty
// condition is met by every reply.
type rule struct {
	id       string
	stages   []Stage
	codes    []int          // 4 and 5 stand for the whole class
	enhanced []string       // whole codes, or a beginning that ends in a dot
	words    *regexp.Regexp // searched in the text: lower case, without addresses
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
