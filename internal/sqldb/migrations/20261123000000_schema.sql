-- +goose Up

-- Package journal.

-- Events and changes, appended in the transaction that makes the change. grp is the group of the
-- tenant (id.Tenant.Group), pos the entry's position in the order in which followers read the
-- group. name identifies the subject of entries that are looked up by it: the name of a custom
-- event, the URL of a page, the slug of a form, the id of a sequence. contacts is the ids of
-- contacts that were created together, 16 bytes each (journal.pack). Followers read by the primary
-- key (journal.Engine.fill), which also yields the last position of each group.
CREATE TABLE journal (
	pos          BIGINT  NOT NULL,
	occurred_at  BIGINT  NOT NULL,
	grp          INTEGER NOT NULL,
	tenant_id    INTEGER NOT NULL,
	id           UUID    NOT NULL,
	contact_id   UUID,
	send_id      UUID,
	message_id   UUID,
	type         TEXT    NOT NULL,
	name         TEXT,
	data         JSONB,
	contacts     BYTEA,
	PRIMARY KEY (grp, pos, tenant_id)
);

-- Contacts by named entries, for rules: rule.named.
CREATE INDEX journal_named ON journal (tenant_id, type, name, occurred_at, contact_id) WHERE name IS NOT NULL;

-- Contacts with a bounce, complaint or unsubscribe, for rules: rule.journalEvents.
CREATE INDEX journal_rare ON journal (tenant_id, type, occurred_at, contact_id)
	WHERE type IN ('email_bounced', 'email_complained', 'email_unsubscribed');

-- One contact's history, without the entries that every contact and every mail has: those are also
-- in the contact's own row and in the outbox. For journal.Timeline and FirstOf, activity.List and
-- rules about one contact.
CREATE INDEX journal_contact ON journal (tenant_id, contact_id, occurred_at)
	WHERE contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created');

-- Entries about addresses without a contact, to erase one: journal.Erase.
CREATE INDEX journal_address ON journal (tenant_id, (data ->> 'email'))
	WHERE type IN ('suppression_added', 'suppression_removed');

-- The position up to which each follower has processed each group. On SQLite the row of the
-- follower 'sequencer' has the last position assigned in the group.
CREATE TABLE journal_cursor (
	grp      INTEGER NOT NULL,
	follower TEXT    NOT NULL,
	pos      BIGINT  NOT NULL,
	PRIMARY KEY (grp, follower)
);

-- Package leader.

-- The process that leads. Other processes compare epoch and beat, which increase with each change
-- of the leader and with each renewal. until_at is for operators; it is never compared.
CREATE TABLE leader (
	name     TEXT   NOT NULL PRIMARY KEY,
	owner    TEXT,
	epoch    BIGINT NOT NULL,
	beat     BIGINT NOT NULL,
	until_at BIGINT NOT NULL
);

-- Exclusive rights of one process. A lease that is not renewed ends.
CREATE TABLE lease (
	name     TEXT   NOT NULL PRIMARY KEY,
	owner    TEXT   NOT NULL,
	until_at BIGINT NOT NULL
);

-- Package tenant.

-- A workspace. Deleted tenants keep their row, so that a slug is never reused.
CREATE TABLE tenant (
	tenant_id             INTEGER NOT NULL PRIMARY KEY,
	slug                  TEXT    NOT NULL,
	name                  TEXT    NOT NULL,
	status                TEXT    NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
	pause_reason          TEXT,
	contact_limit         BIGINT  CHECK (contact_limit >= 0),
	site_key              TEXT    NOT NULL,
	timezone              TEXT    NOT NULL,
	locale                TEXT    NOT NULL,
	currency_code         TEXT    NOT NULL,
	website_url           TEXT,
	logo_url              TEXT,
	postal_address        JSONB   NOT NULL,
	default_identity_id   UUID,
	default_email_type_id UUID,
	default_mta_config_id UUID,
	auto_create_on_event  BOOLEAN NOT NULL,
	tracking_enabled      BOOLEAN NOT NULL,
	utm_enabled           BOOLEAN NOT NULL,
	honeypot_links        BOOLEAN NOT NULL,
	send_window_start     TEXT    NOT NULL,
	send_window_end       TEXT    NOT NULL,
	sunset_days           BIGINT  NOT NULL,
	sunset_min_sends      BIGINT  NOT NULL,
	unsubscribe_scope     TEXT    NOT NULL CHECK (unsubscribe_scope IN ('type', 'global')),
	double_opt_in_default BOOLEAN NOT NULL,
	tracked_domains       JSONB   NOT NULL,
	created_at            BIGINT  NOT NULL,
	updated_at            BIGINT  NOT NULL
);
CREATE UNIQUE INDEX tenant_slug ON tenant (slug);
CREATE UNIQUE INDEX tenant_site_key ON tenant (site_key);

-- Package auth.

-- Users. They belong to the installation, not to a tenant.
CREATE TABLE app_user (
	id            UUID   NOT NULL PRIMARY KEY,
	email         TEXT   NOT NULL,
	name          TEXT   NOT NULL,
	password_hash TEXT,             -- null until a password is chosen
	created_at    BIGINT NOT NULL,
	last_login_at BIGINT,
	-- When the user was proven to own the address: by a link mailed to it, or because the operator
	-- created the login. NULL: not proven.
	proven_at     BIGINT
);
CREATE UNIQUE INDEX app_user_email ON app_user (email);

-- Addresses from which users signed in lately. Attempts to guess a password from other addresses
-- cannot lock the user out there.
CREATE TABLE login_address (
	user_id UUID   NOT NULL REFERENCES app_user (id),
	address TEXT   NOT NULL, -- for IPv6, the /64
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (user_id, address)
);
CREATE INDEX login_address_age ON login_address (seen_at);

