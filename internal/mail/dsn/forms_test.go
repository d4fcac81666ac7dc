package dsn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/mail/dsn"
	"github.com/packetboat/packetboat/internal/mail/reply"
)

// Each recipient of a report has the reason that is stated about it, whatever stands beside it.
func TestRecipientsHaveTheirOwnReasons(t *testing.T) {
	t.Parallel()
	list := "  ann@x.example\n    SMTP error from remote mail server after RCPT TO:<ann@x.example>:\n    host mx.x.example [192.0.2.1]: 550 5.2.2 <ann@x.example>... Mailbox Full\n" +
		"  bob@x.example\n    host mx.x.example [192.0.2.1]: 550 5.1.1 <bob@x.example>... User Unknown\n"
	for name, mail := range map[string]string{
		"exim":       bounce("Mailer-Daemon@y.example", "Mail delivery failed: returning message to sender", "The following address(es) failed:\n\n"+list),
		"repeated":   bounce("Mailer-Daemon@y.example", "Mail failure.", "К сожалению:\n\n"+list+"\nПроверьте адреса.\n\nThe following address(es) failed:\n\n"+list),
		"transcript": bounce("MAILER-DAEMON@y.example", "Returned mail: User unknown", "   ----- Transcript of session follows -----\n552 <ann@x.example>... Mailbox full\n550 <bob@x.example>... User unknown\n\n   ----- Unsent message follows -----\nTo: eve@x.example\n"),
		"status and text": report("MAILER-DAEMON@y.example", "ann@x.example: 552 5.2.2 Mailbox full\nbob@x.example: 550 5.1.1 User unknown",
			"Reporting-MTA: dns; y.example\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.0.0\n\nFinal-Recipient: rfc822; bob@x.example\nAction: failed\nStatus: 5.0.0"),
	} {
		r := dsn.Parse([]byte(mail))
		if len(r.Recipients) != 2 {
			t.Errorf("%s: %s %+v", name, r.Kind, r.Recipients)
			continue
		}
		for i, want := range []struct {
			address string
			reason  reply.Reason
		}{{"ann@x.example", reply.MailboxFull}, {"bob@x.example", reply.InvalidRecipient}} {
			if got := r.Recipients[i]; got.Address != want.address || got.Verdict.Reason != want.reason {
				t.Errorf("%s: %s %s by %s (%q); want %+v", name, got.Address, got.Verdict.Reason, got.Verdict.Rule, got.Diagnostic, want)
			}
		}
	}
}

// oneRecipient is what a report says about one recipient.
type oneRecipient struct {
	address string
	reason  reply.Reason
	code    int
}

