package dsn

import (
	"regexp"
	"slices"
	"strings"

	"github.com/packetboat/packetboat/internal/mail/reply"
)

// originalMark matches the beginning of a line after which servers put the mail that could not be
// delivered, without marks of quotation.
var originalMark = regexp.MustCompile(`(?i)^(-{2,} ?below this line is a copy of the message|-{3,} ?this is a copy of (the|your) message.*|-{3,} ?(start of )?(original|returned|unsent) message.*|-{3,} ?(the )?header of the original message.*|-{3,} ?message text follows.*|original message headers?:?|-{3,} ?message header(s)? follow.*|your (original )?message (is|was|reads|follows)[^\n]{0,40}:|received: (from|by) .*|return-path: <.*|-{3,} ?forwarded message.*|-{3,} ?ursprüngliche nachricht.*|(a )?(summary|copy) of the (undelivered |original )?(message|mail) (you sent )?follows.*|-{3,} ?(mensaje original|message d.origine|messaggio originale|mensagem original|原始邮件|原始郵件|исходное сообщение|oryginalna wiadomość|oorspronkelijk bericht).*|original message follows\.?|message headers follow\.?|-{2,} ?(the )?body of the (original )?message.*|-{2,} ?undelivered message (header|follows).*|---- start of truncated message ----|message-id: ?<.*)`)

// forwardMark matches the line before a mail that a person forwards. It may be a report.
var forwardMark = regexp.MustCompile(`(?i)^-{3,} ?(forwarded message|original message ?-|ursprüngliche nachricht)`)

// maxMark is the number of bytes of a line in which a mark is searched for.
const maxMark = 200

// cutOriginal splits a text before the mail that it returns. The mail that a person forwarded is not
// one.
func (m *meter) cutOriginal(text string, forwarded bool) (before, original string) {
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n') + at + 1
		if end <= at {
			end = len(text)
		}
		m.Steps += end - at
		line := strings.TrimLeft(text[at:end], " >|")
		line = line[:min(len(line), maxMark)]
		// Only lines with these first letters match: most need no more than a look at one byte.
		if line != "" && strings.IndexByte("-yromabYROMAB", line[0]) >= 0 && originalMark.MatchString(line) && !(forwarded && forwardMark.MatchString(line)) {
			return text[:at], text[at:]
		}
		at = end
	}
	return text, text
}

var (
	inlineID  = regexp.MustCompile(`(?im)^[ >\t]*message-id:\s*(<[^<>\s]{3,500}>)`)
	inlineTo  = regexp.MustCompile(`(?im)^[ >\t]*to:\s*([^\n]{3,320})$`)
	inlineRef = regexp.MustCompile(`(?im)^[ >\t]*x-entity-ref-id:\s*(\S{1,100})`)
)

// inlineOriginal reads the header of a mail that is quoted in a text.
func inlineOriginal(text string) Original {
	first := func(re *regexp.Regexp) string {
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return ""
	}
	return Original{MessageID: first(inlineID), To: bareAddress(first(inlineTo)), Ref: first(inlineRef)}
}

// isRequestToUnsubscribe reports whether a mail was sent to the mailto address of List-Unsubscribe, or
// has the subject that mail programs write.
func isRequestToUnsubscribe(h header, subject string) bool {
	if strings.HasPrefix(bareAddress(h.Get("to")), "u.") && len(bareAddress(h.Get("to"))) > 40 {
		return true
	}
	return subject == "unsubscribe" || strings.HasPrefix(subject, "unsubscribe ") || subject == "remove"
}

// looksLikeBounce reports whether a mail was sent by a mail system because of another mail.
func (f *found) looksLikeBounce(subject bool) bool {
	from := strings.TrimSpace(f.top.Get("from"))
	return subject || f.isReport() || strings.HasSuffix(from, "<>") || bounceSender.MatchString(f.top.Text("from"))
}

// isReport reports whether the form of a mail, apart from its sender and subject, is that of a report.
func (f *found) isReport() bool {
	return f.top.Get("x-failed-recipients") != "" || f.topParams["report-type"] == "delivery-status" ||
		strings.TrimSpace(f.top.Get("return-path")) == "<>" && f.original != nil
}

// isAutomatic reports whether the header is that of an automatic mail (RFC 3834 section 5, and fields
// that were used before it).
func (f *found) isAutomatic() bool {
	h := f.top
	if v := h.Word("auto-submitted"); v != "" && v != "no" {
		return true
	}
	for _, name := range []string{"x-autoreply", "x-autorespond", "x-autoresponder", "x-auto-response-suppress", "x-autoreply-from", "x-mail-autoreply"} {
		if h.Get(name) != "" {
			return true
		}
	}
	switch h.Word("precedence") {
	case "auto_reply", "auto-reply", "bulk", "junk":
		return true
	}
	return strings.TrimSpace(h.Get("return-path")) == "<>"
}

