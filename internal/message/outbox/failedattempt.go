package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// PastAttempt is an attempt to hand over a message that has ended.
type PastAttempt struct {
	Message id.Message
	At      time.Time // when the result came, or if it is unknown, when the attempt began
	Lane    id.Lane
	Code    int    // of the SMTP reply; 0: no server answered
	Reply   string // enhanced status code and text of the server, or what kept it from answering; empty: not stored, or erased
}

// Attempts returns the attempts of a message, in order of time. Of messages from before attempts were
// stored, it returns only the last.
func Attempts(ctx context.Context, db *sqldb.DB, r Record) ([]PastAttempt, error) {
	attempts, err := failedAttemptsOf(ctx, db, r.Tenant, []id.Message{r.ID})
	if err != nil {
		return nil, err
	}
	list := attempts[r.ID]
	accepted := r.State == Sent || r.State == Delivered ||
		r.State == Bounced && r.SentAt != nil && r.EndedAt != nil && r.EndedAt.After(*r.SentAt) // it bounced afterwards
	if accepted && r.SentAt != nil {
		var text sql.NullString
		err := db.QueryRow(ctx, `SELECT accept_reply FROM outbox WHERE tenant_id = $1 AND id = $2`, r.Tenant, r.ID).Scan(&text)
		if err != nil {
			return nil, fmt.Errorf("read the reply to a message: %w", err)
		}
		a := PastAttempt{Message: r.ID, At: *r.SentAt, Lane: r.Lane, Code: 250}
		if code, reply, _ := strings.Cut(text.String, " "); text.Valid {
			a.Reply = reply
			a.Code, _ = strconv.Atoi(code)
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b PastAttempt) int { return a.At.Compare(b.At) })
	return list, nil
}

// failedAttemptsOf returns the attempts in which no server accepted the messages.
func failedAttemptsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) (map[id.Message][]PastAttempt, error) {
	rows, err := db.Query(ctx, `
		SELECT message_id, at, lane_id, smtp_code, reply FROM outbox_failed_attempt
		WHERE tenant_id = $1 AND message_id`+db.In(2)+` ORDER BY message_id, at`, tenant, sqldb.List(db, messages))
	found := map[id.Message][]PastAttempt{}
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var a PastAttempt
		var code sql.NullInt64
		var reply sql.NullString
		err := scan(&a.Message, sqldb.ToTime(&a.At), &a.Lane, &code, &reply)
		a.Code, a.Reply = int(code.Int64), reply.String
		found[a.Message] = append(found[a.Message], a)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the attempts of messages: %w", err)
	}
	return found, nil
}

// maxAcceptance is the length at which the reply of an accepting server is cut. Most have an
// identifier of the message within it.
const maxAcceptance = 200

// acceptance returns the code and text with which a server accepted the message; empty if none did.
func (r Result) acceptance() string {
	if r.State != Delivered && r.State != Sent || r.Code == 0 {
		return ""
	}
	text := strings.TrimSpace(strconv.Itoa(r.Code) + " " + r.replyText())
	if len(text) > maxAcceptance {
		text = strings.ToValidUTF8(text[:maxAcceptance], "")
	}
	return text
}

// replyText returns the enhanced status code and the text of the reply.
func (r Result) replyText() string {
	return strings.TrimSpace(r.Enhanced + " " + cmp.Or(r.Reply, r.Error))
}

// unknownResult is the reply of an attempt whose result was not stored.
const unknownResult = "The sending process ended before it stored the server's answer."

// failedAttempts are rows to be added to outbox_failed_attempt.
type failedAttempts struct{ rows *sqldb.Table }

func newFailedAttempts(tx *sqldb.DB) *failedAttempts {
	return &failedAttempts{tx.Table("message_id UUID", "at BIGINT", "lane_id UUID", "smtp_code BIGINT", "reply TEXT")}
}

// add adds an attempt on a lane with its result, unless the message was accepted or not handed over.
func (f *failedAttempts) add(r Result, lane id.Lane) {
	if r.Unsent || r.State == Delivered || r.State == Sent {
		return
	}
	f.rows.Add(r.Item.ID, r.At.UnixMicro(), lane, sqldb.Null(r.Code), sqldb.Null(r.replyText()))
}

// addUnknown adds an attempt that began at a time, in microseconds, and whose result is unknown.
func (f *failedAttempts) addUnknown(a attempt, begun int64) {
	f.rows.Add(a.Message, begun, a.Lane, nil, unknownResult)
}

// write stores the attempts on messages of a tenant.
func (f *failedAttempts) write(ctx context.Context, tx *sqldb.DB, tenant id.Tenant) error {
	if f.rows.Len() == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO outbox_failed_attempt (tenant_id, message_id, at, lane_id, smtp_code, reply)
		SELECT h.tenant_id, v.message_id, v.at, v.lane_id, v.smtp_code, v.reply FROM `+tx.Home(1)+` CROSS JOIN `+f.rows.As("v", 2)+` WHERE true
		ON CONFLICT (tenant_id, message_id, at) DO NOTHING`, f.rows.Args(tenant)...)
	if err != nil {
		return fmt.Errorf("store attempts: %w", err)
	}
	return nil
}
