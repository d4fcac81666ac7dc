package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"
)

// Stage is the moment at which a rule applies.
type Stage string

// The stages. TLS is before the handshake. Body is after the 354, while the
// message is being written; Dot is when all of it is there.
const (
	Connect Stage = "connect"
	Hello   Stage = "ehlo"
	TLS     Stage = "tls"
	Auth    Stage = "auth"
	Mail    Stage = "mail"
	Rcpt    Stage = "rcpt"
	Data    Stage = "data"
	Body    Stage = "body"
	Dot     Stage = "dot"
)

// Rule is a failure to cause. At its stage, and if sender and recipient match, the
// server first waits for Delay, then keeps the message if Keep is set, then
// sends Reply, then drops the connection if Drop is set. The first rule that
// matches applies. Without Reply and Drop the server goes on as usual.
//
// So {Stage: Dot, Keep: true, Drop: true} loses the answer to a message that
// was taken, and {Stage: Dot, Drop: true} loses the message as well. With a Reply
// "250 2.0.0 taken" and Reset besides, the first may or may not lose it. A drop at
// stage TLS comes after the server has asked for the handshake.
type Rule struct {
	Stage Stage         `json:"stage"`
	From  string        `json:"from"`  // pattern for the sender; empty matches all
	To    string        `json:"to"`    // pattern for a recipient; empty matches all
	Reply string        `json:"reply"` // such as "550 5.1.1 no such user"; \n separates lines
	Delay time.Duration `json:"-"`     // "delay": "200ms" in JSON
	Drip  time.Duration `json:"-"`     // between two bytes of the answer; "drip": "20ms" in JSON
	Keep  bool          `json:"keep"`
	Drop  bool          `json:"drop"`
	Reset bool          `json:"reset"` // drop with a reset instead of an end
	Times int           `json:"times"` // apply so often only; 0 is always
	Skip  int           `json:"skip"`  // let so many go first
	Each  bool          `json:"each"`  // Times and Skip count for each recipient by itself

	Chance float64 `json:"chance"` // apply in this share of cases, at random; 0 is always
	Over   int     `json:"over"`   // apply only while more connections than this are open
}

// ParseRules reads a JSON array of rules.
func ParseRules(data []byte) ([]Rule, error) {
	var list []struct {
		Rule
		Delay string `json:"delay"`
		Drip  string `json:"drip"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	var rules []Rule
	for i, r := range list {
		for text, to := range map[string]*time.Duration{r.Delay: &r.Rule.Delay, r.Drip: &r.Rule.Drip} {
			if text == "" {
				continue
			}
			d, err := time.ParseDuration(text)
			if err != nil {
				return nil, fmt.Errorf("rule %d: %w", i+1, err)
			}
			*to = d
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
	case Connect, Hello, TLS, Auth, Mail, Rcpt, Data, Body, Dot:
	default:
		return nil, fmt.Errorf("rule for unknown stage %q", string(r.Stage))
	}
	if r.Keep && r.Stage != Dot {
		return nil, errors.New("only rules for stage dot can keep the message")
	}
	if r.Reset && !r.Drop {
		return nil, errors.New("only a rule that drops the connection can reset it")
	}
	if r.Chance < 0 || r.Chance > 1 {
		return nil, fmt.Errorf("a chance of %g", r.Chance)
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
	if l.Chance > 0 && rand.Float64() >= l.Chance {
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
