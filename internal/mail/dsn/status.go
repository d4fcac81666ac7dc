package dsn

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/mail/phrase"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// maxRecipients is the number of recipients that are read from one report.
const maxRecipients = 100

// maxExplained is the number of recipients of one report for whom the text for people is read.
const maxExplained = 20

// statusRecipients reads the recipients of delivery-status parts (RFC 3464 section 2). text is the part
// for people, where a better reply may stand.
func (m *meter) statusRecipients(parts []string, text string) []Recipient {
	var list []Recipient
	for _, s := range parts {
		for _, h := range m.groups(s) {
			if len(list) >= maxRecipients {
				break
			}
			address := recipientOf(h)
			action := h.Word("action")
			status := enhanced.FindString(h.Get("status"))
			if address == "" && (action == "" && status == "" || h.Get("reporting-mta") != "") {
				continue
			}
			r := Recipient{
				Address: address, Action: action, Status: status,
				Diagnostic: diagnostic(h.Get("diagnostic-code")), RemoteMTA: afterType(h.Get("remote-mta")),
			}
			r.SMTPCode = codeIn(r.Diagnostic)
			list = append(list, r)
		}
	}
	if len(list) == 1 {
		list[0].decide(m, text, true)
		return list
	}
	all := m.mentions(text, list)
	for i := range list {
		about := ""
		if i < maxExplained {
			about = sectionAbout(text, all, list[i].Address) // the rest is about others
		}
		list[i].decide(m, about, false)
	}
	return list
}

// mention is an address at the beginning of a line of a text.
type mention struct {
	address string
	line    int // where the line begins
}

// mentions returns the mentions of recipients in the first 64 KB of a text, at most 500.
func (m *meter) mentions(text string, list []Recipient) (found []mention) {
	known := map[string]bool{}
	for _, r := range list {
		known[r.Address] = true
	}
	for _, at := range m.addresses(text[:min(len(text), maxText)], maxAddresses) {
		a := strings.ToLower(strings.TrimRight(text[at.from:at.to], "."))
		if line, first := beginsLine(text, at.from); first && known[a] {
			found = append(found, mention{a, line})
		}
	}
	return found
}

// sectionAbout returns the lines of a text from that which begins with an address to that which begins
// with another one; nothing if there is no such line.
func sectionAbout(text string, all []mention, address string) string {
	from := slices.IndexFunc(all, func(m mention) bool { return m.address == address })
	if from < 0 {
		return ""
	}
	for _, m := range all[from:] {
		if m.address != address {
			return text[all[from].line:m.line]
		}
	}
	return text[all[from].line:]
}

// recipientOf returns the address of a recipient, which some servers give only as the original one; if
// there is none, the file or command that the final one is.
func recipientOf(h header) string {
	first := ""
	for _, name := range []string{"final-recipient", "original-recipient", "x-actual-recipient", "x-original-recipient"} {
		a := bareAddress(h.Get(name))
		if local, domain, _ := strings.Cut(a, "@"); local != "" && strings.Contains(domain, ".") && !strings.Contains(domain, "@") {
			return a
		}
		first = firstNonEmpty(first, a)
	}
	return first
}

// Failure returns the recipient of a failed delivery that was reported in other ways than by mail. All
// arguments may be empty.
func Failure(code int, status, text string) Recipient {
	r := Recipient{Action: "failed", Status: enhanced.FindString(status), SMTPCode: code, Diagnostic: reply.Clean(text)}
	if r.SMTPCode < 400 || r.SMTPCode > 599 {
		r.SMTPCode = codeIn(r.Diagnostic)
	}
	r.decide(&meter{}, "", false)
	return r
}

