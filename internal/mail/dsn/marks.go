package dsn

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/packetboat/packetboat/internal/mail/phrase"
)

// Groups of expressions that are searched in subjects, in lower case.
const (
	bounceSubject = iota
	absenceSubject
	challengeSubject
)

// subjects are the expressions of the groups.
var subjects = sync.OnceValue(func() *phrase.Set {
	return phrase.Compile([][]string{
		bounceSubject: {
			`undeliver`, `returned (mail|to sender)`, `return(ed)? (mail|e-?mail|message)`, `failure notice`, `delivery (status|fail|notification|problem|error|has failed|report|subsystem|incomplete|unsuccessful)`,
			`mail (delivery|system|not delivered|could not|failure|failed)`, `returning (mail |message )?to sender`, `(message|mail|e-?mail) (not delivered|could not be delivered|undeliverable|bounce|delivery|rejected|refused|status)`, `could ?not (be )?deliver`, `not? delivered`, `non-?delivery`,
			`warning: (could not send|message)`, `delivery delayed`, `user unknown`, `bounced`, `delivery to .* failed`, `dsn:`, `ndn:`, `\bndr\b`, `error sending your mail`, `cannot send message`, `unable to deliver`, `problem delivering`, `nondeliverable`,
			`unzustellbar`, `nicht zugestellt`, `zustell`, `rückläufer`, `zurückgesandt`, // German
			`non remis`, `échec`, `echec de`, `non (délivr|distribu)`, `retour(né)? à l.expéditeur`, `non-?remise`, `impossible de (remettre|distribuer)`, // French
			`no se (ha )?(puede|pudo|ha podido) entregar`, `devuelto`, `fallo .{0,20}entrega`, `no (se )?entregad`, `error .{0,20}entrega`, `rebotad`, `no entregable`, // Spanish
			`mancat[ao] (consegna|recapito)`, `non recapitabil`, `non (consegnat|recapitat)`, // Italian
			`onbestelbaar`, `niet (bezorgd|afgeleverd|verzonden)`, `kon niet worden (bezorgd|afgeleverd)`, // Dutch
			`nie dostarcz`, `niedostarcz`, `niedoręcz`, `nie można dostarczyć`, `zwrot`, // Polish
			`não (foi )?(entreg|possível entregar)`, `falha (na|de) entrega`, `não entregável`, `devolvid[oa]`, // Portuguese
			`не доставлен`, `недостав`, `ошибка доставки`, `не удалось доставить`, `невозможно доставить`, `ваше сообщение не`, `не может быть доставлен`, // Russian, Ukrainian
			`退信`, `投递失败`, `投遞失敗`, `(未|无法|無法|不能)(送达|送達|投递|傳遞|传递|递送)`, `(发送|傳送|寄送)失[败敗]`, `被退回`, // Chinese
			`配信(不能|できません|エラー|失敗|状況)`, `配信`, `送信(できません|エラー|失敗)`, `エラー(通知|メール)`, `未配信`, `届け`, `宛先不明`, // Japanese
			`반송`, `배달(되지|할 수|실패| 실패|못)`, `전송 ?(실패|오류)`, `보낼 수 없`, // Korean
			`kunde inte levereras`, `olevererba`, `kan ikke leveres`, `kunne ikke leveres`, `ulevert`, `ikke levert`, `toimittama`, `ei voitu toimittaa`, // Nordic
			`nedoručiteln`, `nedoručiteľn`, `nedoručen`, `kézbesíthetetlen`, `nem kézbesíthető`, `nu (a putut|poate) fi livrat`, `nelivra`, `nepristat`, `neisporuč`, // Central Europe
			`teslim edilem`, `iletilem`, `gönderilem`, `δεν παραδόθηκε`, `αδύνατη η παράδοση`, `לא נמסר`, `לא ניתן למס`, `تعذر (تسليم|التسليم)`, `غير قابل للتسليم`, `لم يتم (تسليم|التسليم)`,
			`ไม่สามารถส่ง`, `ส่งไม่ได้`, `không (thể )?gửi`, `tidak terkirim`, `gagal (di)?kirim`,
		},
		absenceSubject: {
			`out[ -]of[ -](the[ -])?office`, `automatic(ally)? (reply|generated reply|response)`, `auto(mated|matic)?[- ]?(reply|response|responder|antwort)`, `autoresp`, `vacation`, `on (holiday|leave|annual leave)`, `away from`, `absence`, `i am (currently )?(out|away)`, `^ooo\b`, `\booo:`, `thank you for (your (e-?mail|message)|contacting)`, `we (have )?received your (e-?mail|message|request)`,
			`abwesen`, `automatische (antwort|rückmeldung|e-?mail-?antwort)`, `(im|in) urlaub`, `nicht im (büro|haus)`, `réponse automatique`, `absent`, `en vacances`, `congés?\b`, `respuesta autom`, `fuera de (la )?oficina`, `ausencia`, `vacaciones`,
			`risposta automatica`, `fuori (sede|ufficio)`, `in ferie`, `assenza`, `resposta autom`, `ausência`, `férias`, `fora do escritório`, `automatisch (antwoord|bericht)`, `afwezig`, `automatiskt? svar`, `autosvar`, `frånvaro`, `fraværende`, `ikke på kontoret`, `automaattinen`, `poissaolo`,
			`автоответ`, `автоматическ(ий|ое) (ответ|уведомление)`, `отсутств`, `в отпуске`, `автоматична відповідь`, `відсутн`, `自動(返信|応答|回覆)`, `自动(回复|答复|应答)`, `不在`, `外出`, `休暇`, `休假`, `자동 ?(회신|응답|답장)`, `부재`,
			`automatyczna (odpowiedź|odp)`, `poza biurem`, `urlop`, `nieobecn`, `automatick[áé] odpov`, `nepřítomn`, `automatikus válasz`, `házon kívül`, `răspuns automat`, `otomatik (yanıt|cevap)`, `ofis dışında`, `αυτόματη απάντηση`, `מענה אוטומטי`, `מחוץ למשרד`, `رد تلقائي`, `خارج المكتب`,
			`ตอบกลับอัตโนมัติ`, `trả lời tự động`, `balasan otomatis`, `autom[aā]tisk[aā] atbilde`, `atva[lļ]in[aā]jum`, `automatinis atsakymas`, `automatski odgovor`, `samodejni odgovor`,
		},
		challengeSubject: {
			`confirm (your|that you)`, `verification required`, `please (verify|confirm) (your )?(e-?mail|message|address|sender)`, `spam ?arrest`, `boxbe`, `\bchallenge\b`, `waiting list`, `action required: .{0,40}confirm`, `approve (your )?(message|sender)`,
			`(sender|message|mail) (verification|confirmation)`, `confirmation (required|needed|request)`, `your (message|mail|e-?mail) .{0,40}(awaits|requires|needs) .{0,20}(verification|confirmation)`, `antispam.{0,30}(verif|confirm)`,
		},
	})
})

