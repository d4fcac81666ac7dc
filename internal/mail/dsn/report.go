package dsn

import (
	"regexp"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/mimepart"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// Kind is what a mail is.
type Kind string

// The kinds.
const (
	DSN         Kind = "dsn"         // a report by RFC 3464
	Bounce      Kind = "bounce"      // a report in another format
	ARF         Kind = "arf"         // an abuse report, RFC 5965
	AutoReply   Kind = "auto_reply"  // an absence notice and the like
	Unsubscribe Kind = "unsubscribe" // a request to unsubscribe
	Challenge   Kind = "challenge"   // a request to prove that the sender is a person
	None        Kind = "none"        // anything else
)

// Report is the content of a mail.
type Report struct {
	Kind       Kind
	Recipients []Recipient // of a DSN or a bounce
	Feedback   Feedback    // of an ARF
	Original   Original
	// AddressChange means that an automatic reply says that the address is not in use any more.
	AddressChange bool
}

// Delayed reports whether a report says that delivery is still tried, and that it has failed for no recipient.
func (r Report) Delayed() bool {
	late := false
	for _, p := range r.Recipients {
		if p.Failed() {
			return false
		}
		late = late || p.Action == "delayed"
	}
	return late
}

// Delivered reports whether a report says that mail was delivered, relayed or distributed, and nothing about a
// failure or a delay.
func (r Report) Delivered() bool {
	done := false
	for _, p := range r.Recipients {
		switch {
		case p.Failed() || p.Action == "delayed":
			return false
		case p.Action == "delivered" || p.Action == "relayed" || p.Action == "expanded":
			done = true
		}
	}
	return done
}

// Recipient is what a report says about one recipient.
type Recipient struct {
	Address    string
	Action     string // failed, delayed, delivered, relayed or expanded
	Status     string // RFC 3463 code
	SMTPCode   int    // 0: none
	Diagnostic string
	RemoteMTA  string
	Verdict    reply.Verdict // zero unless the delivery failed
}

// Failed reports whether the delivery failed for good.
func (r Recipient) Failed() bool { return r.Verdict.Class != "" }

// Feedback are fields of an abuse report.
type Feedback struct {
	Type, SourceIP, UserAgent, OriginalRcpt, ReportedDomain string
}

// Complaint reports whether a recipient complained.
func (f Feedback) Complaint() bool {
	switch f.Type {
	case "abuse", "fraud", "other", "":
		return true
	}
	return false // not-spam, auth-failure (RFC 6591), virus
}

// OptOut reports whether a recipient wants no more mail, without a complaint.
func (f Feedback) OptOut() bool {
	return f.Type == "opt-out" || f.Type == "opt-out-list" || f.Type == "unsubscribe"
}

// Original identifies the mail that a report is about.
type Original struct {
	MessageID string // with angle brackets
	To        string
	Ref       string // X-Entity-Ref-ID
}

// found are the parts of a mail that matter.
type found struct {
	*meter
	top header
	// topParams are the parameters of the media type.
	topParams map[string]string
	status    []string // delivery-status parts
	feedback  string
	original  header
	text      strings.Builder
	hasText   bool
	machine   bool // a report for programs about many mails: DMARC, TLS-RPT
	nested    *part
	// returnedTo is the address in the field To of the mail that is returned.
	returnedTo string
}

// maxText is the number of bytes of all texts of a mail that are read. Servers explain failures at the
// beginning.
const maxText = 64 << 10

// Parse reads a mail.
func Parse(raw []byte) Report {
	r, _ := parse(raw)
	return r
}

// parse reads a mail and returns the work that it took.
func parse(raw []byte) (Report, meter) {
	var m meter
	s := normalize(raw)
	m.Steps = len(s)
	return m.parseMail(s, 0), m
}

func (m *meter) parseMail(s string, nesting int) Report {
	top := m.Meter.Parse(s, mimepart.Limits{Depth: MaxDepth, Parts: MaxParts})
	f := &found{top: top.Header, topParams: top.Params, meter: m}
	f.walk(top)
	text := f.text.String()
	subject := strings.ToLower(f.top.Text("subject"))
	body, inline := f.cutOriginal(text, forwardSubject.MatchString(subject))
	r := Report{Kind: None}
	r.Original = originalOf(f.original)
	if r.Original == (Original{}) {
		r.Original = inlineOriginal(inline)
	}
	f.returnedTo = r.Original.To
	if r.Original.MessageID == "" {
		r.Original.MessageID = firstID(f.top.Get("in-reply-to"))
	}
	switch {
	case f.feedback != "":
		r.Kind, r.Feedback = ARF, m.feedbackOf(f.feedback)
		return r
	case f.machine || strings.Contains(subject, "folder internal data"): // of a mailbox file
		return r
	}
	if n, ok := notificationOf(text); ok {
		return n
	}
	if fb, ok := f.bareComplaint(subject); ok {
		r.Kind, r.Feedback, r.Original = ARF, fb, originalOf(f.original)
		return r
	}
	if list := m.statusRecipients(f.status, body); len(list) > 0 {
		if a := bareAddress(f.top.Get("x-failed-recipients")); len(list) == 1 && !strings.Contains(list[0].Address, "@") && a != "" {
			list[0].Address = a
		}
		r.Kind, r.Recipients = DSN, list
		if asksSender(list[0].Verdict.Reason) && challengeText.MatchString(strings.ToLower(m.collapse(body[:min(len(body), 4<<10)]))) {
			r.Kind, r.Recipients = Challenge, nil
		}
		return r
	}
	bounced, absent, challenged := kindOfSubject(subject)
	absent = absent && !strings.Contains(subject, "undeliver") && !strings.Contains(subject, "failure notice")
	lower := strings.ToLower(m.collapse(body[:min(len(body), 4<<10)]))
	switch bouncing := f.looksLikeBounce(bounced); {
	case isRequestToUnsubscribe(f.top, subject):
		r.Kind = Unsubscribe
		return r
	case absent && f.top.Get("x-failed-recipients") == "":
		r.Kind, r.AddressChange = AutoReply, addressChange.MatchString(lower)
		return r
	case challenged || !bouncing && challengeText.MatchString(lower):
		r.Kind = Challenge
		return r
	case bouncing && (bounced || f.isReport() || hasFailureWords(body)):
		if list := f.textRecipients(body); len(list) > 0 {
			r.Kind, r.Recipients = Bounce, list
			return r
		}
	}
	if f.nested != nil && nesting < 2 { // a forwarded report
		inner := m.parseMail(f.nested.Decoded(&m.Meter), nesting+1)
		if inner.Kind == DSN || inner.Kind == Bounce || inner.Kind == ARF {
			return inner
		}
	}
	switch {
	case bounced && (bounceSender.MatchString(f.top.Text("from")) || f.topParams["report-type"] == "delivery-status"):
		r.Kind = Bounce // about nobody that it names
	case f.isAutomatic() || len(body) < 4<<10 && awayText.MatchString(lower):
		r.Kind, r.AddressChange = AutoReply, addressChange.MatchString(lower)
	}
	return r
}

// forwardSubject matches the subjects of mail that a person forwards.
var forwardSubject = regexp.MustCompile(`^(fwd?|wg|tr|rv|i|enc|vs|pd) ?:`)

// asksSender reports whether a refusal may be a request to the sender rather than a failure.
func asksSender(reason reply.Reason) bool {
	return reason == reply.SenderRejected || reason == reply.RefusedByPolicy || reason == reply.Unknown
}

// walk collects the parts.
func (f *found) walk(n *part) {
	switch n.Kind {
	case "message/delivery-status", "message/global-delivery-status", "message/deliverystatus":
		s := n.Decoded(&f.Meter)
		if !statusField.MatchString(s) { // a text with the wrong type
			f.addText(unquoted(s))
			break
		}
		f.status = append(f.status, s)
	case "message/feedback-report":
		f.feedback = n.Decoded(&f.Meter)
	case "message/rfc822", "message/global", "message/partial", "application/x-pkcs7-mime-message":
		if f.original == nil {
			body := strings.TrimLeft(n.Decoded(&f.Meter), "\n")
			f.original, _ = f.ReadHeader(body)
			f.nested = n
		}
	case "text/rfc822-headers", "message/rfc822-headers", "message/global-headers", "text/rfc822":
		if f.original == nil {
			f.original, _ = f.ReadHeader(strings.TrimLeft(n.Decoded(&f.Meter), "\n"))
		}
	case "application/gzip", "application/x-gzip", "application/zip", "application/x-zip-compressed", "application/tlsrpt+gzip", "application/tlsrpt+json":
		f.machine = f.machine || isAggregate(f.top)
	case "text/plain", "text/html":
		if f.original != nil { // after the original come footers
			return
		}
		if f.hasText && n.Header.Get("received") != "" { // the original without a type
			f.original = n.Header
			return
		}
		if n.Kind == "text/html" && f.hasText {
			return // the same in HTML
		}
		s := plain(n, f.meter)
		s = s[:min(len(s), max(maxText-f.text.Len(), 0))]
		if f.hasText && isHeader(n, s, f.meter) {
			f.original, _ = f.ReadHeader(strings.TrimLeft(s, "\n"))
			return
		}
		s = unquoted(s)
		if len(f.status) == 0 {
			if at := statusFields.FindStringIndex(s); at != nil { // with the wrong type
				f.status = append(f.status, s[at[0]:])
				s = s[:at[0]]
			}
		}
		f.addText(s)
	}
	for _, c := range n.Children {
		f.walk(c)
	}
}

// addText adds a text for people.
func (f *found) addText(s string) {
	s = s[:min(len(s), max(maxText-f.text.Len(), 0))]
	f.hasText = f.hasText || strings.TrimSpace(s) != ""
	f.text.WriteString(s)
	f.text.WriteString("\n\n")
}

// statusField matches a field of a delivery status.
var statusField = regexp.MustCompile(`(?im)^(reporting-mta|final-recipient|original-recipient|action|status|diagnostic-code) *:`)

// statusFields matches the first field of a delivery status in a text.
var statusFields = regexp.MustCompile(`(?im)^(reporting-mta|final-recipient|original-recipient): *(dns|rfc822|utf-?8|x-[a-z]+) *;(?s:.*)^action: *[a-z]`)

// isHeader reports whether a part is an attached file with the header of a mail.
func isHeader(n *part, s string, m *meter) bool {
	if !strings.HasPrefix(n.Header.Word("content-disposition"), "attachment") && n.Params["name"] == "" {
		return false
	}
	h, _ := m.ReadHeader(strings.TrimLeft(s, "\n"))
	return h.Get("from") != "" && (h.Get("message-id") != "" || h.Get("received") != "" || h.Get("date") != "")
}

// unquoted returns a text without the marks at the beginning of lines if it is mostly a quotation, as in
// a forwarded report.
func unquoted(s string) string {
	if quoted := strings.Count(s, "\n>"); quoted < 5 || 2*quoted < strings.Count(s, "\n") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(line, ">"); ok {
			line = strings.TrimPrefix(rest, " ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// isAggregate reports whether a mail is a DMARC or TLS report (RFC 9990, RFC 8460).
func isAggregate(h header) bool {
	subject := strings.ToLower(h.Text("subject"))
	return strings.Contains(subject, "report domain") || strings.Contains(subject, "report-id") || h.Get("tls-report-domain") != "" ||
		strings.Contains(subject, "dmarc") || strings.Contains(subject, "aggregate report")
}

func (m *meter) feedbackOf(s string) Feedback {
	h, _ := m.ReadHeader(strings.TrimLeft(s, "\n"))
	return Feedback{
		Type: h.Word("feedback-type"), SourceIP: h.Word("source-ip"), UserAgent: h.Get("user-agent"),
		OriginalRcpt: bareAddress(firstNonEmpty(h.Get("original-rcpt-to"), h.Get("removal-recipient"))), ReportedDomain: h.Word("reported-domain"),
	}
}

func originalOf(h header) Original {
	return Original{MessageID: firstID(h.Get("message-id")), To: bareAddress(h.Get("to")), Ref: h.Get("x-entity-ref-id")}
}

// firstID returns the first Message-ID of a field.
func firstID(s string) string {
	open := strings.IndexByte(s, '<')
	if open < 0 {
		return ""
	}
	end := strings.IndexByte(s[open:], '>')
	if end < 0 || end > 500 {
		return ""
	}
	return s[open : open+end+1]
}

// bareAddress returns the address in a field, without a type, a name or brackets.
func bareAddress(s string) string {
	if kind, rest, ok := strings.Cut(s, ";"); ok && !strings.ContainsAny(kind, "@<") {
		s = rest
	}
	if open := strings.LastIndexByte(s, '<'); open >= 0 {
		s, _, _ = strings.Cut(s[open+1:], ">")
	}
	if strings.Contains(s, "=?") && len(s) < mimepart.MaxWords { // not allowed there (RFC 2047 section 5), but found
		if decoded := mimepart.DecodeWords(strings.TrimSpace(s)); !strings.Contains(decoded, "=?") {
			return bareAddress(decoded)
		}
	}
	s = strings.Trim(strings.TrimSpace(s), `<>"'`)
	if strings.HasPrefix(s, "@") { // a source route (RFC 5321 appendix C)
		s = s[strings.LastIndexByte(s, ':')+1:]
	}
	if len(s) > 320 || strings.ContainsAny(s, " \t\n") {
		return ""
	}
	return strings.ToLower(s)
}

func firstNonEmpty(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// Addresses returns the addresses that a mail was delivered to, as far as its header says so.
func Addresses(raw []byte) []string {
	var m meter
	h, _ := m.ReadHeader(normalize(raw))
	var list []string
	for _, f := range h {
		switch f.Name {
		case "delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "x-delivered-to", "x-rcpt-to", "to":
			for _, a := range m.addresses(f.Value, 20) {
				if len(list) < MaxParts {
					list = append(list, strings.ToLower(f.Value[a.from:a.to]))
				}
			}
		}
	}
	return list
}
