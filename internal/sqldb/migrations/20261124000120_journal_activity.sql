-- +goose Up

-- Package journal.

-- The newest entries of a tenant by type, for the feed of its activity: activity.Feed. It leaves out
-- the types that are many for each send or import: mails, opens and clicks (which are hits), created
-- contacts (read from their own rows), memberships of lists, and scores.
CREATE INDEX journal_activity ON journal (tenant_id, type, occurred_at)
	WHERE contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created',
		'email_opened', 'email_clicked', 'list_added', 'list_removed', 'score_changed');