// kindOfSubject returns the groups that match a subject in lower case.
func kindOfSubject(subject string) (bounce, absence, challenge bool) {
	s := subjects().Find(subject)
	return s.Has(bounceSubject), s.Has(absenceSubject), s.Has(challengeSubject)
}

var (
	bounceSender  = regexp.MustCompile(`(?i)mailer-?daemon|post_?master|mail ?delivery|mail-?system|\bmdaemon|bounce|mailerdaemon|microsoftexchange|delivery (subsystem|service|status)|administrator@|^mail@|noreply.*delivery`)
	challengeText = regexp.MustCompile(`spamarrest|boxbe|to (prove|confirm|verify) (that )?you are (a )?(human|person|not a)|one-time (request|verification)|click .{0,60}to (release|deliver) (your|the) message|choicemail|challenge/response|have your address added|added? .{0,40}(allowed|approved|white) ?list .{0,40}(deliver|link|click)|(your|this) (message|e-?mail) (is|has been) .{0,60}(held|quarantined) .{0,120}(verify|confirm|captcha)|(respond|reply) to this (message|e-?mail) .{0,40}(confirm|verify|authenticate)`)
	addressChange = regexp.MustCompile(`no longer (with|works?|employed|at|part of|in use|monitored|active|valid)|has left|left the company|changed my (e-?mail|address)|(e-?mail|address) (has )?changed|new (e-?mail )?address|nicht mehr (im unternehmen|bei|für|gültig|tätig|aktiv)|ausgeschieden|ne (travaille|fait) plus|ya no (trabaja|forma)|non (lavora|fa) più`)
	awayText      = regexp.MustCompile(`(i am|i'm|i’m|i will be) (currently )?(out of (the )?office|away from (the|my)|on (annual |maternity |parental |sick )?leave|on (vacation|holiday))`)
)

// feedbackSenders are senders of feedback loops that forward the mail of a complaint without a report
// (RFC 5965), such as Microsoft's Junk Mail Reporting Program.
var feedbackSenders = []string{"staff@hotmail.com", "staff@outlook.com", "staff@msn.com", "staff@live.com", "jmrp@hotmail.com"}

// complaintSubject matches the subject of such mail. The group is the address that sent the mail.
var complaintSubject = regexp.MustCompile(`^complaint about message from ([0-9a-f.:]+)`)

// bareComplaint reads a complaint that is only a forwarded mail.
func (f *found) bareComplaint(subject string) (Feedback, bool) {
	from := bareAddress(firstNonEmpty(f.top.Get("from"), f.top.Get("sender")))
	known := isFeedbackSender(from) || isFeedbackSender(bareAddress(f.top.Get("return-path")))
	m := complaintSubject.FindStringSubmatch(subject)
	report := f.topParams["report-type"] == "feedback-report"
	if f.original == nil && known && from != "" && !isFeedbackSender(from) {
		f.original = f.top // redirected as it was
	}
	if f.original == nil || !known && m == nil && !report {
		return Feedback{}, false
	}
	fb := Feedback{Type: "abuse", OriginalRcpt: bareAddress(firstNonEmpty(f.original.Get("x-hmxmroriginalrecipient"), f.original.Get("to")))}
	if m != nil {
		fb.SourceIP = strings.Trim(m[1], ".:")
	}
	if _, domain, ok := strings.Cut(bareAddress(f.original.Get("from")), "@"); ok {
		fb.ReportedDomain = domain
	}
	return fb, true
}

func isFeedbackSender(address string) bool {
	return slices.Contains(feedbackSenders, address)
}
