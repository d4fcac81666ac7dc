-- +goose Up

-- What an entry is about, for those that are asked for by it: the name of a
-- custom event, the URL of a page, the slug of a form, the id of a sequence.
ALTER TABLE journal ADD COLUMN name TEXT;
CREATE INDEX journal_named ON journal (tenant_id, type, name, occurred_at, contact_id) WHERE name IS NOT NULL;

-- What is rare enough to be looked up by its type.
CREATE INDEX journal_rare ON journal (tenant_id, type, occurred_at, contact_id)
	WHERE type IN ('email_bounced', 'email_complained', 'email_unsubscribed');

-- One contact's history, but for what every contact and every mail has: that is
-- in the contact's own row and in the outbox.
CREATE INDEX journal_contact ON journal (tenant_id, contact_id, occurred_at)
	WHERE contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created');

-- A contact's mails, and who opened and clicked when.
CREATE INDEX outbox_recipient ON outbox (tenant_id, contact_id);
CREATE INDEX hit_when ON hit (tenant_id, kind, at, class, contact_id, message_id);
CREATE INDEX hit_contact ON hit (tenant_id, contact_id, at);

-- What a stream's mails are, for those who ask by it.
ALTER TABLE outbox_stream ADD COLUMN email_type_id TEXT;
UPDATE outbox_stream SET email_type_id = (
	SELECT b.email_type_id FROM broadcast b WHERE b.tenant_id = outbox_stream.tenant_id AND b.id = outbox_stream.id);

-- Where a contact first and last came from: {"first_touch_source": …}. Times are
-- microseconds. Null: nothing is known.
ALTER TABLE contact_activity ADD COLUMN touch JSONB;