func TestPlainReportsOfOldServers(t *testing.T) {
	t.Parallel()
	const transcript = "   ----- Transcript of session follows -----\n"
	for name, tt := range map[string]struct {
		mail string
		want []oneRecipient
	}{
		"a gateway's": {
			strings.Replace(bounce("post_master@gw.example", "Re:News", "Error: Invalid user address\n\nError message below:\n550 - Requested action not taken: no such user here\n\nMessage details:\n  Subject: News\n  MAIL FROM: b.token@bounce.y.example\n  RCPT TO: ann@x.example\n  From: news@y.example\n  Size (in bytes): 39\n"), "Return-Path: <>\n", "", 1),
			[]oneRecipient{{"ann@x.example", reply.InvalidRecipient, 550}},
		},
		"a gateway's with a command": {
			bounce("postmaster@gw.example", "Mail could not be delivered", "Sent <<< RCPT TO:<ann@x.example>\nReceived >>> 550 5.1.1 <ann@x.example>... User unknown\n"),
			[]oneRecipient{{"ann@x.example", reply.InvalidRecipient, 550}},
		},
		"a reason in brackets": {
			bounce("Mail Deliver System <MAILER-DAEMON>", "Returned Mail: User unknown", "The original message was received at Thu, 29 Apr 2021 23:34:45 +0900\nfrom b.token@bounce.y.example\n\n---The following addresses had delivery errors---\n\nann@x.example [User unknown]\n"),
			[]oneRecipient{{"ann@x.example", reply.InvalidRecipient, 0}},
		},
		"a type without a semicolon": {
			"Return-Path: <>\nFrom: MAILER-DAEMON\nTo: b.token@bounce.y.example\nSubject: Returned Mail: User unknown\nContent-Type: multipart/mixed; boundary=BB\n\n--BB\nContent-Type: text/plain\n   charset=\"iso-2022-jp\"\n\nThe following addresses had delivery errors\n\nann@x.example [User unknown]\n\n--BB--\n",
			[]oneRecipient{{"ann@x.example", reply.InvalidRecipient, 0}},
		},
		"the address of the report": {
			strings.Replace(bounce("MAILER-DAEMON@y.example", "Undelivered mail", "The following address failed:\n\n  ann@x.example: 550 5.1.1 no such user\n"), "To: b.token@bounce.y.example", "To: ann@x.example", 1),
			[]oneRecipient{{"ann@x.example", reply.InvalidRecipient, 550}},
		},
		"a log": {
			bounce("<MAILER-DAEMON@y.example>", "mail failed, returning to sender", "|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n ann@x.example ... unknown host\n|------------------------- Message text follows: ------------------------|\nTo: ann@x.example\nSubject: mailbox full\n"),
			[]oneRecipient{{"ann@x.example", reply.InvalidDomain, 0}},
		},
		"several recipients in one transcript": {
			bounce("Mail Delivery Subsystem <MAILER-DAEMON@y.example>", "Returned mail: User unknown", transcript+
				"While talking to mx.a.example:\n>>> MAIL From:<b@y.example>\n<<< 501 <b@y.example>... no access from mail server [192.0.2.55] which is an open relay.\n554 <ann@a.example>... Remote protocol error\n"+
				"550 b.example (smtp)... 550 Host unknown\n554 <bob@b.example>... 550 Host unknown (Authoritative answer from name server)\n"+
				"While talking to mx.c.example:\n>>> QUIT\n<<< 421 c.example closing connection\n>>> RCPT To:<cid@c.example>\n<<< 552 Mailbox full.\n552 <cid@c.example>... Mailbox full\n"+
				"While talking to mx.d.example:\n>>> RCPT To:<dan@d.example>\n<<< 550 <dan@d.example>... User unknown\n550 dan@d.example... User unknown\n\n   ----- Unsent message follows -----\nTo: eve@x.example\n"),
			[]oneRecipient{{"ann@a.example", reply.ReputationBlock, 501}, {"bob@b.example", reply.InvalidDomain, 550}, {"cid@c.example", reply.MailboxFull, 552}, {"dan@d.example", reply.InvalidRecipient, 550}},
		},
	} {
		r := dsn.Parse([]byte(tt.mail))
		var got []oneRecipient
		for _, p := range r.Recipients {
			got = append(got, oneRecipient{p.Address, p.Verdict.Reason, p.SMTPCode})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %s %+v, want %+v", name, r.Kind, r.Recipients, tt.want)
		}
	}
}

// What RFC 3464 does not say happens as well.
func TestUnusualFieldsOfReports(t *testing.T) {
	t.Parallel()
	const head = "Reporting-MTA: dns; y.example\n\n"
	for name, tt := range map[string]struct {
		fields  string
		address string
		action  string
		status  string
		reason  reply.Reason // empty: not failed
	}{
		"expired":                    {"Final-Recipient: rfc822; ann@x.example\nAction: expired\n", "ann@x.example", "failed", "", reply.ExpiredQueue},
		"expired with a status":      {"Final-Recipient: rfc822; ann@x.example\nAction: Expired\nStatus: 4.4.7\n", "ann@x.example", "failed", "4.4.7", reply.ExpiredQueue},
		"expired after a reply":      {"Final-Recipient: rfc822; ann@x.example\nAction: expired\nStatus: 4.0.0\nDiagnostic-Code: smtp; 452 4.2.2 mailbox full\n", "ann@x.example", "failed", "4.2.2", reply.MailboxFull},
		"bounced":                    {"Final-Recipient: rfc822; ann@x.example\nAction: bounced\nDiagnostic-Code: smtp; 550 5.1.1 user unknown\n", "ann@x.example", "failed", "5.1.1", reply.InvalidRecipient},
		"rejected without a reason":  {"Final-Recipient: rfc822; ann@x.example\nAction: rejected\n", "ann@x.example", "failed", "", reply.Unknown},
		"deliverable":                {"Final-Recipient: rfc822; ann@x.example\nAction: deliverable\nStatus: 2.1.5\n", "ann@x.example", "deliverable", "2.1.5", ""},
		"success without a status":   {"Final-Recipient: rfc822; ann@x.example\nAction: success\n", "ann@x.example", "success", "", ""},
		"deferred":                   {"Final-Recipient: rfc822; ann@x.example\nAction: deferred\nStatus: 4.0.0\n", "ann@x.example", "delayed", "4.0.0", ""},
		"a general status":           {"Final-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550-5.1.1 no such user\n", "ann@x.example", "failed", "5.1.1", reply.InvalidRecipient},
		"a general status and reply": {"Final-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 5.0.0 no such user\n", "ann@x.example", "failed", "5.0.0", reply.InvalidRecipient},
		"an exact status":            {"Final-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 550 5.1.0 over quota\n", "ann@x.example", "failed", "5.2.2", reply.MailboxFull},
		"an encoded address":         {"Final-Recipient: rfc822; =?utf-8?Q?ann=40x=2Eexample?=\nAction: failed\nStatus: 5.1.1\n", "ann@x.example", "failed", "5.1.1", reply.InvalidRecipient},
		"an address in base64":       {"Final-Recipient: rfc822; =?UTF-8?B?YW5uQHguZXhhbXBsZQ==?=\nAction: failed\nStatus: 5.1.1\n", "ann@x.example", "failed", "5.1.1", reply.InvalidRecipient},
		"an encoded field":           {"Final-Recipient: =?utf-8?Q?rfc822=3B_ann=40x.example?=\nAction: failed\nStatus: 5.1.1\n", "ann@x.example", "failed", "5.1.1", reply.InvalidRecipient},
		"a source route":             {"Final-Recipient: rfc822; <@relay.example,@mx.example:Ann@x.example>\nAction: failed\nStatus: 5.1.1\n", "ann@x.example", "failed", "5.1.1", reply.InvalidRecipient},
		"a source route alone":       {"Final-Recipient: rfc822;@relay.example:ann@x.example\nAction: failed\nStatus: 5.1.1\n", "ann@x.example", "failed", "5.1.1", reply.InvalidRecipient},
	} {
		r := dsn.Parse([]byte(report("MAILER-DAEMON@y.example", "", head+tt.fields)))
		if len(r.Recipients) != 1 {
			t.Errorf("%s: %s %+v", name, r.Kind, r.Recipients)
			continue
		}
		if got := r.Recipients[0]; got.Address != tt.address || got.Action != tt.action || got.Status != tt.status || got.Verdict.Reason != tt.reason {
			t.Errorf("%s: %+v, want %+v", name, got, tt)
		}
	}
}

