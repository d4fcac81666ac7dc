package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"
)

// Stage is the moment at which a rule applies.
type Stage string

// The stages. Body is after the 354, while the message is being written; Dot
// is when all of it is there.
const (
	Connect Stage = "connect"
	Hello   Stage = "ehlo"
	Auth    Stage = "auth"
	Mail    Stage = "mail"
	Rcpt    Stage = "rcpt"
	Data    Stage = "data"
	Body    Stage = "body"
	Dot     Stage = "dot"
)

// Rule is trouble to make. At its stage, and if sender and recipient match, the
// server first waits for Delay, then keeps the message if Keep says so, then
// gives Reply, then drops the connection if Drop says so. The first rule that
// matches applies. Without Reply and Drop the server goes on as usual.
//
// So {Stage: Dot, Keep: true, Drop: true} loses the answer to a message that
// was taken, and {Stage: Dot, Drop: true} loses the message as well.
type Rule struct {
	Stage Stage         `json:"stage"`
	From  string        `json:"from"`  // pattern for the sender; empty matches all
	To    string        `json:"to"`    // pattern for a recipient; empty matches all
	Reply string        `json:"reply"` // such as "550 5.1.1 no such user"; \n separates lines
	Delay time.Duration `json:"-"`     // "delay": "200ms" in JSON
	Keep  bool          `json:"keep"`
	Drop  bool          `json:"drop"`
	Times int           `json:"times"` // apply so often only; 0 is always
	Skip  int           `json:"skip"`  // let so many go first
	Each  bool          `json:"each"`  // Times and Skip count for each recipient by itself
}

// ParseRules reads a JSON array of rules.
func ParseRules(data []byte) ([]Rule, error) {
	var list []struct {
		Rule
		Delay string `json:"delay"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	var rules []Rule
	for i, r := range list {
		if r.Delay != "" {
			d, err := time.ParseDuration(r.Delay)
			if err != nil {
				return nil, fmt.Errorf("rule %d: %w", i+1, err)
			}
			r.Rule.Delay = d
		}
		rules = append(rules, r.Rule)
	}
	return rules, nil
}

// liveRule is a rule that is ready to be applied and counts how often it was.
type liveRule struct {
	Rule
	from, to *regexp.Regexp

	mu   sync.Mutex
	seen map[string]int
}

func (r Rule) compile() (*liveRule, error) {
	l := &liveRule{Rule: r, seen: map[string]int{}}
	switch r.Stage {
	case Connect, Hello, Auth, Mail, Rcpt, Data, Body, Dot:
	default:
		return nil, fmt.Errorf("rule for unknown stage %q", string(r.Stage))
	}
	if r.Keep && r.Stage != Dot {
		return nil, errors.New("only rules for stage dot can keep the message")
	}
	if r.Reply != "" && !aReply.MatchString(r.Reply) {
		return nil, fmt.Errorf("%q is not a reply", r.Reply)
	}
	var err error
	if l.from, err = regexp.Compile(r.From); err != nil {
		return nil, err
	}
	l.to, err = regexp.Compile(r.To)
	return l, err
}

var aReply = regexp.MustCompile(`^[2-5]\d\d( [^\r\n]*)?(\n[2-5]\d\d( [^\r\n]*)?)*$`)

// applies reports whether the rule is due, and counts.
func (l *liveRule) applies(stage Stage, from, to string) bool {
	if l.Stage != stage || !l.from.MatchString(from) || !l.to.MatchString(to) {
		return false
	}
	if l.Times == 0 && l.Skip == 0 {
		return true
	}
	key := ""
	if l.Each {
		key = to
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[key]++
	n := l.seen[key]
	return n > l.Skip && (l.Times == 0 || n <= l.Skip+l.Times)
}
