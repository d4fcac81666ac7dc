-- +goose Up

-- Package consent.

-- What contacts agreed to, and what they withdrew, with the proof of it. Rows are not updated.
-- Either type_key or category_id is set, or neither: then the record is about all mail.
CREATE TABLE consent_record (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	contact_id  UUID    NOT NULL,
	type_key    TEXT,
	category_id UUID,
	granted     BOOLEAN NOT NULL,
	at          BIGINT  NOT NULL,
	source      TEXT    NOT NULL,
	confirmed   BOOLEAN NOT NULL,
	wording     TEXT    NOT NULL,
	ip          TEXT    NOT NULL,
	agent       TEXT    NOT NULL,
	page_url    TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
-- The records of a contact in their order: consent.List.
CREATE INDEX consent_record_contact ON consent_record (tenant_id, contact_id, at, id);

-- Package form.

-- document is what authors edit (form.Settings). confirm_* are the send and the frozen content of
-- confirmation mails, and the hash by which a change of the content is noticed.
CREATE TABLE form (
	tenant_id          INTEGER NOT NULL,
	id                 UUID    NOT NULL,
	slug               TEXT    NOT NULL,
	status             TEXT    NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
	document           JSONB   NOT NULL,
	captcha_secret     TEXT,
	submission_count   BIGINT  NOT NULL DEFAULT 0,
	last_submission_at BIGINT,
	confirm_send       UUID,
	confirm_content    UUID,
	confirm_hash       TEXT,
	created_at         BIGINT  NOT NULL,
	updated_at         BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- The tenants of forms. Public requests name a form by its slug alone, by the primary key
-- (form.BySlug).
CREATE TABLE form_slug (
	slug      TEXT    NOT NULL PRIMARY KEY,
	tenant_id INTEGER NOT NULL,
	form_id   UUID    NOT NULL
);

-- answers are the values of contact fields and custom fields, consents what was agreed to and with
-- which wording. message_id and mailed_at are those of the confirmation mail.
CREATE TABLE form_submission (
	tenant_id    INTEGER NOT NULL,
	id           UUID    NOT NULL,
	form_id      UUID    NOT NULL,
	contact_id   UUID,
	email        TEXT,
	outcome      TEXT    NOT NULL CHECK (outcome IN ('accepted', 'awaiting_confirmation', 'confirmed', 'spam')),
	submitted_at BIGINT  NOT NULL,
	ip           TEXT    NOT NULL,
	agent        TEXT    NOT NULL,
	page_url     TEXT    NOT NULL,
	answers      JSONB   NOT NULL,
	consents     JSONB   NOT NULL,
	message_id   UUID,
	mailed_at    BIGINT,
	confirmed_at BIGINT,
	PRIMARY KEY (tenant_id, id)
);
-- The submissions of a form, newest first: form.Submissions.
CREATE INDEX form_submission_form ON form_submission (tenant_id, form_id, submitted_at, id);
-- The submissions of a contact: its personal data, and the number of its confirmation mails.
CREATE INDEX form_submission_contact ON form_submission (tenant_id, contact_id, form_id) WHERE contact_id IS NOT NULL;
-- The submission that a confirmation mail is about: form.Intake.Confirm.
CREATE INDEX form_submission_message ON form_submission (tenant_id, message_id) WHERE message_id IS NOT NULL;
-- The last confirmation mails to an address (form.mayMail), and what an erased person submitted as spam.
CREATE INDEX form_submission_email ON form_submission (tenant_id, email, mailed_at) WHERE email IS NOT NULL;
-- Old spam: form.Prune.
CREATE INDEX form_submission_spam ON form_submission (tenant_id, submitted_at) WHERE outcome = 'spam';