// A text for people says why a delivery failed only where the reply of the server does not.
func TestRepliesTakePrecedenceOverTexts(t *testing.T) {
	t.Parallel()
	const help = "The address ann@x.example was not found. Set up SPF records. Your message may look like spam."
	for diagnostic, want := range map[string]struct {
		reason reply.Reason
		hard   bool
	}{
		"550 5.7.1 Access denied":                                     {reply.RefusedByPolicy, false},
		"550 5.7.1 message refused":                                   {"", false},
		"552 5.2.2 over quota":                                        {reply.MailboxFull, false},
		"550 5.1.1 user unknown":                                      {reply.InvalidRecipient, true},
		"550 Recipient address rejected: Mailer error":                {reply.RemoteSystem, false},
		"5.1.0 - Unknown address error 550-'5.7.1 <x>: Access denied": {reply.RefusedByPolicy, false},
	} {
		r := dsn.Parse([]byte(report("MAILER-DAEMON@y.example", help, "Reporting-MTA: dns; y\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; "+diagnostic)))
		if len(r.Recipients) != 1 {
			t.Fatalf("%s: %+v", diagnostic, r)
		}
		got := r.Recipients[0].Verdict
		if (got.Class == reply.Hard) != want.hard || want.reason != "" && got.Reason != want.reason {
			t.Errorf("%s: %+v, want %+v", diagnostic, got, want)
		}
	}
}