-- Members of tenants, with their roles.
CREATE TABLE membership (
	tenant_id  INTEGER NOT NULL,
	user_id    UUID    NOT NULL REFERENCES app_user (id),
	role       TEXT    NOT NULL CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
	status     TEXT    NOT NULL CHECK (status IN ('invited', 'active', 'disabled')),
	created_at BIGINT  NOT NULL,
	-- The login was changed without proof after it was added to this tenant. The membership has no
	-- effect until the login is proven or the tenant adds it again.
	withheld   BOOLEAN NOT NULL DEFAULT false,
	PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX membership_user ON membership (user_id);

-- Browser sessions. Only the SHA-256 of the cookie's value is stored.
CREATE TABLE session (
	token_hash TEXT   NOT NULL PRIMARY KEY,
	id         UUID   NOT NULL,
	user_id    UUID   NOT NULL REFERENCES app_user (id),
	created_at BIGINT NOT NULL,
	seen_at    BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX session_by_id ON session (id);
CREATE INDEX session_by_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);

-- One-time links: setup, password resets, invitations.
CREATE TABLE one_time_token (
	token_hash TEXT    NOT NULL PRIMARY KEY,
	purpose    TEXT    NOT NULL CHECK (purpose IN ('setup', 'reset', 'invite')),
	user_id    UUID,
	tenant_id  INTEGER,
	created_at BIGINT  NOT NULL,
	expires_at BIGINT  NOT NULL,
	-- Whether following the link proves that the user owns the address: it was mailed there and not
	-- shown elsewhere.
	proves     BOOLEAN NOT NULL DEFAULT false
);
CREATE INDEX one_time_token_user ON one_time_token (user_id);
CREATE INDEX one_time_token_expiry ON one_time_token (expires_at);

-- API keys. Only the SHA-256 of the key is stored. lookup_id is the part of the key by which its
-- row is found. After a rotation the previous secret may remain valid for a while.
CREATE TABLE api_key (
	tenant_id       INTEGER NOT NULL,
	id              UUID    NOT NULL,
	lookup_id       TEXT    NOT NULL,
	key_hash        TEXT    NOT NULL,
	previous_hash   TEXT,
	previous_until  BIGINT,
	name            TEXT    NOT NULL,
	scopes          JSONB   NOT NULL,
	created_by_id   UUID,
	created_by_name TEXT,
	created_at      BIGINT  NOT NULL,
	expires_at      BIGINT,
	last_used_at    BIGINT,
	revoked_at      BIGINT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX api_key_lookup ON api_key (lookup_id);

-- The audit log: changes with their authors.
CREATE TABLE audit (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	actor_type  TEXT    NOT NULL,
	actor_id    TEXT    NOT NULL,
	actor_name  TEXT    NOT NULL,
	action      TEXT    NOT NULL,
	target_type TEXT    NOT NULL,
	target_id   TEXT    NOT NULL,
	ip          TEXT,
	created_at  BIGINT  NOT NULL,
	details     JSONB, -- more data, such as the addresses of a test
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_time ON audit (tenant_id, created_at, id);
CREATE INDEX audit_age ON audit (created_at);

-- Package endpoint.

-- One row per Idempotency-Key. Until the request has succeeded, status is NULL and holder
-- identifies the attempt in progress. When its lease ends, another attempt may replace it.
CREATE TABLE idempotency (
    tenant_id INTEGER   NOT NULL,
    key         TEXT   NOT NULL,
    holder      TEXT   NOT NULL,
    lease_until BIGINT NOT NULL,
    status      BIGINT,
    body        TEXT,
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX idempotency_expired ON idempotency (tenant_id, expires_at);

-- Package testmail.

-- Number of test mails that a tenant has sent in its current hour.
CREATE TABLE test_mail (
	tenant_id  INTEGER NOT NULL PRIMARY KEY,
	started_at BIGINT  NOT NULL, -- of the hour: its first test
	mails      BIGINT  NOT NULL
);

-- Package hold.

-- Its one row holds all sends, since since_at. Without it they are not held.
CREATE TABLE send_hold (
	name  TEXT   PRIMARY KEY,
	since BIGINT NOT NULL
);

-- Package pace.

-- Number of permits of a limit per day that were acquired. A process acquires several at once;
-- taken is how many the last acquisition got.
CREATE TABLE pace_day (
	name  TEXT   NOT NULL,
	day   TEXT   NOT NULL,
	used  BIGINT NOT NULL,
	taken BIGINT NOT NULL,
	PRIMARY KEY (name, day)
);
CREATE INDEX pace_day_day ON pace_day (day);

-- Package traffic.

-- Traffic of each lane for each sending domain, in buckets of 30 seconds. Kept for two days.
CREATE TABLE traffic (
	tenant_id  INTEGER NOT NULL,
	lane_id    UUID    NOT NULL,
	bucket     BIGINT  NOT NULL, -- its beginning
	domain_id  UUID    NOT NULL, -- zero if the sender is unknown
	tries      BIGINT  NOT NULL, -- attempts to connect
	unreached  BIGINT  NOT NULL, -- of these, those without a session
	delivered  BIGINT  NOT NULL,
	deferred   BIGINT  NOT NULL,
	hard       BIGINT  NOT NULL,
	block      BIGINT  NOT NULL,
	complained BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, lane_id, bucket, domain_id)
);
CREATE INDEX traffic_domain ON traffic (tenant_id, domain_id, bucket);
CREATE INDEX traffic_bucket ON traffic (bucket);

-- Package field.

-- Custom fields of a tenant's contacts. A deleted field remains until its values are erased from
-- the contacts, so that a new field with its key does not inherit them.
CREATE TABLE custom_field (
	tenant_id        INTEGER NOT NULL,
	id               UUID    NOT NULL,
	name             TEXT    NOT NULL,
	field_key        TEXT    NOT NULL,
	field_type       TEXT    NOT NULL,
	enum_values      JSONB,
	value_constraint TEXT    NOT NULL,
	currency_code    TEXT,
	default_value    JSONB,           -- {"value": …}
	created_at       BIGINT  NOT NULL,
	deleted_at       BIGINT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX custom_field_key ON custom_field (tenant_id, field_key);

-- Package contact.

CREATE TABLE contact_stage (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	name        TEXT    NOT NULL,
	slug        TEXT    NOT NULL,
	category    TEXT    NOT NULL,
	color       TEXT,
	description TEXT,
	sort_order  BIGINT  NOT NULL,
	is_default  BOOLEAN NOT NULL,
	created_at  BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX contact_stage_slug ON contact_stage (tenant_id, slug);
CREATE UNIQUE INDEX contact_stage_default ON contact_stage (tenant_id) WHERE is_default;

-- The contacts of a tenant. search_text is what the free-text search reads: names, company and
-- address, folded. Numbers come first, the widest before the others, so that PostgreSQL needs no
-- padding between them.
CREATE TABLE contact (
	created_at             BIGINT  NOT NULL,
	updated_at             BIGINT  NOT NULL,
	score_updated_at       BIGINT,
	anonymized_at          BIGINT,
	suppressed_at          BIGINT,
	unsubscribed_at        BIGINT,
	prospect_score         DOUBLE PRECISION NOT NULL,
	customer_score         DOUBLE PRECISION NOT NULL,
	tenant_id              INTEGER NOT NULL,
	do_not_contact         BOOLEAN NOT NULL,
	id                     UUID    NOT NULL,
	stage_id               UUID,
	email                  TEXT    NOT NULL,
	email_domain           TEXT    NOT NULL,
	external_id            TEXT,
	first_name             TEXT,
	last_name              TEXT,
	full_name              TEXT,
	title                  TEXT,
	company                TEXT,
	phone                  TEXT,
	website                TEXT,
	timezone               TEXT,
	address_line1          TEXT,
	address_line2          TEXT,
	city                   TEXT,
	state                  TEXT,
	postal_code            TEXT,
	country                TEXT,
	source                 TEXT,
	global_status          TEXT    NOT NULL,
	status_before_suppress TEXT,
	custom_fields          JSONB   NOT NULL,
	tags                   JSONB   NOT NULL,
	subscriptions          JSONB   NOT NULL,
	category_subscriptions JSONB   NOT NULL,
	search_text            TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, id) -- lookups, and lists and rules by created_at, whose order is that of ids
);

-- Lookups by address: each write of a contact, imports, suppressions, lists by address.
CREATE UNIQUE INDEX contact_email ON contact (tenant_id, email);

-- Lookups by the caller's own key.
CREATE UNIQUE INDEX contact_external_id ON contact (tenant_id, external_id) WHERE external_id IS NOT NULL;

-- Lists by updated_at, for programs that read changes.
CREATE INDEX contact_updated ON contact (tenant_id, updated_at, id);

-- Contacts by stage: lists, rules, and the deletion of a stage. No foreign key, which would be
-- checked for each contact (see contact.Stages and DeleteStage).
CREATE INDEX contact_stage_members ON contact (tenant_id, stage_id) WHERE stage_id IS NOT NULL;

-- Contacts that do not count toward a tenant's contact limit (contact.Billable). There are few, and
-- no new contact is one of them.
CREATE INDEX contact_unbilled ON contact (tenant_id) WHERE global_status IN ('pending', 'suppressed') OR anonymized_at IS NOT NULL;

-- Contacts whose scores may decay, longest inactive first. Most contacts have no score.
CREATE INDEX contact_score ON contact (tenant_id, COALESCE(score_updated_at, created_at), id)
	WHERE prospect_score > 0 OR customer_score > 0;

-- What each mail changes, separate from the wide row of the contact. settled_activity_at is
-- last_activity_at without activity that is not classified yet; soft_bounces is the number of soft
-- bounces since the last delivery. A contact without a row has the defaults, and the deliverability
-- of when it was created.
CREATE TABLE contact_activity (
	last_activity_at          BIGINT,
	settled_activity_at       BIGINT,
	last_email_sent_at        BIGINT,
	last_email_opened_at      BIGINT,
	last_email_clicked_at     BIGINT,
	last_page_viewed_at       BIGINT,
	total_emails_sent         BIGINT  NOT NULL DEFAULT 0,
	total_emails_opened       BIGINT  NOT NULL DEFAULT 0,
	total_emails_clicked      BIGINT  NOT NULL DEFAULT 0,
	soft_bounces              BIGINT  NOT NULL DEFAULT 0,
	soft_bounces_since        BIGINT,
	last_soft_bounce_at       BIGINT,
	deliverability_updated_at BIGINT  NOT NULL,
	tenant_id                 INTEGER NOT NULL,
	last_activity_pending     BOOLEAN NOT NULL DEFAULT FALSE,
	listed                    BOOLEAN NOT NULL DEFAULT FALSE,
	contact_id                UUID    NOT NULL,
	bounce_type               TEXT,
	deliverability_status     TEXT    NOT NULL DEFAULT 'healthy',
	deliverability_reason     TEXT,
	-- Where a contact first and last came from: {"first_touch_source": …}, with times in
	-- microseconds. NULL: unknown.
	touch                     JSONB,
	PRIMARY KEY (tenant_id, contact_id) -- WITHOUT ROWID
);

-- One row per tenant with a contact limit: transactions that create contacts lock it, so that two
-- at once cannot exceed the limit.
CREATE TABLE contact_turn (
	tenant_id INTEGER NOT NULL PRIMARY KEY
);

-- The secret with which a tenant's site signs the identity of its visitors, and the previous one
-- while it is valid.
CREATE TABLE identity_secret (
	tenant_id      INTEGER NOT NULL PRIMARY KEY,
	secret         TEXT    NOT NULL, -- sealed
	created_at     BIGINT  NOT NULL,
	previous       TEXT,            -- sealed
	previous_until BIGINT
);

-- Mail servers of domains, from the DNS: public data, and therefore stored once for all tenants.
-- checked_at is null until the first answer; the next lookup is at next_at. tries counts lookups
-- without an answer.
CREATE TABLE mail_domain (
	domain        TEXT   NOT NULL PRIMARY KEY,
	mx_record     TEXT,
	smtp_provider TEXT,
	checked_at    BIGINT,
	next_at       BIGINT NOT NULL,
	tries         BIGINT NOT NULL
);
CREATE INDEX mail_domain_next ON mail_domain (next_at);

-- The index of the free-text search of contacts. Contacts whose search_text was written wait
-- here until they are indexed (contactsearch.Enqueue). Many new contacts of one transaction may
-- wait as a row of contact_search_range instead (contactsearch.EnqueueNew).
CREATE TABLE contact_search_queue (
	tenant_id   INTEGER NOT NULL,
	contact_id  UUID    NOT NULL,
	search_text TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, contact_id) -- WITHOUT ROWID
);

-- New contacts of one transaction: their lowest and highest id.
CREATE TABLE contact_search_range (
	tenant_id INTEGER NOT NULL,
	first_id  UUID    NOT NULL,
	last_id   UUID    NOT NULL,
	contacts  BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, first_id)
);

-- A segment is some thousand contacts, numbered from 0. A bucket contains, for each gram (one
-- to three letters) with this hash, the numbers of the contacts that contain it. Empty buckets
-- have no row.
CREATE TABLE contact_search_postings (
	tenant_id INTEGER NOT NULL,
	bucket    BIGINT  NOT NULL,
	segment   BIGINT  NOT NULL,
	postings  BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, bucket, segment)
);

-- The ids of a segment's contacts in the order of their numbers, 16 ids of 16 bytes in a row.
CREATE TABLE contact_search_block (
	tenant_id INTEGER NOT NULL,
	segment   BIGINT  NOT NULL,
	block     BIGINT  NOT NULL,
	contacts  BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, segment, block)
);