// delayed matches notices that the server still tries.
var delayed = regexp.MustCompile(`(?i)(this is a warning( message)? only|will (be retried|retry|keep trying|continue (to try|trying))|still (being )?(tried|trying)|no action is required|you do ?n.t need to (re-?send|do anything)|delivery attempts will continue|has not yet been delivered|has been delayed|delivery (is |has been )?delayed)`)

// textRecipients reads the recipients and the reasons from the text of a bounce.
func (f *found) textRecipients(text string) []Recipient {
	text = text[:min(len(text), 64<<10)]
	failed := f.failedRecipients()
	if list := f.transcript(text); len(list) > 0 && len(failed) == 0 {
		return list
	}
	places, mentions := f.placesOf(text, failed)
	if len(failed) == 0 && len(places) > 1 {
		places = listed(text, places)
	}
	if len(places) == 0 {
		if !hasFailureWords(text) { // it is no bounce
			return nil
		}
		places = []place{{address: f.returnedTo}}
	}
	places = places[:min(len(places), maxRecipients)]
	action := "failed"
	if f.triesOn(text) {
		action = "delayed"
	}
	var list []Recipient
	for _, p := range places {
		section, whole := text, text
		if p.to > 0 && (len(places) > 1 || p.first) {
			section = p.section(text, places, mentions)
		}
		if len(places) > 1 {
			whole = section // the rest is about others
		}
		r := Recipient{Address: p.address, Action: action}
		r.readText(f.meter, section, whole)
		list = append(list, r)
	}
	return list
}

// triesOn reports whether the server says that it still tries to deliver the message.
func (f *found) triesOn(text string) bool {
	subject := strings.ToLower(f.top.Text("subject"))
	return delayed.MatchString(text[:min(len(text), 8<<10)]) && !strings.Contains(strings.ToLower(text), "giving up") ||
		strings.Contains(subject, "delayed") || strings.HasPrefix(subject, "warning: could not send") || strings.HasPrefix(subject, "warning: message")
}

// failedRecipients returns the addresses of the header X-Failed-Recipients, by which Exim and some
// others name all recipients that a bounce is about.
func (f *found) failedRecipients() []string {
	var failed []string
	for a := range strings.SplitSeq(f.top.Get("x-failed-recipients"), ",") {
		if a = bareAddress(a); a != "" && len(failed) < maxRecipients {
			failed = append(failed, a)
		}
	}
	return failed
}

// place is where the text of a bounce has an address.
type place struct {
	address  string
	from, to int  // of the line, if the address is at its beginning, and the end of the address
	first    bool // it is at the beginning of its line
}

func isAbout(places []place, address string) bool {
	return slices.ContainsFunc(places, func(p place) bool { return p.address == address })
}

// placesOf returns the first place of each address that may be a recipient's, and all places at the
// beginning of a line. If the header names the failed recipients, all others are left out.
func (f *found) placesOf(text string, failed []string) (places, mentions []place) {
	ignored := []string{bareAddress(f.top.Get("from")), bareAddress(f.top.Get("to")), bareAddress(f.top.Get("sender"))}
	var own []place // addresses of the report's header, which it may be about all the same
	for _, m := range f.addresses(text, maxAddresses) {
		a := strings.ToLower(strings.TrimLeft(strings.TrimRight(text[m.from:m.to], "."), "'"))
		from, first := beginsLine(text, m.from)
		// Texts name addresses to write to, such as postmaster. One in angle brackets at the beginning of
		// a line is the recipient all the same.
		bracketed := first && m.from > 0 && text[m.from-1] == '<'
		if to := bareAddress(f.top.Get("to")); a == to && a != ignored[0] && a != f.returnedTo && len(failed) == 0 && (first || toRecipient.MatchString(text[max(m.from-20, 0):m.from])) {
			own = append(own, place{a, from, m.to, first})
		}
		if slices.Contains(ignored, a) && a != f.returnedTo || isSystemAddress(a) && a != f.returnedTo && !bracketed {
			continue
		}
		if len(failed) > 0 && !slices.Contains(failed, a) {
			continue
		}
		if first && len(mentions) > 0 && indentation(text, from) > indentation(text, mentions[0].from) {
			first = false // it continues what is said about another one
		}
		if first {
			mentions = append(mentions, place{a, from, m.to, true})
		} else {
			from = m.to
		}
		if i := slices.IndexFunc(places, func(p place) bool { return p.address == a }); i < 0 {
			places = append(places, place{a, from, m.to, first})
		} else if first && !places[i].first { // where a list has it, rather than a command before
			places[i] = place{a, from, m.to, true}
		}
	}
	if len(places) == 0 && len(own) > 0 {
		return own[:1], nil
	}
	for _, a := range failed {
		if !isAbout(places, a) {
			places = append(places, place{address: a})
		}
	}
	return places, mentions
}

// listed returns those of several places that are of recipients: those at the beginning of a line, which
// form a list. If there are none, all are in sentences, and it is the one that a sentence calls the
// recipient, or else the first.
func listed(text string, places []place) []place {
	list := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !p.first })
	if len(list) > 0 {
		return list
	}
	i := max(slices.IndexFunc(places, func(p place) bool {
		return toRecipient.MatchString(text[max(p.to-len(p.address)-20, 0) : p.to-len(p.address)])
	}), 0)
	return places[i : i+1]
}

