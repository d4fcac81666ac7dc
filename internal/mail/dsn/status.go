package dsn

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/mail/phrase"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// maxRecipients is the number of recipients that are read from one report.
const maxRecipients = 100

// statusRecipients reads the recipients of delivery-status parts (RFC 3464 section 2). text is the part
// for people, where a better reply may stand.
func statusRecipients(parts []string, text string) []Recipient {
	var list []Recipient
	for _, s := range parts {
		for _, h := range groups(s) {
			if len(list) >= maxRecipients {
				break
			}
			address := bareAddress(firstNonEmpty(h.get("final-recipient"), h.get("original-recipient"), h.get("x-actual-recipient")))
			action := h.word("action")
			status := enhanced.FindString(h.get("status"))
			if address == "" && action == "" && status == "" {
				continue
			}
			r := Recipient{
				Address: address, Action: action, Status: status,
				Diagnostic: diagnostic(h.get("diagnostic-code")), RemoteMTA: afterType(h.get("remote-mta")),
			}
			r.SMTPCode = codeIn(r.Diagnostic)
			r.decide(text)
			list = append(list, r)
		}
	}
	return list
}

// Failure returns the recipient of a failed delivery that was reported in other ways than by mail. All
// arguments may be empty.
func Failure(code int, status, text string) Recipient {
	r := Recipient{Action: "failed", Status: enhanced.FindString(status), SMTPCode: code, Diagnostic: reply.Clean(text)}
	if r.SMTPCode < 400 || r.SMTPCode > 599 {
		r.SMTPCode = codeIn(r.Diagnostic)
	}
	r.decide("")
	return r
}

// groups returns the groups of fields of a delivery-status part. A new recipient begins after an empty
// line or where a field repeats.
func groups(s string) []header {
	var list []header
	for rest := strings.TrimLeft(s, "\n \t"); rest != ""; rest = strings.TrimLeft(rest, "\n \t") {
		h, after := readHeader(rest)
		if len(after) >= len(rest) { // no field: skip the line
			_, after, _ = strings.Cut(rest, "\n")
		}
		rest = after
		for len(h) > 0 {
			n := 1
			for n < len(h) && !(h[n].name == "final-recipient" && h[:n].get("final-recipient") != "") {
				n++
			}
			list = append(list, h[:n])
			h = h[n:]
		}
		if len(list) > maxRecipients {
			break
		}
	}
	return list
}

// enhanced matches an enhanced status code (RFC 3463).
var enhanced = regexp.MustCompile(`\b[245]\.\d{1,3}\.\d{1,3}\b`)

// replyLine matches the beginning of a reply in a text. The groups are code and enhanced code.
var replyLine = regexp.MustCompile(`(?:^|[\s<'"(\[:;=])#?([45]\d\d)(?:[ -]+#?([45]\.\d{1,3}\.\d{1,3}))?[ \-:]`)