-- Tenants whose index is being rebuilt because most of its entries are outdated. All contacts
-- up to after_id are queued already; when all are, the segments up to through_segment are
-- deleted.
CREATE TABLE contact_search_rebuild (
	tenant_id       INTEGER NOT NULL PRIMARY KEY,
	through_segment BIGINT  NOT NULL,
	after_id        UUID    NOT NULL
);

-- Anonymised contacts that are to be removed from the index.
CREATE TABLE contact_search_removed (
	tenant_id  INTEGER NOT NULL,
	contact_id UUID    NOT NULL,
	PRIMARY KEY (tenant_id, contact_id)
);

-- Package suppression.

-- Addresses that a tenant must never mail.
CREATE TABLE suppression (
	tenant_id  INTEGER NOT NULL,
	email      TEXT    NOT NULL,
	reason     TEXT,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, email)
);
CREATE INDEX suppression_created ON suppression (tenant_id, created_at, email);

-- Package score.

-- The scoring rules of a tenant; a tenant without a row has the default rules.
CREATE TABLE score_settings (
	tenant_id  INTEGER NOT NULL PRIMARY KEY,
	settings   JSONB   NOT NULL,
	updated_at BIGINT  NOT NULL
);

-- How often a rule with a daily limit has scored for a contact on a day of the tenant, counted from
-- 1970-01-01.
CREATE TABLE score_day (
	tenant_id  INTEGER NOT NULL,
	contact_id UUID    NOT NULL,
	rule_id    TEXT    NOT NULL,
	day        BIGINT  NOT NULL,
	n          BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, contact_id, rule_id, day)
);
CREATE INDEX score_day_age ON score_day (day);

