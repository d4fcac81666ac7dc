package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Wake is notified when a delivery is due.
const Wake sqldb.Signal = "webhook"

// DeliveryStatus is the state of a delivery.
type DeliveryStatus string

// The states of a delivery.
const (
	Pending   DeliveryStatus = "pending"  // not attempted since it was created or replayed
	Retrying  DeliveryStatus = "retrying" // the last attempt failed, and there will be another
	Delivered DeliveryStatus = "delivered"
	Failed    DeliveryStatus = "failed" // there will be no further attempt
)

// Delivery is one event for one endpoint, with its last attempt.
type Delivery struct {
	ID            id.Delivery
	Endpoint      id.Webhook
	EventType     string
	Status        DeliveryStatus
	Attempts      int
	ResponseCode  *int // of the last attempt; nil: no answer, or no attempt yet
	ResponseMS    *int
	Error         string // why there was no answer, or no further attempt
	NextAttemptAt *time.Time
	LastAttemptAt *time.Time
	CreatedAt     time.Time
	RequestBody   string // only from DeliveryByID
	ResponseBody  string // at most 4 KB; only from DeliveryByID
}

const deliveryColumns = `id, endpoint_id, event_type, status, attempts, response_code, response_ms, error, due_at, attempted_at, created_at`

func scanDelivery(row func(...any) error) (Delivery, error) {
	var d Delivery
	err := row(&d.ID, &d.Endpoint, &d.EventType, sqldb.ToText(&d.Status), &d.Attempts, &d.ResponseCode, &d.ResponseMS, sqldb.ToText(&d.Error),
		sqldb.ToNullTime(&d.NextAttemptAt), sqldb.ToNullTime(&d.LastAttemptAt), sqldb.ToTime(&d.CreatedAt))
	return d, err
}

// Deliveries returns up to limit deliveries to an endpoint, newest first, after one (zero: from the
// newest). The error is ErrNotFound if the endpoint does not exist.
func Deliveries(ctx context.Context, db *sqldb.DB, tenant id.Tenant, endpoint id.Webhook, after id.Delivery, limit int) ([]Delivery, error) {
	if _, err := ByID(ctx, db, tenant, endpoint); err != nil {
		return nil, err
	}
	if after.IsZero() {
		after = lastDelivery
	}
	rows, err := db.Query(ctx, `
		SELECT `+deliveryColumns+` FROM webhook_delivery
		WHERE tenant_id = $1 AND endpoint_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4`, tenant, endpoint, after, limit)
	list, err := sqldb.Collect(rows, err, scanDelivery)
	if err != nil {
		return nil, fmt.Errorf("list webhook deliveries: %w", err)
	}
	return list, nil
}

// lastDelivery is an id after those of all deliveries.
var lastDelivery = id.Delivery{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// DeliveryByID returns one delivery to an endpoint with its bodies, or ErrNoDelivery.
func DeliveryByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, endpoint id.Webhook, delivery id.Delivery) (Delivery, error) {
	var body, answer string
	d, err := scanDelivery(func(dest ...any) error {
		return db.QueryRow(ctx, `
			SELECT `+deliveryColumns+`, body, response_body FROM webhook_delivery
			WHERE tenant_id = $1 AND id = $2 AND endpoint_id = $3`, tenant, delivery, endpoint).Scan(append(dest, &body, sqldb.ToText(&answer))...)
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return Delivery{}, ErrNoDelivery
	}
	if err != nil {
		return Delivery{}, fmt.Errorf("read a webhook delivery: %w", err)
	}
	d.RequestBody, d.ResponseBody = body, answer
	return d, nil
}

// Test adds a delivery of the type webhook.test. The endpoint must be active.
func Test(ctx context.Context, db *sqldb.DB, t id.Tenant, endpoint id.Webhook, now time.Time) (Delivery, error) {
	var d Delivery
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := requireActive(ctx, tx, t, endpoint); err != nil {
			return err
		}
		account, err := tenant.ByID(ctx, tx, t)
		if err != nil {
			return err
		}
		body, err := encodeEvent(Event{WebhookTest, timestamp(now), account.Slug, testData{endpoint, "This is a test."}})
		if err != nil {
			return err
		}
		rows := newRows(tx, t, now)
		added := rows.add(endpoint, WebhookTest, now, about{}, body)
		if err := rows.insert(ctx); err != nil {
			return err
		}
		if err := makeDue(ctx, tx, t, []id.Webhook{endpoint}, now); err != nil {
			return err
		}
		d, err = DeliveryByID(ctx, tx, t, endpoint, added)
		return err
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("test a webhook endpoint: %w", err)
	}
	return d, nil
}

