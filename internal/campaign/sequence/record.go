package sequence

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
)

// WhyCode says why an enrollment left a node, or is still at it.
type WhyCode string

// The codes.
const (
	CarriedOut      WhyCode = "carried_out"       // an action
	NotCarriedOut   WhyCode = "not_carried_out"   // an action; Reason says why
	MailQueued      WhyCode = "mail_queued"       // Visit, and Until if it is sent later
	MailRefused     WhyCode = "mail_refused"      // the contact may not get it; Reason is that of contact.Refusal
	MailUnavailable WhyCode = "mail_unavailable"  // nobody can get it now; Reason is the code of the fault
	Waited          WhyCode = "waited"            // Until
	Met             WhyCode = "met"               // what the wait waited for happened
	TimedOut        WhyCode = "timed_out"         // Until
	ConditionMet    WhyCode = "condition_met"     // a rule of a condition or a branch holds
	ConditionNotMet WhyCode = "condition_not_met" // none does
	Chosen          WhyCode = "split"             // by the split
	GoalMet         WhyCode = "goal_met"          // the rule of a goal holds
	GoalNotMet      WhyCode = "goal_not_met"
	GoalReached     WhyCode = "goal_reached" // it jumped to a goal
	Left            WhyCode = "exited"       // the enrollment ended here; Reason is its Reason

	AtWait    WhyCode = "waiting" // these are of the node that an enrollment is at; Until
	AtPause   WhyCode = "paused"  // the sequence is paused
	AtPending WhyCode = "pending" // the step is yet to be carried out
)

// WhyCodes returns all codes.
func WhyCodes() []WhyCode {
	return []WhyCode{
		CarriedOut, NotCarriedOut, MailQueued, MailRefused, MailUnavailable, Waited, Met, TimedOut, ConditionMet, ConditionNotMet, Chosen,
		GoalMet, GoalNotMet, GoalReached, Left, AtWait, AtPause, AtPending,
	}
}

// Why is what decided that an enrollment left a node.
type Why struct {
	Code     WhyCode
	Reason   string      // a code; empty: none
	Until    *time.Time  // when a wait ends, or a mail is due; nil: at once
	Visit    int         // of the node, for a mail
	Delivery id.Delivery // of the request of a webhook
}

// record is a part of the log of an enrollment's steps: that it entered a node, or left it. The log is a text of them to
// which each write appends, so that a step costs no row and is read by nobody until somebody asks. Entering is
//
//	"\n" time "\t" mark "\t" fingerprint and node
//
// and leaving is a code and facts, each a letter and a value, separated by tabs. Numbers are in base 36, times in
// microseconds. A text that does not begin with a line feed was cut at its front; a part of a line without its beginning
// says nothing.
type record struct {
	enters string // the mark of the node; "": it leaves one
	at     time.Time
	label  string
	why    *Why // may change until the record is stored
}

// maxLog is the length of the log, in characters, before a write appends to it: some 200 steps.
const maxLog = 8000

// nodeMarks are the types of nodes in the log. They must not change.
var nodeMarks = map[NodeType]byte{
	SendNode: 's', WaitNode: 'w', ConditionNode: 'c', BranchNode: 'b', SplitNode: 'p', ListNode: 'l', TagNode: 't', UpdateNode: 'u', StageNode: 'g',
	SubscriptionNode: 'n', EventNode: 'e', WebhookNode: 'h', NotifyNode: 'm', EnrollNode: 'r', GoalNode: 'o', ExitNode: 'x',
}

// whyMarks are the codes in the log. They must not change.
var whyMarks = map[WhyCode]byte{
	CarriedOut: 'd', NotCarriedOut: 'f', MailQueued: 'q', MailRefused: 'r', MailUnavailable: 'u', Waited: 'w', Met: 'm', TimedOut: 't',
	ConditionMet: 'y', ConditionNotMet: 'n', Chosen: 's', GoalMet: 'g', GoalNotMet: 'h', GoalReached: 'j', Left: 'x',
}

var (
	nodeTypesByMark = byMark(nodeMarks)
	whyCodesByMark  = byMark(whyMarks)
)

func byMark[T comparable](marks map[T]byte) map[byte]T {
	found := make(map[byte]T, len(marks))
	for v, mark := range marks {
		found[mark] = v
	}
	return found
}

// mark returns the node of a graph as the log has it.
func (g Graph) mark(nodeID string) string {
	i := g.node(nodeID)
	if i < 0 {
		return "?\t\t" + nodeID
	}
	return string(nodeMarks[g.Nodes[i].Type]) + "\t" + g.Nodes[i].fingerprint() + "\t" + nodeID
}

// fingerprint returns a digest of what the node does, however the database spells its configuration.
func (n Node) fingerprint() string {
	h := fnv.New32a()
	h.Write([]byte(n.Type))
	var config any
	if err := json.Unmarshal(n.Config, &config); err == nil {
		_ = json.NewEncoder(h).Encode(config) // was decoded from JSON, so it can be encoded
	}
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// entering returns the text of a log that begins with a node.
func entering(mark string, at time.Time) string {
	return "\n" + base36(at) + "\t" + mark
}

func base36(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 36) }

func fromBase36(text string) time.Time {
	micros, _ := strconv.ParseInt(text, 36, 64)
	return time.UnixMicro(micros).UTC()
}

// text returns the record as it is stored.
func (r record) text() string {
	if r.enters != "" {
		return entering(r.enters, r.at)
	}
	return r.why.text() + fact('l', r.label)
}

// text returns how the log says that an enrollment leaves a node.
func (y Why) text() string {
	text := "\t" + string(whyMarks[y.Code]) + fact('r', y.Reason)
	if y.Until != nil {
		text += fact('t', base36(*y.Until))
	}
	if y.Visit != 0 {
		text += fact('v', strconv.FormatInt(int64(y.Visit), 36))
	}
	if !y.Delivery.IsZero() {
		text += fact('d', y.Delivery.String())
	}
	return text
}

func fact(letter byte, value string) string {
	if value == "" {
		return ""
	}
	return "\t" + string(letter) + value
}

// visit is one visit of a node, as the log has it.
type visit struct {
	node        string
	typ         NodeType // empty: the graph did not have the node
	fingerprint string
	at          time.Time
	left        bool
	label       string
	why         Why
}

// visits returns the visits of a log, oldest first.
func visits(log string) []visit {
	_, log, whole := strings.Cut(log, "\n") // what precedes the first line feed has lost its beginning
	if !whole {
		return nil
	}
	var list []visit
	for line := range strings.SplitSeq(log, "\n") {
		parts := strings.Split(line, "\t")
		if len(parts) < 4 || parts[1] == "" {
			continue
		}
		v := visit{at: fromBase36(parts[0]), typ: nodeTypesByMark[parts[1][0]], fingerprint: parts[2], node: parts[3]}
		if len(parts) > 4 && parts[4] != "" {
			v.left, v.why.Code = true, whyCodesByMark[parts[4][0]]
			v.read(parts[5:])
		}
		list = append(list, v)
	}
	return list
}

// read reads the facts of a visit that has ended.
func (v *visit) read(facts []string) {
	for _, f := range facts {
		if f == "" {
			continue
		}
		switch value := f[1:]; f[0] {
		case 'l':
			v.label = value
		case 'r':
			v.why.Reason = value
		case 't':
			v.why.Until = new(fromBase36(value))
		case 'v':
			n, _ := strconv.ParseInt(value, 36, 32)
			v.why.Visit = int(n)
		case 'd':
			v.why.Delivery = id.Read[id.Delivery](value)
		}
	}
}