-- Package lane.

-- The lanes of a tenant, called MTA configs in the API.
CREATE TABLE mta_config (
	tenant_id           INTEGER NOT NULL,
	id                  UUID    NOT NULL,
	key                 TEXT    NOT NULL,
	name                TEXT    NOT NULL,
	type                TEXT    NOT NULL,
	active              BOOLEAN NOT NULL,
	settings            JSONB   NOT NULL,
	password            TEXT, -- sealed
	caps                JSONB   NOT NULL,
	retry_max_age_hours BIGINT  NOT NULL,
	created_at          BIGINT  NOT NULL,
	-- Limits of the lane for each provider or domain, and its warm-up ('{}': none). The limits of
	-- the lane itself are in the column caps.
	throttles           JSONB   NOT NULL DEFAULT '[]',
	warmup              JSONB   NOT NULL DEFAULT '{}',
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX mta_config_key ON mta_config (tenant_id, key);

-- The health of a lane. A lane without a row has always been healthy.
CREATE TABLE mta_health (
	tenant_id     INTEGER NOT NULL,
	mta_config_id UUID    NOT NULL,
	state         TEXT    NOT NULL, -- healthy, degraded, down
	since         BIGINT  NOT NULL,
	last_error    TEXT,
	probed_at     BIGINT,
	PRIMARY KEY (tenant_id, mta_config_id),
	FOREIGN KEY (tenant_id, mta_config_id) REFERENCES mta_config (tenant_id, id) ON DELETE CASCADE
);

-- Package sender.

-- Groups of email types from which a contact unsubscribes together.
CREATE TABLE email_category (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	name        TEXT    NOT NULL,
	description TEXT,
	sort_order  BIGINT  NOT NULL,
	created_at  BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- The kinds of mail from which a contact can unsubscribe.
CREATE TABLE email_type (
	tenant_id           INTEGER NOT NULL,
	id                  UUID    NOT NULL,
	type_key            TEXT    NOT NULL,
	display_name        TEXT    NOT NULL,
	description         TEXT,
	utm_campaign_prefix TEXT,
	category_id         UUID,
	sort_order          BIGINT  NOT NULL,
	active              BOOLEAN NOT NULL,
	list_id_enabled     BOOLEAN NOT NULL,
	list_key            TEXT,
	created_at          BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id),
	FOREIGN KEY (tenant_id, category_id) REFERENCES email_category (tenant_id, id)
);
CREATE UNIQUE INDEX email_type_key ON email_type (tenant_id, type_key);
CREATE INDEX email_type_category ON email_type (tenant_id, category_id);

-- The domains that a tenant sends from.
CREATE TABLE sending_domain (
	tenant_id        INTEGER NOT NULL,
	id               UUID    NOT NULL,
	domain           TEXT    NOT NULL,
	status           TEXT    NOT NULL,
	dkim_selector    TEXT    NOT NULL,
	dkim_key         TEXT    NOT NULL, -- PKCS #8, sealed
	dkim_record      TEXT    NOT NULL, -- the DNS record for the tenant to publish
	return_path_host TEXT    NOT NULL,
	tracking_host    TEXT    NOT NULL, -- may have a port if the operator set it
	tracking_status  TEXT    NOT NULL,
	dmarc_policy     TEXT,
	paused           BOOLEAN NOT NULL,
	pause_reason     TEXT,
	verified_by      TEXT,
	verified_at      BIGINT,
	last_checked_at  BIGINT,
	created_at       BIGINT  NOT NULL,
	judged_from      BIGINT, -- results before the last resume do not count
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX sending_domain_name ON sending_domain (tenant_id, domain);

-- The addresses that a tenant sends from.
CREATE TABLE sending_identity (
	tenant_id              INTEGER NOT NULL,
	id                     UUID    NOT NULL,
	email_address          TEXT    NOT NULL,
	display_name           TEXT    NOT NULL,
	reply_to               TEXT,
	sending_domain_id      UUID    NOT NULL,
	content_rewrite_domain TEXT,
	utm_code               TEXT,
	default_mta_config_id  UUID,
	active                 BOOLEAN NOT NULL,
	created_at             BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id),
	FOREIGN KEY (tenant_id, sending_domain_id) REFERENCES sending_domain (tenant_id, id),
	FOREIGN KEY (tenant_id, default_mta_config_id) REFERENCES mta_config (tenant_id, id)
);
CREATE UNIQUE INDEX sending_identity_address ON sending_identity (tenant_id, email_address);
CREATE INDEX sending_identity_domain ON sending_identity (tenant_id, sending_domain_id);
CREATE INDEX sending_identity_lane ON sending_identity (tenant_id, default_mta_config_id);

-- The email types that an identity may be used for.
CREATE TABLE identity_email_type (
	tenant_id     INTEGER NOT NULL,
	email_type_id UUID    NOT NULL,
	identity_id   UUID    NOT NULL,
	PRIMARY KEY (tenant_id, email_type_id, identity_id),
	FOREIGN KEY (tenant_id, identity_id) REFERENCES sending_identity (tenant_id, id) ON DELETE CASCADE,
	FOREIGN KEY (tenant_id, email_type_id) REFERENCES email_type (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX identity_email_type_identity ON identity_email_type (tenant_id, identity_id);

-- The lanes that accepted a test mail from an identity.
CREATE TABLE identity_lane (
	tenant_id     INTEGER NOT NULL,
	identity_id   UUID    NOT NULL,
	mta_config_id UUID    NOT NULL,
	verified_at   BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, identity_id, mta_config_id),
	FOREIGN KEY (tenant_id, identity_id) REFERENCES sending_identity (tenant_id, id) ON DELETE CASCADE,
	FOREIGN KEY (tenant_id, mta_config_id) REFERENCES mta_config (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX identity_lane_config ON identity_lane (tenant_id, mta_config_id);

-- Package content.

-- Frozen contents of messages. A row never changes.
CREATE TABLE content (
	tenant_id  INTEGER NOT NULL,
	id         UUID    NOT NULL,
	send_id  UUID    NOT NULL,
	subject    TEXT    NOT NULL,
	preheader  TEXT    NOT NULL,
	from_name  TEXT    NOT NULL,
	reply_to   TEXT    NOT NULL,
	html       TEXT    NOT NULL,
	text       TEXT    NOT NULL,
	tracking   BOOLEAN NOT NULL,
	context    JSONB   NOT NULL,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX content_send ON content (tenant_id, send_id);

-- The links of a content, with the numbers that tokens in its mails use.
CREATE TABLE content_link (
	tenant_id  INTEGER NOT NULL,
	content_id UUID    NOT NULL,
	idx        BIGINT  NOT NULL,
	url        TEXT    NOT NULL,
	label      TEXT    NOT NULL,
	dynamic    BOOLEAN NOT NULL,
	PRIMARY KEY (tenant_id, content_id, idx),
	FOREIGN KEY (tenant_id, content_id) REFERENCES content (tenant_id, id) ON DELETE CASCADE
);

-- Package template.

-- Templates and blocks. Schemas are JSON that is not searched, stored as text so that their keys
-- stay in the order in which they are shown. Bodies come last, so that reading the other columns
-- need not skip them.
CREATE TABLE template (
	tenant_id    INTEGER NOT NULL,
	id           UUID    NOT NULL,
	slug         TEXT    NOT NULL,
	name         TEXT    NOT NULL,
	subject      TEXT,
	format       TEXT    NOT NULL CHECK (format IN ('html', 'mjml')),
	inline_css   BOOLEAN NOT NULL,
	parameters   TEXT    NOT NULL,
	sections     TEXT    NOT NULL,
	slots        TEXT    NOT NULL,
	groups       TEXT    NOT NULL,
	expects      TEXT    NOT NULL,
	counts       JSONB   NOT NULL,
	tags         JSONB   NOT NULL,
	created_at   BIGINT  NOT NULL,
	updated_at   BIGINT  NOT NULL,
	content_html TEXT    NOT NULL,
	content_mjml TEXT,
	content_text TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX template_slug ON template (tenant_id, slug);

CREATE TABLE block (
	tenant_id    INTEGER NOT NULL,
	id           UUID    NOT NULL,
	slug         TEXT    NOT NULL,
	name         TEXT    NOT NULL,
	active       BOOLEAN NOT NULL,
	parameters   TEXT    NOT NULL,
	sections     TEXT    NOT NULL,
	groups       TEXT    NOT NULL,
	tags         JSONB   NOT NULL,
	slot_keys    JSONB   NOT NULL,
	created_at   BIGINT  NOT NULL,
	updated_at   BIGINT  NOT NULL,
	content_html TEXT,
	content_mjml TEXT,
	content_text TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX block_slug ON block (tenant_id, slug);

-- Package library.

-- The library: entries, and the content of each version, which never changes.
CREATE TABLE library_entry (
	tenant_id       INTEGER NOT NULL,
	id              UUID    NOT NULL,
	slug            TEXT    NOT NULL,
	name            TEXT    NOT NULL,
	status          TEXT    NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
	tags            JSONB   NOT NULL,
	current_version BIGINT  NOT NULL,
	created_at      BIGINT  NOT NULL,
	updated_at      BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX library_entry_slug ON library_entry (tenant_id, slug);
CREATE INDEX library_entry_newest ON library_entry (tenant_id, updated_at DESC, id);

CREATE TABLE library_version (
	tenant_id  INTEGER NOT NULL,
	entry_id   UUID    NOT NULL,
	version    BIGINT  NOT NULL,
	id         UUID    NOT NULL,
	content    TEXT    NOT NULL,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, entry_id, version),
	FOREIGN KEY (tenant_id, entry_id) REFERENCES library_entry (tenant_id, id) ON DELETE CASCADE
);

-- Package mailbox.

-- Messages accepted by MTA configs of type sink.
CREATE TABLE sink_message (
	tenant_id     INTEGER NOT NULL,
	id            UUID    NOT NULL,
	mta_config_id UUID    NOT NULL,
	mail_from     TEXT    NOT NULL, -- envelope
	rcpt_to       TEXT    NOT NULL, -- envelope
	author        TEXT    NOT NULL, -- the From header, decoded
	subject       TEXT    NOT NULL, -- decoded
	folded        TEXT    NOT NULL, -- lower case, for searches
	size          BIGINT  NOT NULL,
	raw           BYTEA   NOT NULL,
	received_at   BIGINT  NOT NULL,
	send_id     UUID    NOT NULL,
	read_at       BIGINT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX sink_message_config ON sink_message (tenant_id, mta_config_id, received_at, id);
CREATE INDEX sink_message_newest ON sink_message (tenant_id, received_at, id);
CREATE INDEX sink_message_send ON sink_message (tenant_id, send_id, received_at, read_at);

-- Package outbox.

-- A send: the messages of one source such as a broadcast, with their phase and sums.
CREATE TABLE send (
	tenant_id     INTEGER NOT NULL,
	id            UUID    NOT NULL,
	source_kind   TEXT    NOT NULL,
	source_id     UUID    NOT NULL,
	phase         TEXT    NOT NULL CHECK (phase IN ('held', 'open', 'paused', 'cancelled', 'done')),
	sealed        BOOLEAN NOT NULL DEFAULT FALSE,
	opened_at     BIGINT  NOT NULL,
	last_send_at  BIGINT,
	total         BIGINT  NOT NULL DEFAULT 0,
	waiting       BIGINT  NOT NULL DEFAULT 0,
	deferred      BIGINT  NOT NULL DEFAULT 0,
	sent          BIGINT  NOT NULL DEFAULT 0,
	delivered     BIGINT  NOT NULL DEFAULT 0,
	bounced       BIGINT  NOT NULL DEFAULT 0,
	failed        BIGINT  NOT NULL DEFAULT 0,
	skipped       BIGINT  NOT NULL DEFAULT 0,
	held_back     BIGINT  NOT NULL DEFAULT 0,
	cancelled     BIGINT  NOT NULL DEFAULT 0,
	email_type_id UUID, -- the type of the send's mails
	low_due       BIGINT  NOT NULL DEFAULT 0, -- no message waits before (low_due, low_id) in the order of claims
	low_id        UUID,
	low_turn      INTEGER NOT NULL DEFAULT 0, -- increases when a message may have begun to wait before it
	PRIMARY KEY (tenant_id, id)
);
-- The sends of a broadcast, or of the steps of a sequence.
CREATE INDEX send_source ON send (tenant_id, source_kind, source_id);

-- Sends with work: open ones with waiting messages, and cancelled ones with messages left to
-- cancel. Engines read only these, so open sends without messages cost nothing (outbox/ready.go).
CREATE TABLE send_ready (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);

-- The routes and the rate of a send (outbox.Terms), separate from its sums, which each batch of
-- results changes.
CREATE TABLE send_terms (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	document  JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);

-- All messages, waiting or finished. What a result changes (state, sent_at, attempts …) is in no
-- index and in no index's condition: on PostgreSQL a result is then a new version in the table
-- alone (a HOT update). The order of columns leaves no gaps between them.
CREATE TABLE outbox (
	due_at     BIGINT   NOT NULL,
	queued_at  BIGINT, -- when it was first due; NULL: due_at has not changed since
	sent_at    BIGINT, -- when it was accepted, or refused for the address
	first_at   BIGINT, -- time of the first attempt, repeated as Date by later ones
	tenant_id  INTEGER  NOT NULL,
	-- number of the contact's visit of a step; 0 in sends with one message per contact
	visit      INTEGER  NOT NULL DEFAULT 0,
	mix        INTEGER  NOT NULL, -- outbox_mix.n
	epoch      INTEGER  NOT NULL DEFAULT 0,
	attempts   SMALLINT NOT NULL DEFAULT 0,
	uncertain  SMALLINT NOT NULL DEFAULT 0,
	deferred   BOOLEAN  NOT NULL DEFAULT FALSE,
	answered   BOOLEAN  NOT NULL DEFAULT FALSE,
	id         UUID     NOT NULL,
	send_id    UUID     NOT NULL,
	contact_id UUID     NOT NULL,
	lane_id    UUID     NOT NULL,
	state      TEXT     NOT NULL CHECK (state IN ('queued', 'sent', 'delivered', 'bounced', 'failed', 'skipped', 'held_back', 'cancelled')),
	email      TEXT     NOT NULL,
	rank       TEXT, -- of a planned send: position in the order, best engaged first
	plan_day   TEXT, -- of a planned send: its day in the tenant's time zone
	PRIMARY KEY (tenant_id, id) -- lookups for results, hits and complaints
);

-- One message per contact and visit (Put); a send's recipients page by page (List, AssignDueTimes).
CREATE UNIQUE INDEX outbox_contact ON outbox (tenant_id, send_id, contact_id, visit);

-- The order in which the messages of a send are claimed (ClaimAfter, CancelWaiting). Messages that
-- have ended stay in it; no message before send.low_due waits.
CREATE INDEX outbox_due ON outbox (tenant_id, send_id, due_at, id);

-- A contact's mails: its timeline, rules, its deletion.
CREATE INDEX outbox_recipient ON outbox (tenant_id, contact_id);

-- The order of a planned send by lane (Boundaries). Messages of other sends are not in it.
CREATE INDEX outbox_rank ON outbox (tenant_id, send_id, lane_id, rank, id) WHERE rank IS NOT NULL;

-- Contents and identities that many messages of a send have in common. A row never changes.
CREATE TABLE outbox_mix (
	tenant_id       INTEGER NOT NULL,
	send_id         UUID    NOT NULL,
	n               INTEGER NOT NULL,
	content_id      UUID    NOT NULL,
	content_version INTEGER NOT NULL,
	variant_id      TEXT,
	identity_id     UUID    NOT NULL,
	PRIMARY KEY (tenant_id, send_id, n)
);

-- Results of messages that were not delivered or were deferred, which are few; lists of only these
-- read no others (List).
CREATE TABLE outbox_note (
	tenant_id     INTEGER NOT NULL,
	send_id       UUID    NOT NULL,
	contact_id    UUID    NOT NULL,
	message_id    UUID    NOT NULL,
	state         TEXT    NOT NULL CHECK (state IN ('queued', 'bounced', 'failed', 'skipped', 'held_back', 'cancelled')),
	ended_at      BIGINT, -- NULL: it waits, or was cancelled
	smtp_code     INTEGER,
	bounce_type   TEXT,
	skip_reason   TEXT,
	category      TEXT,
	enhanced_code TEXT,
	error         TEXT,
	PRIMARY KEY (tenant_id, message_id)
);

-- Notes of a send page by page (List).
CREATE INDEX outbox_note_send ON outbox_note (tenant_id, send_id, contact_id);

-- Bounces by time, for rules about contacts that bounced.
CREATE INDEX outbox_note_bounced ON outbox_note (tenant_id, ended_at, contact_id, send_id) WHERE state = 'bounced';

-- The nodes with claims. A node that does not renew its lease is dead, and its claims are taken
-- back.
CREATE TABLE outbox_node (
	owner    TEXT   NOT NULL PRIMARY KEY,
	until_at BIGINT NOT NULL
);

-- A node claims a stretch of a send's order (due_at, id), which is one row here instead of a new
-- version of each message. If some of a claim's messages are put back, the claim gets a row for
-- each of the others.
CREATE TABLE outbox_claim (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	id        UUID    NOT NULL,
	owner     TEXT    NOT NULL,
	from_due  BIGINT  NOT NULL,
	from_id   UUID    NOT NULL,
	to_due    BIGINT  NOT NULL,
	to_id     UUID    NOT NULL,
	PRIMARY KEY (tenant_id, send_id, id, from_id)
);
CREATE INDEX outbox_claim_owner ON outbox_claim (owner);

-- A node locks the row of a send here while it claims, so that claims never overlap. The row is
-- separate from the send's, which changes with every result.
CREATE TABLE outbox_turn (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	claims    BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);

-- Attempts that have begun: one row for those of a claim that began together. Rows are deleted some
-- time after all of their attempts are settled.
CREATE TABLE outbox_attempt (
	tenant_id INTEGER NOT NULL,
	owner     TEXT    NOT NULL,
	seq       BIGINT  NOT NULL,
	send_id   UUID    NOT NULL,
	begun_at  BIGINT  NOT NULL,
	messages  BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, owner, seq)
);

-- Messages of a planned send by day and lane: planned, and sent.
CREATE TABLE outbox_day (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	lane_id   UUID    NOT NULL,
	day       TEXT    NOT NULL,
	planned   BIGINT  NOT NULL,
	sent      BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, lane_id, day)
);
CREATE INDEX outbox_day_lane ON outbox_day (tenant_id, lane_id, day);

-- The slots of a send that is being planned: the messages of a lane after a boundary (rank, id), up
-- to the boundary of the next slot, are due at due_at. Those of a slot without a day are held back.
-- The rows are deleted when planning ends.
CREATE TABLE outbox_slot (
	tenant_id  INTEGER NOT NULL,
	send_id  UUID    NOT NULL,
	lane_id    UUID    NOT NULL,
	after_rank TEXT    NOT NULL,
	after_id   UUID    NOT NULL,
	due_at     BIGINT  NOT NULL,
	day        TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, send_id, lane_id, after_rank, after_id)
);

-- Number of sent messages of each open send, every ten seconds of the last minutes, from which its
-- speed is computed.
CREATE TABLE outbox_sample (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	slot      BIGINT  NOT NULL, -- the interval of ten seconds; the first process inserts the row
	at        BIGINT  NOT NULL,
	sent      BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, send_id, slot)
);
CREATE INDEX outbox_sample_slot ON outbox_sample (slot);

-- The last reason why due messages of a send were not sent.
CREATE TABLE outbox_wait (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	at        BIGINT  NOT NULL,
	kind      TEXT    NOT NULL,
	lane_id   UUID    NOT NULL,
	provider  TEXT    NOT NULL, -- '': none
	most      BIGINT  NOT NULL, -- messages of a rate; 0: not a rate
	per       BIGINT  NOT NULL, -- microseconds
	until     BIGINT  NOT NULL,
	reason    TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);
CREATE INDEX outbox_wait_at ON outbox_wait (at);

-- Package track.

-- Opens and clicks as received, up to some hundreds of a tenant in a row (track.pack), until they
-- are recorded as rows of hit. n is their number.
CREATE TABLE hit_inbox (
	tenant_id INTEGER NOT NULL,
	id        UUID    NOT NULL,
	n         INTEGER NOT NULL,
	hits      BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- Opens and clicks, and their classification. A pending open is in five b-trees, a click in six; a
-- verdict removes it from one.
CREATE TABLE hit (
	tenant_id     INTEGER NOT NULL,
	message_id    UUID    NOT NULL,
	-- The second, and a hash of the request: the same request within a second has the same id.
	id            UUID    NOT NULL,
	send_id       UUID    NOT NULL,
	contact_id    UUID    NOT NULL,
	kind          TEXT    NOT NULL CHECK (kind IN ('open', 'click')),
	link          INTEGER,
	url           TEXT,
	at            BIGINT  NOT NULL,
	since_sent    BIGINT,
	method        TEXT    NOT NULL,
	agent         TEXT    NOT NULL,
	ip            TEXT    NOT NULL,
	prefetch      BOOLEAN NOT NULL,
	class         TEXT    NOT NULL CHECK (class IN ('pending', 'bot', 'privacy', 'human')),
	rule          TEXT,
	-- Whether the request came from a mailbox provider's image proxy, which has the same address
	-- for many recipients: then the address means nothing.
	proxy         BOOLEAN NOT NULL DEFAULT FALSE,
	-- Detects repeated requests; all hits of a message, for their classification and its first open
	-- and click.
	PRIMARY KEY (tenant_id, message_id, id)
);
-- The clicks of a send by link: reports, rules about a link.
CREATE INDEX hit_clicks ON hit (tenant_id, send_id, url) WHERE kind = 'click';
-- Rules: contacts that opened or clicked between two times.
CREATE INDEX hit_when ON hit (tenant_id, kind, at);
-- A contact's timeline, export and erasure; rules about one contact.
CREATE INDEX hit_contact ON hit (tenant_id, contact_id, at);
-- Number of messages of a send that an address requests within a minute.
CREATE INDEX hit_source ON hit (tenant_id, send_id, ip, at) WHERE NOT proxy;
-- Those that a later hit may still show to be a machine's.
CREATE INDEX hit_settled ON hit (tenant_id, send_id, ip, at) WHERE class IN ('human', 'privacy') AND NOT proxy;
-- Hits to classify, oldest first, of all tenants.
CREATE INDEX hit_pending ON hit (at) WHERE class = 'pending';

-- The engagement of one recipient with one message: flags derived from its hits, stored so that the
-- sums can follow their changes.
CREATE TABLE engagement (
	tenant_id  INTEGER NOT NULL,
	message_id UUID    NOT NULL,
	send_id    UUID    NOT NULL,
	flags      INTEGER NOT NULL,
	hits       INTEGER NOT NULL DEFAULT 0, -- number of stored hits
	-- The flags added by the hits recorded last, which the statement that records them returns.
	gained     INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, message_id)
);

-- The sums of the flags of a send, by unique recipients. A send has several rows, which are added
-- up, so that transactions rarely wait for each other.
CREATE TABLE engagement_sum (
	tenant_id       INTEGER NOT NULL,
	send_id         UUID    NOT NULL,
	part            INTEGER NOT NULL,
	apparent_opened BIGINT  NOT NULL DEFAULT 0,
	verified_opened BIGINT  NOT NULL DEFAULT 0,
	human_opened    BIGINT  NOT NULL DEFAULT 0,
	confirmed       BIGINT  NOT NULL DEFAULT 0,
	bot_opened      BIGINT  NOT NULL DEFAULT 0,
	pending_opened  BIGINT  NOT NULL DEFAULT 0,
	human_clicked   BIGINT  NOT NULL DEFAULT 0,
	bot_clicked     BIGINT  NOT NULL DEFAULT 0,
	pending_clicked BIGINT  NOT NULL DEFAULT 0,
	unsubscribed    BIGINT  NOT NULL DEFAULT 0,
	complained      BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, part)
);

-- When the classifier last processed pending hits.
CREATE TABLE classifier_run (
	name   TEXT   NOT NULL PRIMARY KEY,
	run_at BIGINT NOT NULL
);

-- Package segment.

CREATE TABLE segment (
	tenant_id                 INTEGER NOT NULL,
	id                        UUID    NOT NULL,
	segment_key               TEXT    NOT NULL,
	name                      TEXT    NOT NULL,
	type                      TEXT    NOT NULL,
	definition                JSONB,
	tags                      JSONB   NOT NULL,
	system_key                TEXT,
	member_count              BIGINT,
	member_count_total        BIGINT,
	member_count_evaluated_at BIGINT,
	created_at                BIGINT  NOT NULL,
	updated_at                BIGINT  NOT NULL,
	-- Number of the segment's definition, so that a count of an older one is not stored.
	rule_revision             BIGINT  NOT NULL DEFAULT 0,
	-- End of the lease of a process that counts it in the background.
	counting_until            BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX segment_key ON segment (tenant_id, segment_key);

-- Members of static lists.
CREATE TABLE segment_member (
	tenant_id  INTEGER NOT NULL,
	segment_id UUID    NOT NULL,
	contact_id UUID    NOT NULL,
	added_at   BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, segment_id, contact_id), -- WITHOUT ROWID
	FOREIGN KEY (tenant_id, segment_id) REFERENCES segment (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX segment_member_added ON segment_member (tenant_id, segment_id, added_at, contact_id);
CREATE INDEX segment_member_contact ON segment_member (tenant_id, contact_id);

-- References of a segment's rule: other segments and lists, custom fields.
CREATE TABLE segment_reference (
	tenant_id  INTEGER NOT NULL,
	segment_id UUID    NOT NULL,
	kind       TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, segment_id, kind, name),
	FOREIGN KEY (tenant_id, segment_id) REFERENCES segment (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX segment_reference_name ON segment_reference (tenant_id, kind, name);

-- One row per tenant, locked by transactions that change references of segments, so that two at
-- once cannot create a cycle or refer to what the other deletes.
CREATE TABLE segment_turn (
	tenant_id INTEGER NOT NULL PRIMARY KEY
);

-- Package savedfilter.

-- Users' views of contacts: filters, order and columns.
CREATE TABLE saved_filter (
	tenant_id  INTEGER NOT NULL,
	id         UUID    NOT NULL,
	name       TEXT    NOT NULL,
	filters    JSONB   NOT NULL,
	definition JSONB,
	search     TEXT,
	statuses   JSONB   NOT NULL, -- []: all except suppressed
	sort       TEXT    NOT NULL,
	ascending  BOOLEAN NOT NULL,
	columns    JSONB   NOT NULL,
	shared     BOOLEAN NOT NULL,
	created_by UUID, -- a user; null: an API key
	created_at BIGINT  NOT NULL,
	updated_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- Package broadcast.

-- One mailing to an audience, from draft to its end. revision counts the writes, so that a decision
-- is stored only if the row has not changed since it was read. References to segments, senders,
-- lanes and email types have no foreign keys: a record that was deleted later is null in the API.
CREATE TABLE broadcast (
	tenant_id           INTEGER NOT NULL,
	id                  UUID    NOT NULL,
	send_id             UUID    NOT NULL,
	revision            BIGINT  NOT NULL,
	name                TEXT    NOT NULL,
	status              TEXT    NOT NULL CHECK (status IN ('draft', 'scheduled', 'sending', 'paused', 'completed', 'failed', 'cancelled')),
	kind                TEXT    NOT NULL CHECK (kind IN ('regular', 'triggered')),
	subject             TEXT,
	preheader           TEXT,
	from_name           TEXT,
	reply_to            TEXT,
	body_html           TEXT,
	body_text           TEXT,
	content_version     BIGINT  NOT NULL,
	email_type_id       UUID,
	mta_config_id       UUID,
	include_segments    JSONB   NOT NULL,
	exclude_segments    JSONB   NOT NULL,
	identities          JSONB,
	tags                JSONB   NOT NULL,
	metadata            JSONB   NOT NULL,
	scheduled_at        BIGINT,
	tracking            BOOLEAN NOT NULL,
	pause_reason        TEXT    CHECK (pause_reason IN ('user', 'capacity_collapsed', 'domain_paused', 'tenant_paused')),
	archived_at         BIGINT,
	dispatch_started_at BIGINT,
	completed_at        BIGINT,
	failure             JSONB,
	created_by          JSONB   NOT NULL,
	created_at          BIGINT  NOT NULL,
	updated_at          BIGINT  NOT NULL,
	-- What a broadcast's content was made of. The template and the blocks may have been deleted
	-- since, so there are no foreign keys.
	body_mjml           TEXT,
	template_id         UUID,
	template_slug       TEXT,
	template_binding    TEXT,
	template_snapshot   TEXT,
	authored_subject    TEXT,
	template_params     TEXT,
	block_ids           JSONB,
	message_id          UUID,
	message_version     BIGINT,
	-- The variants of a broadcast with their frozen contents. Their data without the bodies are
	-- separate, for reads that do not need these.
	arms                JSONB,
	variants            TEXT,
	delivery            JSONB   NOT NULL DEFAULT '{}', -- '{}': at once, by one lane
	PRIMARY KEY (tenant_id, id),
	CHECK ((pause_reason IS NOT NULL) = (status = 'paused')),
	CHECK (archived_at IS NULL OR status IN ('completed', 'failed', 'cancelled'))
);
CREATE UNIQUE INDEX broadcast_send ON broadcast (tenant_id, send_id);
CREATE INDEX broadcast_newest ON broadcast (tenant_id, created_at DESC, id DESC);
CREATE INDEX broadcast_due ON broadcast (scheduled_at) WHERE status = 'scheduled';

-- Broadcasts that refer to other records, for statements about all tenants.
CREATE INDEX broadcast_unfinished ON broadcast (tenant_id, id) WHERE status IN ('draft', 'scheduled', 'sending', 'paused');
CREATE INDEX broadcast_template ON broadcast (tenant_id, template_id) WHERE template_id IS NOT NULL;
CREATE INDEX broadcast_message ON broadcast (tenant_id, message_id) WHERE message_id IS NOT NULL;

-- The preparation and the end of one send, separate from the broadcast, whose row contains the
-- bodies, because it changes with every page of the audience.
CREATE TABLE broadcast_run (
	tenant_id     INTEGER NOT NULL,
	broadcast_id  UUID    NOT NULL,
	send_id       UUID   NOT NULL,
	after_contact UUID    NOT NULL,
	excluded      JSONB   NOT NULL,
	prepared_at   BIGINT,
	ended_at      BIGINT,
	owner         TEXT    NOT NULL,
	lease_until   BIGINT  NOT NULL,
	epoch         BIGINT  NOT NULL,
	contents      JSONB   NOT NULL, -- by variant
	-- The state of planning the days of a send. NULL: not planned.
	plan          JSONB,
	PRIMARY KEY (tenant_id, broadcast_id),
	FOREIGN KEY (tenant_id, broadcast_id) REFERENCES broadcast (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX broadcast_run_open ON broadcast_run (tenant_id, broadcast_id) WHERE ended_at IS NULL;

-- Package job.

-- Long work: imports, exports, bulk actions. The process with the lease, identified by its epoch,
-- runs the next step. The effects of a step, its counts and its checkpoint commit together. The
-- jobs of a tenant and kind run one after another, which the index job_turn ensures.
CREATE TABLE job (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	kind        TEXT    NOT NULL,
	status      TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
	scope       TEXT    NOT NULL, -- required to see the job
	params      JSONB   NOT NULL,
	state       JSONB,           -- the checkpoint; null before the first step
	result      JSONB,
	error       JSONB,
	processed   BIGINT  NOT NULL,
	total       BIGINT,          -- NULL: not known yet
	created_by  JSONB   NOT NULL,
	created_at  BIGINT  NOT NULL,
	served_at   BIGINT  NOT NULL, -- when it was last leased; 0 before
	finished_at BIGINT,
	owner       TEXT    NOT NULL,
	lease_until BIGINT  NOT NULL,
	epoch       BIGINT  NOT NULL, -- of the lease
	tries       BIGINT  NOT NULL, -- leases since the last step
	PRIMARY KEY (tenant_id, id),
	CHECK ((finished_at IS NULL) = (status IN ('queued', 'running')))
);
CREATE UNIQUE INDEX job_turn ON job (tenant_id, kind) WHERE status = 'running';
CREATE INDEX job_open ON job (status, lease_until, tenant_id) WHERE status IN ('queued', 'running');
CREATE INDEX job_served ON job (tenant_id, served_at);
CREATE INDEX job_finished ON job (finished_at) WHERE finished_at IS NOT NULL;

-- Files that jobs read and write, in the database, so that any process can.
CREATE TABLE job_file (
	tenant_id  INTEGER NOT NULL,
	id         UUID    NOT NULL,
	job_id     UUID,            -- null: an upload in progress
	name       TEXT    NOT NULL, -- its role in the job
	media_type TEXT    NOT NULL,
	size       BIGINT  NOT NULL,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX job_file_part ON job_file (tenant_id, job_id, name) WHERE job_id IS NOT NULL;
CREATE INDEX job_file_stray ON job_file (created_at) WHERE job_id IS NULL;

CREATE TABLE job_file_chunk (
	tenant_id INTEGER NOT NULL,
	file_id   UUID    NOT NULL,
	at        BIGINT  NOT NULL, -- offset in the file
	data      BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, file_id, at)
);

-- Package sqldb.

-- The fingerprint of the installation's secret key, so that a process with another key does not
-- start: it could open no sealed values, and no link would be valid.
CREATE TABLE secret_key (
	name        TEXT NOT NULL PRIMARY KEY,
	fingerprint TEXT NOT NULL
);

-- One row, written to test whether the database accepts writes.
CREATE TABLE write_probe (
	name TEXT   PRIMARY KEY,
	at   BIGINT NOT NULL
);