// Replay makes a delivery pending again, whatever its state: it is attempted now, with the same id
// and body, and retried as a new one is. The endpoint must be active.
func Replay(ctx context.Context, db *sqldb.DB, t id.Tenant, endpoint id.Webhook, delivery id.Delivery, now time.Time) (Delivery, error) {
	var d Delivery
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := requireActive(ctx, tx, t, endpoint); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `
			UPDATE webhook_delivery SET status = 'pending', due_at = $4, tries = 0, error = NULL
			WHERE tenant_id = $1 AND id = $2 AND endpoint_id = $3`, t, delivery, endpoint, now.UnixMicro())
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNoDelivery
		}
		if err := makeDue(ctx, tx, t, []id.Webhook{endpoint}, now); err != nil {
			return err
		}
		d, err = DeliveryByID(ctx, tx, t, endpoint, delivery)
		return err
	})
	if err != nil {
		return Delivery{}, fmt.Errorf("replay a webhook delivery: %w", err)
	}
	return d, nil
}

// requireActive returns ErrDisabled if an endpoint is not active, and locks it until tx ends.
func requireActive(ctx context.Context, tx *sqldb.DB, t id.Tenant, endpoint id.Webhook) error {
	e, err := byID(ctx, tx, t, endpoint, tx.ForUpdate())
	if err == nil && !e.Active {
		err = ErrDisabled
	}
	return err
}

// rows collects deliveries to insert.
type rows struct {
	tx     *sqldb.DB
	tenant id.Tenant
	now    time.Time
	table  *sqldb.Table
	bytes  int
}

func newRows(tx *sqldb.DB, t id.Tenant, now time.Time) *rows {
	r := &rows{tx: tx, tenant: t, now: now}
	r.clear()
	return r
}

func (r *rows) clear() {
	r.bytes = 0
	r.table = r.tx.Table("id UUID", "endpoint_id UUID", "event_type TEXT", "event_at BIGINT", "subject_id UUID", "contact_id UUID", "email TEXT", "body TEXT")
}

// add adds a delivery that is due now, and returns its id.
func (r *rows) add(endpoint id.Webhook, eventType string, at time.Time, of about, body string) id.Delivery {
	d := id.New[id.Delivery]()
	r.table.Add(d, endpoint, eventType, at.UnixMicro(), sqldb.Null(of.subject), sqldb.Null(of.contact), sqldb.Null(of.email), body)
	r.bytes += len(body)
	return d
}

// insert inserts the deliveries that were added.
func (r *rows) insert(ctx context.Context) error {
	if r.table.Len() == 0 {
		return nil
	}
	_, err := r.tx.Exec(ctx, `
		INSERT INTO webhook_delivery (tenant_id, id, endpoint_id, event_type, event_at, subject_id, contact_id, email, body, status, due_at, created_at)
		SELECT h.tenant_id, v.id, v.endpoint_id, v.event_type, v.event_at, v.subject_id, v.contact_id, v.email, v.body, 'pending',
			`+r.tx.Param(2, "BIGINT")+`, `+r.tx.Param(2, "BIGINT")+`
		FROM `+r.tx.Home(1)+` CROSS JOIN `+r.table.As("v", 3), r.table.Args(r.tenant, r.now.UnixMicro())...)
	r.clear()
	return err
}

// makeDue notes that deliveries of endpoints are due. It locks the rows of their queues, so Release
// either sees these deliveries or comes first. It is one of the last statements of a transaction.
func makeDue(ctx context.Context, tx *sqldb.DB, t id.Tenant, endpoints []id.Webhook, now time.Time) error {
	if len(endpoints) == 0 {
		return nil
	}
	slices.SortFunc(endpoints, id.Compare)
	_, err := tx.Exec(ctx, `
		UPDATE webhook_queue SET next_due = CASE WHEN next_due < $2 THEN next_due ELSE $2 END
		WHERE tenant_id = $1 AND endpoint_id`+tx.In(3), t, now.UnixMicro(), sqldb.List(tx, endpoints))
	if err != nil {
		return fmt.Errorf("note due webhook deliveries: %w", err)
	}
	tx.Notify(Wake)
	return nil
}

// Outcome is what has become of a delivery.
type Outcome struct {
	ID           id.Delivery
	Status       DeliveryStatus
	ResponseCode *int // of the last attempt; nil: no answer, or no attempt yet
}

// Outcomes returns what has become of deliveries, by id. Those that are not stored any more are left out.
func Outcomes(ctx context.Context, db *sqldb.DB, tenant id.Tenant, ids []id.Delivery) (map[id.Delivery]Outcome, error) {
	found := map[id.Delivery]Outcome{}
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := db.Query(ctx, `SELECT id, status, response_code FROM webhook_delivery WHERE tenant_id = $1 AND id`+db.In(2), tenant, sqldb.List(db, ids))
	err = sqldb.Each(rows, err, func(scan func(...any) error) error {
		var o Outcome
		err := scan(&o.ID, sqldb.ToText(&o.Status), &o.ResponseCode)
		found[o.ID] = o
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find what has become of webhook deliveries: %w", err)
	}
	return found, nil
}
