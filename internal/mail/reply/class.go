package reply

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/mail/phrase"
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
	Reason   Reason   // empty if accepted
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
		return Verdict{Deferred, Network, Timeout, "uncertain"}
	case o.Stage == Auth:
		return Verdict{Lane, Policy, LoginRefused, "login"}
	case o.Stage == Connect || o.Stage == TLS:
		return Verdict{Lane, Network, ConnectFailed, "no-conversation"}
	case o.Code == 0:
		return Verdict{Lane, Network, ConnectFailed, "cut-off"}
	}
	return decide(o)
}

// Reported returns the meaning of a failure that a report describes (RFC 3464). It is final: what a
// server would have deferred is a bounce, and the class is Hard, Soft or Block.
func Reported(o Outcome) Verdict {
	withoutReply := o.Code == 0
	if withoutReply { // the reporting server failed before it reached another one
		o.Code = 550
		if code, ok := leadingEnhanced([]byte(o.Text)); ok && o.Enhanced == "" {
			o.Enhanced = string(code)
		}
		if strings.HasPrefix(o.Enhanced, "4.") {
			o.Code = 450
		}
	}
	v := decide(o)
	if v.Class = v.Expired(); withoutReply && v.Reason == InvalidDomain {
		v.Class, v.Category = Hard, Domain // the DNS has one answer for all
	}
	if v.Class == Lane { // a login between two servers that are not ours
		v.Class = Block
	}
	return v
}

// Vague reports whether a verdict is a guess, so that other texts about the same failure are worth
// reading: no words were recognized, or general ones only.
func (v Verdict) Vague() bool {
	return v.Reason == Unknown ||
		slices.ContainsFunc(rules, func(r rule) bool { return r.weak && r.id == v.Rule })
}

// decide returns the verdict of the first rule that matches.
func decide(o Outcome) Verdict {
	t := textOf(o.Text)
	for i := range rules {
		r := &rules[i]
		if r.applies(o) && (r.words == nil || t.has(i, r.raw)) {
			v := verdict(o.Code, r.reason, r.id)
			if r.lane {
				v.Class = Lane
			}
			return v
		}
	}
	return verdict(o.Code, Unknown, "unknown")
}

// verdict returns the verdict for a reason and a code.
func verdict(code int, reason Reason, rule string) Verdict {
	m := meanings[reason]
	if code/100 == 5 || m.class == Lane {
		return Verdict{m.class, m.category, reason, rule}
	}
	if m.class == Hard { // a server may have lost its list of users
		m.category = Other
	}
	return Verdict{Deferred, m.category, reason, rule}
}

// text is what a server wrote, in the forms in which words are searched: lower case, with spaces for
// underscores, without addresses, and usually without links.
type text struct {
	raw   string        // with links
	words *phrase.Found // without
	links *phrase.Found // with links; nil until it is needed
}

func textOf(s string) *text {
	s = strings.ReplaceAll(strings.ToLower(s), "_", " ")
	s = strings.ReplaceAll(s, "unknown address error ", "") // precedes every reply in reports of some gateways
	if strings.IndexByte(s, '@') >= 0 || strings.IndexByte(s, '<') >= 0 {
		s = strings.TrimSpace(anAddress.ReplaceAllString(s, " "))
		for strings.Contains(s, "  ") {
			s = strings.ReplaceAll(s, "  ", " ")
		}
	}
	t := &text{raw: s}
	if strings.Contains(s, "://") || strings.Contains(s, "www.") {
		s = aLink.ReplaceAllString(s, " ")
	}
	t.words = table().Find(s)
	if s == t.raw {
		t.links = t.words
	}
	return t
}

// has reports whether the text matches the words of a rule, which is given by its index.
func (t *text) has(rule int, raw bool) bool {
	if !raw {
		return t.words.Has(rule)
	}
	if t.links == nil {
		t.links = table().Find(t.raw)
	}
	return t.links.Has(rule)
}

// table is the set of the words of all rules.
var table = sync.OnceValue(func() *phrase.Set {
	groups := make([][]string, len(rules))
	for i, r := range rules {
		groups[i] = r.words
	}
	return phrase.Compile(groups)
})

// anAddress matches addresses, which may contain any words. Punctuation separates them from others.
var anAddress = regexp.MustCompile(`<[^<>]*>|[^\s<>@:;,()"]+@[^\s<>@:;,()"]+`)

// aLink matches links to explanations, whose words are often not about the failure.
var aLink = regexp.MustCompile(`(https?://|www\.)[^\s<>]+`)

// rule decides about the replies that match all of its conditions. An empty condition matches every
// reply.
type rule struct {
	id       string
	stages   []Stage
	codes    []int    // 4 and 5 mean all codes of the class
	enhanced []string // codes; without the class if they begin, and prefixes if they end, with a dot
	words    []string // regular expressions, one of which matches the text
	raw      bool     // words are searched in links, too
	lane     bool     // the failure is the lane's, whatever the reason usually means
	weak     bool     // the words are general: other texts of a report may say more
	reason   Reason
}

// applies reports whether an outcome meets the conditions of r other than words.
func (r *rule) applies(o Outcome) bool {
	return (r.stages == nil || slices.Contains(r.stages, o.Stage)) &&
		(r.codes == nil || slices.Contains(r.codes, o.Code) || slices.Contains(r.codes, o.Code/100)) &&
		(r.enhanced == nil || slices.ContainsFunc(r.enhanced, func(e string) bool { return matchesCode(o.Enhanced, e) }))
}

func matchesCode(have, want string) bool {
	if want == "" || have == "" {
		return want == have
	}
	if want[0] == '.' {
		have = have[1:]
	}
	return have == want || strings.HasSuffix(want, ".") && strings.HasPrefix(have, want)
}
