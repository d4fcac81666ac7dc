package dsn_test

import (
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