func TestPlainComplaintsAreRead(t *testing.T) {
	t.Parallel()
	const original = "From: News <news@y.example>\nTo: ann@hotmail.com\nMessage-ID: <0190.abcd@bounce.y.example>\nSubject: News\n\nHello\n"
	wrapped := "From: staff@hotmail.com\nTo: fbl@y.example\nSubject: complaint about message from 192.0.2.7\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=BB\n\n--BB\nContent-Type: message/rfc822\n\n" + original + "--BB--\n"
	for name, mail := range map[string]string{"forwarded": wrapped, "redirected": "Return-Path: staff@hotmail.com\n" + original} {
		r := dsn.Parse([]byte(mail))
		if r.Kind != dsn.ARF || !r.Feedback.Complaint() || r.Feedback.OriginalRcpt != "ann@hotmail.com" || r.Original.MessageID != "<0190.abcd@bounce.y.example>" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := dsn.Parse([]byte(strings.ReplaceAll(wrapped, "staff@hotmail.com", "bob@x.example"))); r.Kind != dsn.ARF {
		t.Errorf("by its subject: %s", r.Kind)
	}
	forwarded := strings.NewReplacer("staff@hotmail.com", "bob@x.example", "complaint about message from 192.0.2.7", "Fwd: News").Replace(wrapped)
	if r := dsn.Parse([]byte(forwarded)); r.Kind != dsn.None {
		t.Errorf("a forwarded mail: %s", r.Kind)
	}
}

func TestNotificationsOfSESAreRead(t *testing.T) {
	t.Parallel()
	const bounced = `{"notificationType":"Bounce","bounce":{"bounceType":"Permanent","bouncedRecipients":[{"emailAddress":"ann@x.example","action":"failed","status":"5.1.1","diagnosticCode":"smtp; 550 5.1.1 user unknown"}]},"mail":{"destination":["ann@x.example"],"commonHeaders":{"messageId":"<0190@y.example>"}}}`
	const head = "From: SES <no-reply@sns.amazonaws.com>\nSubject: AWS Notification Message\n\n"
	wrapped := `{"Type":"Notification","Message":"` + strings.ReplaceAll(bounced, `"`, `\"`) + `"}`
	for name, text := range map[string]string{"plain": bounced + "\n\n--\nIf you wish to stop", "as JSON": wrapped} {
		r := dsn.Parse([]byte(head + text))
		if r.Kind != dsn.Bounce || len(r.Recipients) != 1 || r.Recipients[0].Address != "ann@x.example" || r.Recipients[0].Verdict.Class != reply.Hard || r.Original.MessageID != "<0190@y.example>" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for kind, want := range map[string]dsn.Kind{`{"notificationType":"Complaint","complaint":{"complainedRecipients":[{"emailAddress":"ann@x.example"}]}}`: dsn.ARF, `{"notificationType":"Delivery","delivery":{"recipients":["ann@x.example"]}}`: dsn.Bounce, `{"notificationType":"Other"}`: dsn.None, `{"notificationType":`: dsn.None} {
		if r := dsn.Parse([]byte(head + kind)); r.Kind != want {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

func TestLocalizedSubjectsAreRecognized(t *testing.T) {
	t.Parallel()
	for subject, kind := range map[string]dsn.Kind{
		"Unzustellbar: News": dsn.Bounce, "Non remis : News": dsn.Bounce, "No se puede entregar: News": dsn.Bounce, "Non recapitabile: News": dsn.Bounce, "Onbestelbaar: News": dsn.Bounce,
		"Niedostarczone: News": dsn.Bounce, "Não foi possível entregar: News": dsn.Bounce, "Не доставлено: News": dsn.Bounce, "未送达: News": dsn.Bounce, "無法傳遞: News": dsn.Bounce, "配信不能: News": dsn.Bounce,
		"배달되지 않음: News": dsn.Bounce, "Kan ikke leveres: News": dsn.Bounce, "Nedoručitelné: News": dsn.Bounce, "Teslim edilemeyen: News": dsn.Bounce,
		"Abwesenheitsnotiz": dsn.AutoReply, "Réponse automatique : News": dsn.AutoReply, "Respuesta automática: News": dsn.AutoReply, "Risposta automatica: News": dsn.AutoReply, "Automatisch antwoord: News": dsn.AutoReply,
		"Odpowiedź automatyczna: News": dsn.None, "Automatyczna odpowiedź: News": dsn.AutoReply, "Resposta automática: News": dsn.AutoReply, "Автоматический ответ: News": dsn.AutoReply, "自动答复: News": dsn.AutoReply,
		"自動返信: News": dsn.AutoReply, "자동 회신: News": dsn.AutoReply, "Automatické odpovědi: News": dsn.AutoReply, "Otomatik Yanıt: News": dsn.AutoReply,
	} {
		mail := "From: someone@x.example\nTo: b.x@y.example\nSubject: " + subject + "\n\nann@x.example: 550 5.1.1 user unknown\n"
		if r := dsn.Parse([]byte(mail)); r.Kind != kind {
			t.Errorf("%s: %s, want %s", subject, r.Kind, kind)
		}
	}
}

func TestUnusualStructuresAreRead(t *testing.T) {
	t.Parallel()
	whole := report("MAILER-DAEMON@x.example", "no such user", "Reporting-MTA: dns; x\n\nFinal-Recipient: rfc822; ann@x.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user")
	quoted := "From: bob@x.example\nSubject: Fwd: Returned mail\n\nSee below.\n\n> From: MAILER-DAEMON@x.example\n> Subject: Returned mail\n>\n> Reporting-MTA: dns; x\n>\n> Final-Recipient: rfc822; ann@x.example\n> Action: failed\n> Status: 5.1.1\n> Diagnostic-Code: smtp; 550 5.1.1 no such user\n"
	for name, mail := range map[string]string{
		"another boundary":      strings.Replace(whole, "boundary=\"XX/y.example\"", "boundary=\"YY\"", 1),
		"quoted":                quoted,
		"blank lines before":    "  \n\n" + whole,
		"original address only": strings.Replace(whole, "Final-Recipient: rfc822; ann@x.example", "Original-Recipient: rfc822;ann@x.example\nFinal-Recipient: system;<>", 1),
	} {
		r := dsn.Parse([]byte(mail))
		if len(r.Recipients) != 1 || r.Recipients[0].Address != "ann@x.example" || r.Recipients[0].Verdict.Class != reply.Hard {
			t.Errorf("%s: %s %+v", name, r.Kind, r.Recipients)
		}
	}
}