// groups returns the groups of fields of a delivery-status part. A new recipient begins after an empty
// line or where a field repeats.
func (m *meter) groups(s string) []header {
	var list []header
	for rest := strings.TrimLeft(s, "\n \t"); rest != ""; rest = strings.TrimLeft(rest, "\n \t") {
		h, after := m.ReadHeader(rest)
		if len(after) >= len(rest) { // no field: skip the line
			_, after, _ = strings.Cut(rest, "\n")
		}
		for len(h) > 0 && len(h) < 100 && after != "" && !endsBlank(rest[:len(rest)-len(after)]) {
			// A value goes on without a space at the beginning of the line.
			line, below, _ := strings.Cut(after, "\n")
			m.Steps += len(line)
			if last := &h[len(h)-1].Value; len(*last)+len(line) < 4<<10 {
				*last += " " + strings.TrimSpace(line)
			}
			var more header
			if more, after = m.ReadHeader(below); len(after) == len(below) {
				more, rest, after = nil, below, below
				break
			}
			h, rest = append(h, more...), below
		}
		rest = after
		for len(h) > 0 {
			n := 1
			for n < len(h) && !(h[n].Name == "final-recipient" && h[:n].Get("final-recipient") != "") {
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

// endsBlank reports whether the last line of s is empty.
func endsBlank(s string) bool {
	s = strings.TrimSuffix(s, "\n")
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:]) == ""
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

// decide sets the verdict of a failure. text is for people: the whole of it, or what is about the
// recipient.
func (r *Recipient) decide(m *meter, text string, whole bool) {
	expired := false
	switch r.Action {
	case "delayed", "delivered", "relayed", "expanded":
		return
	case "delay", "deferred", "retry", "retrying":
		r.Action = "delayed"
		return
	case "failed":
	default: // whatever is not one of these words is a failure, unless the status says otherwise
		if strings.HasPrefix(r.Status, "2.") || isSuccess(r.Action) {
			return
		}
		expired = strings.HasPrefix(r.Action, "expire") || r.Action == "timeout"
		r.Action = "failed"
	}
	v := r.reported(m, r.Diagnostic, text)
	if v.Vague() && text != "" { // the part for people may say more
		section := text
		if whole {
			section = firstNonEmpty(sectionAbout(text, m.mentions(text, []Recipient{*r}), r.Address), text)
		}
		w, diag, code := r.decideText(m, section, text)
		if !w.Vague() && (w.Class != reply.Hard || isEmpty(v)) {
			v = w
			if r.Diagnostic == "" {
				r.Diagnostic, r.SMTPCode = reply.Clean(diag), code
			}
		}
	}
	if v.Vague() && expired {
		v = reply.Reported(reply.Outcome{Stage: reply.Rcpt, Code: r.SMTPCode, Text: "delivery time expired"})
	}
	r.Verdict = v
	if r.Status == "" || strings.HasSuffix(r.Status, ".0.0") { // the reply may have the exact one
		if code := enhanced.FindString(r.Diagnostic); code != "" && !strings.HasPrefix(code, "2.") && !strings.HasSuffix(code, ".0.0") {
			r.Status = code
		}
	}
}

// isSuccess reports whether a word that RFC 3464 does not know says that a message arrived.
func isSuccess(action string) bool {
	switch action {
	case "deliverable", "delivery", "success", "succeeded", "ok", "read", "displayed", "processed", "accepted", "forwarded", "redirected", "sent":
		return true
	}
	return false
}

// isEmpty reports whether a verdict says nothing. A text for people may say then that an address is
// invalid, but not against general words of refusal.
func isEmpty(v reply.Verdict) bool {
	switch v.Reason {
	case reply.Unknown, reply.Protocol, reply.RemoteSystem:
		return v.Vague()
	}
	return false
}

// decideText returns the verdict on the failure that a section of a text describes, with the reply that
// it is about, or the section if there is none. The last reply whose words are recognized decides, or the
// last permanent one. text is read if the section says nothing.
func (r *Recipient) decideText(m *meter, section, text string) (v reply.Verdict, diag string, code int) {
	other := *r
	for i, s := range m.replies(section) {
		other.SMTPCode = s.code
		w := other.reported(m, s.text, section)
		if i == 0 || v.Vague() && !w.Vague() || code < 500 && s.code >= 500 && !w.Vague() {
			v, diag, code = w, s.text, s.code // an attempt at another server may follow the refusal
		}
	}
	if diag == "" {
		other.SMTPCode, diag = r.SMTPCode, m.collapse(section)
		v, code = other.reported(m, diag, section), r.SMTPCode
		if section == text {
			return v, diag, code
		}
		for _, s := range m.replies(text) { // before the address
			other.SMTPCode = s.code
			if w := other.reported(m, s.text, text); v.Vague() && !w.Vague() {
				v, diag, code = w, s.text, s.code
			}
		}
	}
	for _, t := range [2]string{section, text} {
		if !v.Vague() {
			break
		}
		other.SMTPCode = code
		if w := other.reported(m, m.collapse(t), t); !w.Vague() && (w.Class != reply.Hard || isEmpty(v)) {
			v = w
		}
	}
	return v, diag, code
}

// reported returns what a diagnostic means; text may say at which stage the server wrote it.
func (r *Recipient) reported(m *meter, diag, text string) reply.Verdict {
	text = text[:min(len(text), maxSection)]
	o := reply.Outcome{Stage: reply.Rcpt, Code: r.SMTPCode}
	if m.classify(len(diag) + len(text)) {
		o.Stage, o.Text = stageOf(diag, text), diag
	}
	code := enhanced.FindString(diag)
	switch {
	case code != "" && !strings.HasSuffix(code, ".0.0"):
		o.Enhanced = code
	case !strings.HasSuffix(r.Status, ".0.0"):
		o.Enhanced = r.Status
	}
	if o.Code == 0 && o.Enhanced == "" && strings.HasPrefix(r.Status, "4.") {
		o.Enhanced = r.Status
	}
	if o.Code != 0 && o.Enhanced != "" && o.Code/100 != int(o.Enhanced[0]-'0') {
		if code != "" { // the text of the reply is more exact than its number
			o.Code = int(o.Enhanced[0]-'0')*100 + 50
		} else {
			o.Enhanced = ""
		}
	}
	return reply.Reported(o)
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
	for _, s := range [2]string{diag, text} {
		found := stageWords().Find(strings.ToLower(s))
		for i, stage := range stages {
			if found.Has(i) {
				return stage
			}
		}
	}
	return reply.Rcpt
}

// said is a reply in a text.
type said struct {
	text string
	code int
}

// serverSaid matches what a server answered in a transcript of Sendmail.
var serverSaid = regexp.MustCompile(`<<< ?[245]\d\d`)

// maxReplies is the number of replies of one section that are classified.
const maxReplies = 8

// replies returns the replies in a text, the last one first. A reply ends before the next one, and at
// an empty line.
func (m *meter) replies(text string) (list []said) {
	paragraphs := strings.Split(text[:min(len(text), maxSection)], "\n\n")
	for _, paragraph := range slices.Backward(paragraphs) {
		if len(list) >= maxReplies {
			break
		}
		paragraph = m.collapse(paragraph)
		all := replyLine.FindAllStringSubmatchIndex(paragraph+" ", 50)
		transcript := serverSaid.MatchString(paragraph)
		end := len(paragraph)
		for i := len(all) - 1; i >= 0 && len(list) < maxReplies; i-- {
			at := all[i][2]
			// The lines of one reply repeat its code, with a hyphen in all but the last.
			if i > 0 && paragraph[all[i-1][2]:all[i-1][3]] == paragraph[at:all[i][3]] && paragraph[all[i-1][3]] == '-' {
				continue
			}
			if i > 0 && isQuoted(paragraph[all[i-1][2]:at]) {
				continue
			}
			if transcript && !strings.HasSuffix(strings.TrimRight(paragraph[:at], " "), "<<<") {
				end = at
				continue // the client's own words about the reply before it
			}
			code, _ := strconv.Atoi(paragraph[at:all[i][3]])
			list = append(list, said{strings.TrimSpace(paragraph[at:min(end, at+2*reply.MaxText)]), code})
			end = at
		}
	}
	if slices.ContainsFunc(list, func(s said) bool { return s.code != 503 }) {
		// A client that sends commands at once gets 503 after each that was refused.
		list = slices.DeleteFunc(list, func(s said) bool { return s.code == 503 })
	}
	return list
}

// isQuoted reports whether a reply that begins with a text quotes the one after it: that of the server
// at which an address was verified.
func isQuoted(text string) bool {
	return strings.HasSuffix(text, "said: ") && strings.Contains(text, "ddress rejected: un")
}

// maxSection is the number of bytes of what a text says about a recipient that are read.
const maxSection = 16 << 10

// collapse joins the lines of a text, at most maxSection bytes of it, without subjects of mails, whose words say
// nothing about the failure.
func (m *meter) collapse(text string) string {
	text = text[:min(len(text), maxSection)]
	m.Steps += len(text)
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		if colon := strings.IndexByte(line, ':'); colon > 0 && colon < 24 && subjectNames[strings.ToLower(strings.TrimSpace(line[:colon]))] {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
	}
	return b.String()
}

// subjectNames are names of the field Subject as mail programs translate it.
var subjectNames = map[string]bool{
	"subject": true, "betreff": true, "objet": true, "asunto": true, "oggetto": true, "assunto": true, "onderwerp": true, "temat": true, "ämne": true,
	"emne": true, "aihe": true, "předmět": true, "tárgy": true, "konu": true, "тема": true, "主题": true, "主旨": true, "件名": true, "제목": true,
}