// codeIn returns the code of the reply that s begins with or contains; 0 if there is none.
func codeIn(s string) int {
	m := replyLine.FindStringSubmatch(s + " ")
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// diagnostic returns the text of a Diagnostic-Code, without its type.
func diagnostic(s string) string { return reply.Clean(afterType(s)) }

func afterType(s string) string {
	if kind, rest, ok := strings.Cut(s, ";"); ok && len(kind) < 40 && !strings.ContainsAny(strings.TrimSpace(kind), " \t:") {
		return strings.TrimSpace(rest)
	}
	return strings.TrimSpace(s)
}

// decide sets the verdict of a failure.
func (r *Recipient) decide(text string) {
	switch r.Action {
	case "delayed", "delivered", "relayed", "expanded":
		return
	case "failed":
	default:
		if strings.HasPrefix(r.Status, "2.") || r.Action != "" && r.Action != "failure" && r.Action != "fail" && r.Status == "" {
			return
		}
		r.Action = "failed"
	}
	v := reply.Reported(r.outcome(r.Diagnostic, text))
	if isVague(v.Reason) && text != "" { // the part for people may say more
		diag, code := lastReply(text)
		if diag == "" {
			diag, code = collapse(text), r.SMTPCode
		}
		other := *r
		other.SMTPCode = code
		if w := reply.Reported(other.outcome(diag, text)); !isVague(w.Reason) {
			v = w
			if r.Diagnostic == "" {
				r.Diagnostic, r.SMTPCode = reply.Clean(diag), code
			}
		}
	}
	r.Verdict = v
}

// isVague reports whether a reason says little, so that other texts of the report are worth reading.
func isVague(reason reply.Reason) bool {
	return reason == reply.Unknown || reason == reply.Protocol
}

// outcome returns what the remote server answered, as package reply classifies it.
func (r *Recipient) outcome(diag, text string) reply.Outcome {
	o := reply.Outcome{Stage: stageOf(diag, text), Code: r.SMTPCode, Text: diag}
	code := enhanced.FindString(diag)
	switch {
	case code != "" && !strings.HasSuffix(code, ".0.0"):
		o.Enhanced = code
	case !strings.HasSuffix(r.Status, ".0.0"):
		o.Enhanced = r.Status
	}
	if o.Code == 0 && o.Enhanced == "" && strings.HasPrefix(r.Status, "4.") {
		o.Code = 450
	}
	if o.Code != 0 && o.Enhanced != "" && o.Code/100 != int(o.Enhanced[0]-'0') {
		if code != "" { // the text of the reply is more exact than its number
			o.Code = int(o.Enhanced[0]-'0')*100 + 50
		} else {
			o.Enhanced = ""
		}
	}
	return o
}

// stages are the stages that servers name, in the order in which they are searched for, and
// stageWords the expressions for each, in lower case.
var (
	stages     = [...]reply.Stage{reply.Dot, reply.Rcpt, reply.Mail, reply.Data, reply.Connect}
	stageWords = sync.OnceValue(func() *phrase.Set {
		return phrase.Compile([][]string{
			{`in reply to end of data`, `after end of data`, `after (the )?(message )?data`, `failed after i sent the message`, `<<<? ?end of data`},
			{`in reply to rcpt`, `after (pipelined )?rcpt`, `>>> ?rcpt`, `does not like recipient`},
			{`in reply to mail from`, `after (pipelined )?mail from`, `>>> ?mail`, `connected to .{1,200} but sender was rejected`},
			{`in reply to data`, `after data`, `>>> ?data`},
			{`in reply to (ehlo|helo)`, `after (ehlo|helo|initial connection)`, `while performing the (ehlo|helo)`, `initial server greeting`, `refused to talk to me`, `connected to .{1,200} but greeting failed`},
		})
	})
)

// stageOf returns the stage of a refusal, from the diagnostic or else the text; RCPT if neither says.
func stageOf(diag, text string) reply.Stage {
	for _, s := range [2]string{diag, text[:min(len(text), 16<<10)]} {
		found := stageWords().Find(strings.ToLower(s))
		for i, stage := range stages {
			if found.Has(i) {
				return stage
			}
		}
	}
	return reply.Rcpt
}

// lastReply returns the last reply in a text, to its end, and the reply's code.
func lastReply(text string) (string, int) {
	text = collapse(text)
	all := replyLine.FindAllStringSubmatchIndex(text, 50)
	if len(all) == 0 {
		return "", 0
	}
	m := all[len(all)-1]
	// A reply of several lines repeats its code.
	for i := len(all) - 2; i >= 0 && text[all[i][2]:all[i][3]] == text[m[2]:m[3]] && m[2]-all[i][2] < 200; i-- {
		m = all[i]
	}
	code, _ := strconv.Atoi(text[m[2]:m[3]])
	return text[m[2]:min(len(text), m[2]+2*reply.MaxText)], code
}

// collapse joins the lines of a text, at most 16 KB of it.
func collapse(text string) string {
	return strings.Join(strings.Fields(text[:min(len(text), 16<<10)]), " ")
}