// section returns the part of a text that is about the address: up to where another recipient follows,
// or the list is repeated.
func (p place) section(text string, places, mentions []place) string {
	begin := p.to
	if p.first && p.from < p.to && text[p.from] >= '4' && text[p.from] <= '5' {
		begin = p.from // the code is before the address
	}
	for _, next := range mentions {
		if next.from >= p.to && next.address != p.address && isAbout(places, next.address) {
			return text[begin:next.from]
		}
	}
	return text[begin:]
}

// indentation returns the number of spaces at the beginning of the line at a position of a text.
func indentation(text string, line int) (n int) {
	for line+n < len(text) && (text[line+n] == ' ' || text[line+n] == '\t') {
		n++
	}
	return n
}

// toRecipient matches the words before the address of a recipient in a sentence.
var toRecipient = regexp.MustCompile(`(?i)(rcpt to|recipients?|\bto|\bfor|user|account|mailbox|deliver(ed)?)\W{0,4}$`)

// beginsLine reports whether what stands at a position of a text is at the beginning of its line, apart
// from marks and the code of a reply. It returns where the line begins.
func beginsLine(text string, at int) (int, bool) {
	const longest = 40
	near := max(at-longest-1, 0)
	from := near + strings.LastIndexByte(text[near:at], '\n') + 1
	before := text[from:at]
	if len(before) > longest {
		return from, false
	}
	if m := leadingWords.FindString(before); m != "" {
		before = before[len(m):]
	}
	return from, strings.Trim(before, " \t<>*-\"'(") == ""
}

var leadingWords = regexp.MustCompile(`(?i)^\s*(?:[45]\d\d[ -](?:[45]\.\d{1,3}\.\d{1,3} )?|(?:unknown user|undeliverable (?:address|to)|recipient(?: address)?|failed recipient|delivery failed \d+ attempts|invalid final delivery userid|user mailbox exceeds allowed size|rcpt to|failed to deliver to):? ?)`)

// readText finds the reason of a failure in a section of a text.
func (r *Recipient) readText(m *meter, section, text string) {
	v, diag, code := r.decideText(m, section, text)
	r.SMTPCode, r.Diagnostic = code, diag
	r.Status = enhanced.FindString(diag)
	if r.Status == "" {
		r.Status = enhanced.FindString(section)
	}
	if r.Action == "failed" {
		if r.Status != "" && v.Vague() { // the code may say more than the words
			if w := r.reported(m, diag, section); !w.Vague() {
				v = w
			}
		}
		r.Verdict = v
	}
	r.Diagnostic = reply.Clean(strings.TrimLeft(diag, ">:;,.)\"' \t"))
}

func isSystemAddress(a string) bool {
	local, _, _ := strings.Cut(a, "@")
	switch local {
	case "mailer-daemon", "postmaster", "abuse", "support", "help", "helpdesk", "mailerdaemon", "noreply", "no-reply":
		return true
	}
	return false
}

// transcript reads a report of an old Sendmail, which is only the transcript of its sessions: the last
// line about each recipient, after what led to it.
func (f *found) transcript(text string) (list []Recipient) {
	_, after, ok := strings.Cut(text, "Transcript of session follows")
	if !ok || permanentErrors.MatchString(text) {
		return nil
	}
	f.Steps += len(after)
	from := 0
	for _, m := range transcriptEnd.FindAllStringSubmatchIndex(after, maxRecipients) {
		r := Recipient{Address: bareAddress(after[m[2]:m[3]]), Action: "failed"}
		section := after[from:m[1]]
		from = m[1]
		if r.Address == "" || slices.ContainsFunc(list, func(o Recipient) bool { return o.Address == r.Address }) {
			continue
		}
		r.readText(f.meter, section, section)
		list = append(list, r)
	}
	return list
}

var (
	permanentErrors = regexp.MustCompile(`(?i)following addresses? ha|(fatal|delivery|transient) (non-fatal )?errors? ?-`)
	transcriptEnd   = regexp.MustCompile(`(?m)^[ \t]*5\d\d (?:5\.\d{1,3}\.\d{1,3} )?<?([^<>\s@]{1,64}@[^<>\s]{1,255}?)>?\.\.\. .*$`)
)

var failureWords = regexp.MustCompile(`(?i)transcript of session|(no such|invalid|unknown|bad) (user|recipient|mailbox|host|domain)|error message below|no valid recipients|failed addresses|did not reach|cannot send message|error sending your mail|trouble delivering|(could ?n.t|could not|cannot|can ?not|unable to|not) (be )?deliver|undeliver|(delivery|message) (has |to .{0,80})?(failed|failure)|permanent (fatal )?error|unknown user|user unknown|rejected|returned|unzustellbar|nicht zugestellt|n.a pas pu|退信|не удалось|не может быть`)

func hasFailureWords(text string) bool {
	return failureWords.MatchString(text[:min(len(text), 16<<10)])
}
