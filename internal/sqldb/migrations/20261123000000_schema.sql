-- +goose Up

-- Package journal.

-- What happened, appended in the transaction that makes it happen. grp is the group
-- of the tenant (id.Tenant.Group), pos the entry's place in the order in which
-- followers read the group. name is what an entry is about, for those that are
-- looked up by it: the name of a custom event, the URL of a page, the slug of a
-- form, the id of a sequence. data is what else is to be said, if anything. contacts
-- holds, in one row, those that were made at once, 16 bytes each (journal.pack).
-- Followers read by the primary key (journal.read), and look there for the last
-- place of each group.
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

-- Who did something of a name, for rules: rule.named.
CREATE INDEX journal_named ON journal (tenant_id, type, name, occurred_at, contact_id) WHERE name IS NOT NULL;

-- Who bounced, complained or unsubscribed, for rules: rule.told.
CREATE INDEX journal_rare ON journal (tenant_id, type, occurred_at, contact_id)
	WHERE type IN ('email_bounced', 'email_complained', 'email_unsubscribed');

-- One contact's history, but for what every contact and every mail has: that is
-- in the contact's own row and in the outbox. For journal.Timeline and FirstOf,
-- activity.List and what rules ask about one contact.
CREATE INDEX journal_contact ON journal (tenant_id, contact_id, occurred_at)
	WHERE contact_id IS NOT NULL AND type NOT IN ('email_sent', 'email_delivered', 'contact_created');

-- What the journal says of bare addresses, found when one is to be forgotten:
-- journal.Forget.
CREATE INDEX journal_address ON journal (tenant_id, (data ->> 'email'))
	WHERE type IN ('suppression_added', 'suppression_removed');

-- How far each follower has read each group. On SQLite the follower 'sequencer' has
-- the last place of the group that was given.
CREATE TABLE journal_cursor (
	grp      INTEGER NOT NULL,
	follower TEXT    NOT NULL,
	pos      BIGINT  NOT NULL,
	PRIMARY KEY (grp, follower)
);

-- Package leader.

-- Which process does what only one may do. Others go by epoch and beat, which
-- change with every taking over and every renewal; until_at is for people.
CREATE TABLE leader (
	name     TEXT   NOT NULL PRIMARY KEY,
	owner    TEXT,
	epoch    BIGINT NOT NULL,
	beat     BIGINT NOT NULL,
	until_at BIGINT NOT NULL
);

-- Who does what only one process may do. A lease that is not renewed ends.
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

-- People. They belong to the installation, not to a tenant.
CREATE TABLE app_user (
	id            UUID   NOT NULL PRIMARY KEY,
	email         TEXT   NOT NULL,
	name          TEXT   NOT NULL,
	password_hash TEXT,             -- null until a password is chosen
	created_at    BIGINT NOT NULL,
	last_login_at BIGINT,
	-- When it was proven that the user holds the address: a link that was mailed to it was
	-- followed, or the operator made the login. NULL: it was not.
	proven_at     BIGINT
);
CREATE UNIQUE INDEX app_user_email ON app_user (email);

-- From where users signed in lately. Strangers who guess at the passwords of an
-- address cannot keep its user out there.
CREATE TABLE login_address (
	user_id UUID   NOT NULL REFERENCES app_user (id),
	address TEXT   NOT NULL, -- of IPv6 the /64
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (user_id, address)
);
CREATE INDEX login_address_age ON login_address (seen_at);

-- Who works in which tenant, and as what.
CREATE TABLE membership (
	tenant_id  INTEGER NOT NULL,
	user_id    UUID    NOT NULL REFERENCES app_user (id),
	role       TEXT    NOT NULL CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
	status     TEXT    NOT NULL CHECK (status IN ('invited', 'active', 'disabled')),
	created_at BIGINT  NOT NULL,
	-- The login changed hands without proof after this tenant let it in. The membership opens
	-- nothing until the login is proven or the tenant adds it anew.
	withheld   BOOLEAN NOT NULL DEFAULT false,
	PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX membership_user ON membership (user_id);

-- Browser sessions; only the SHA-256 of the cookie's value is kept.
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

-- Links that work once: setup, password resets, invitations.
CREATE TABLE one_time_token (
	token_hash TEXT    NOT NULL PRIMARY KEY,
	purpose    TEXT    NOT NULL CHECK (purpose IN ('setup', 'reset', 'invite')),
	user_id    UUID,
	tenant_id  INTEGER,
	created_at BIGINT  NOT NULL,
	expires_at BIGINT  NOT NULL,
	-- Whether following the link proves that the user holds the address: it was mailed there and
	-- not shown elsewhere.
	proves     BOOLEAN NOT NULL DEFAULT false
);
CREATE INDEX one_time_token_user ON one_time_token (user_id);
CREATE INDEX one_time_token_expiry ON one_time_token (expires_at);

-- API keys; only the SHA-256 of the key is kept. lookup_id is the part of the
-- key by which its row is found. After a rotation the previous secret may stay
-- valid for a grace.
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

-- Who changed what.
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
	details     JSONB, -- What else an entry says, such as the addresses of a test.
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_time ON audit (tenant_id, created_at, id);
CREATE INDEX audit_age ON audit (created_at);

-- Package endpoint.

-- One row per Idempotency-Key that a caller used. Until the request has
-- succeeded, status is NULL and holder names the attempt that runs; when its
-- lease is over, another may take its place.
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

-- How many test mails a tenant has sent in its present hour.
CREATE TABLE test_mail (
	tenant_id  INTEGER NOT NULL PRIMARY KEY,
	started_at BIGINT  NOT NULL, -- of the hour: its first test
	mails      BIGINT  NOT NULL
);

-- Package hold.

-- Its one row says since when no broadcast may send; without it they may.
CREATE TABLE send_hold (
	name  TEXT   PRIMARY KEY,
	since BIGINT NOT NULL
);

-- Package pace.

-- How many permits of a limit per day are handed out. A process takes several
-- at once; taken is what the last taking got.
CREATE TABLE pace_day (
	name  TEXT   NOT NULL,
	day   TEXT   NOT NULL,
	used  BIGINT NOT NULL,
	taken BIGINT NOT NULL,
	PRIMARY KEY (name, day)
);
CREATE INDEX pace_day_day ON pace_day (day);

-- Package traffic.

-- What each lane carried for each sending domain, in buckets of 30 seconds.
-- Kept for two days.
CREATE TABLE traffic (
	tenant_id  INTEGER NOT NULL,
	lane_id    UUID    NOT NULL,
	bucket     BIGINT  NOT NULL, -- when it begins
	domain_id  UUID    NOT NULL, -- zero when the sender is not known
	tries      BIGINT  NOT NULL, -- connections tried
	unreached  BIGINT  NOT NULL, -- of these, how many came to no session
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

-- What a tenant keeps about contacts beyond the built-in columns.
-- A deleted field stays until its values are erased from the contacts, so that
-- its key is not taken again by a field that would inherit them.
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

-- Who a tenant may write to. search_text is what the free-text search looks in:
-- names, company and address, folded. Numbers come first, the widest before the
-- others, so that PostgreSQL needs no padding between them.
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
	PRIMARY KEY (tenant_id, id) -- lookups, and lists and rules by created_at: an id is made at it
);

-- Lookups by address: each write of a contact, imports, suppressions, lists by address.
CREATE UNIQUE INDEX contact_email ON contact (tenant_id, email);

-- Lookups by the caller's own key.
CREATE UNIQUE INDEX contact_external_id ON contact (tenant_id, external_id) WHERE external_id IS NOT NULL;

-- Lists by updated_at, as programs that follow what has changed ask for.
CREATE INDEX contact_updated ON contact (tenant_id, updated_at, id);

-- Who is in a stage: lists and rules, and a stage that is to be deleted. No foreign
-- key: it would be looked up for each contact (see contact.Stages and DeleteStage).
CREATE INDEX contact_stage_members ON contact (tenant_id, stage_id) WHERE stage_id IS NOT NULL;

-- Who does not count toward a tenant's contact limit (contact.Billable). Few, and no
-- new contact is among them.
CREATE INDEX contact_unbilled ON contact (tenant_id) WHERE global_status IN ('pending', 'suppressed') OR anonymized_at IS NOT NULL;

-- Whose scores may fade, longest untouched first. Most contacts have none.
CREATE INDEX contact_score ON contact (tenant_id, COALESCE(score_updated_at, created_at), id)
	WHERE prospect_score > 0 OR customer_score > 0;

-- What every mail touches, kept apart so that a send never rewrites the wide
-- row. settled_activity_at is last_activity_at without what is not yet
-- classified; soft_bounces is the run of soft bounces without a delivery. A contact
-- to which nothing has happened has no row, which reads as one of the defaults whose
-- deliverability is of the time when the contact was made.
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
	-- Where a contact first and last came from: {"first_touch_source": …}. Times are microseconds.
	-- NULL: nothing is known.
	touch                     JSONB,
	PRIMARY KEY (tenant_id, contact_id) -- WITHOUT ROWID
);

-- One row per tenant with a contact limit: creations of a limited tenant take
-- turns on it, so that two at once do not both take the last place.
CREATE TABLE contact_turn (
	tenant_id INTEGER NOT NULL PRIMARY KEY
);

-- The secret by which a tenant's site proves who its visitors are,
-- and the one before it for as long as that still counts.
CREATE TABLE identity_secret (
	tenant_id      INTEGER NOT NULL PRIMARY KEY,
	secret         TEXT    NOT NULL, -- sealed
	created_at     BIGINT  NOT NULL,
	previous       TEXT,            -- sealed
	previous_until BIGINT
);

-- Where the mail of a domain goes, as the DNS says: public facts, so they are
-- kept once for all tenants. checked_at is null until the first answer; at
-- next_at the DNS is asked (again). tries counts answers that failed to come.
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

-- Addresses a tenant must never mail.
CREATE TABLE suppression (
	tenant_id  INTEGER NOT NULL,
	email      TEXT    NOT NULL,
	reason     TEXT,
	created_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, email)
);
CREATE INDEX suppression_created ON suppression (tenant_id, created_at, email);

-- Package score.

-- What moves the scores of a tenant's contacts; a tenant without a row has the
-- rules everybody begins with.
CREATE TABLE score_settings (
	tenant_id  INTEGER NOT NULL PRIMARY KEY,
	settings   JSONB   NOT NULL,
	updated_at BIGINT  NOT NULL
);

-- How often a rule with a daily cap has scored for a contact on a day of the
-- account, counted from 1970-01-01.
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

-- The ways out: how a tenant hands its mail over.
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
	-- What a lane may do at each provider or domain, and its warm-up ('{}': the default, which is
	-- none). The caps of a lane are in the column of that name.
	throttles           JSONB   NOT NULL DEFAULT '[]',
	warmup              JSONB   NOT NULL DEFAULT '{}',
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX mta_config_key ON mta_config (tenant_id, key);

-- How a lane fares. A lane without a row has always been healthy.
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

-- Groups of email types that a contact may leave as one.
CREATE TABLE email_category (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	name        TEXT    NOT NULL,
	description TEXT,
	sort_order  BIGINT  NOT NULL,
	created_at  BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- The kinds of mail that a contact may leave one by one.
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

-- The domains a tenant sends from.
CREATE TABLE sending_domain (
	tenant_id        INTEGER NOT NULL,
	id               UUID    NOT NULL,
	domain           TEXT    NOT NULL,
	status           TEXT    NOT NULL,
	dkim_selector    TEXT    NOT NULL,
	dkim_key         TEXT    NOT NULL, -- PKCS #8, sealed
	dkim_record      TEXT    NOT NULL, -- what the tenant publishes
	return_path_host TEXT    NOT NULL,
	tracking_host    TEXT    NOT NULL, -- may carry a port when the operator set it
	tracking_status  TEXT    NOT NULL,
	dmarc_policy     TEXT,
	paused           BOOLEAN NOT NULL,
	pause_reason     TEXT,
	verified_by      TEXT,
	verified_at      BIGINT,
	last_checked_at  BIGINT,
	created_at       BIGINT  NOT NULL,
	judged_from      BIGINT, -- A domain that was paused and resumed is judged by what it sent since.
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX sending_domain_name ON sending_domain (tenant_id, domain);

-- The addresses a tenant sends from.
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

-- Which email types an identity may be used for.
CREATE TABLE identity_email_type (
	tenant_id     INTEGER NOT NULL,
	email_type_id UUID    NOT NULL,
	identity_id   UUID    NOT NULL,
	PRIMARY KEY (tenant_id, email_type_id, identity_id),
	FOREIGN KEY (tenant_id, identity_id) REFERENCES sending_identity (tenant_id, id) ON DELETE CASCADE,
	FOREIGN KEY (tenant_id, email_type_id) REFERENCES email_type (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX identity_email_type_identity ON identity_email_type (tenant_id, identity_id);

-- The lanes that took a test mail from an identity.
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

-- What a message says, frozen: never changed once written.
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

-- The links of a content, numbered as the tokens in its mails number them.
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

-- Templates and blocks. Schemas are JSON that nothing searches: kept as text, so
-- that their keys stay in the order in which they are shown. Bodies come last:
-- what is read without them need not pass over them.
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

-- The library: entries, and what each version of them says, which never changes.
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

-- What MTA configs of type sink accepted.
CREATE TABLE sink_message (
	tenant_id     INTEGER NOT NULL,
	id            UUID    NOT NULL,
	mta_config_id UUID    NOT NULL,
	mail_from     TEXT    NOT NULL, -- envelope
	rcpt_to       TEXT    NOT NULL, -- envelope
	author        TEXT    NOT NULL, -- the From header, decoded
	subject       TEXT    NOT NULL, -- decoded
	folded        TEXT    NOT NULL, -- lower case: what a search looks through
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

-- One send: a broadcast's messages, their permission to leave, and their sums.
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
	email_type_id UUID, -- what the send's mails are
	low_due       BIGINT  NOT NULL DEFAULT 0, -- no message waits before (low_due, low_id) in the order of claims
	low_id        UUID,
	low_turn      INTEGER NOT NULL DEFAULT 0, -- changes when a message may have begun to wait before it
	PRIMARY KEY (tenant_id, id)
);
-- The sends of a broadcast, of the steps of a sequence.
CREATE INDEX send_source ON send (tenant_id, source_kind, source_id);

-- Sends that have work: open ones with messages waiting, cancelled ones with messages
-- left to cancel. Engines look here, so sends that only stand open cost nothing
-- (outbox/ready.go).
CREATE TABLE send_ready (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);

-- What the messages of a send go by: its routes and its rate (outbox.Terms). They are
-- apart from its sums, which each batch of results changes.
CREATE TABLE send_terms (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	document  JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);

-- Every message, waiting or gone. What a result changes (state, sent_at, attempts …)
-- is in no index and in the condition of none: on PostgreSQL a result is then a new
-- version in the table alone (a HOT update), and in no index. Columns are in the
-- order that leaves no gaps between them.
CREATE TABLE outbox (
	due_at     BIGINT   NOT NULL,
	queued_at  BIGINT, -- NULL: when it was due first, as due_at still says
	sent_at    BIGINT, -- when the hand-off ended: accepted, or refused for this address
	first_at   BIGINT, -- Date of the first attempt, which later ones repeat
	tenant_id  INTEGER  NOT NULL,
	-- which visit of the contact it belongs to; 0 where a send has one message a contact
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
	rank       TEXT, -- of a planned send: its place in the order, best engaged first
	plan_day   TEXT, -- of a planned send: the day, in the account's time zone, that it was given
	PRIMARY KEY (tenant_id, id) -- what a result, a click or a complaint names
);

-- One message per contact and visit (Put); a send's recipients page by page (List,
-- Give).
CREATE UNIQUE INDEX outbox_contact ON outbox (tenant_id, send_id, contact_id, visit);

-- The order in which the messages of a send are claimed (ClaimAfter, CancelWaiting). Those
-- that have ended stay in it: send.low_due says from where on any waits.
CREATE INDEX outbox_due ON outbox (tenant_id, send_id, due_at, id);

-- A contact's mails: its timeline, rules, its deletion.
CREATE INDEX outbox_recipient ON outbox (tenant_id, contact_id);

-- The order of a planned send by lane (Places). No message of another send is in it.
CREATE INDEX outbox_rank ON outbox (tenant_id, send_id, lane_id, rank, id) WHERE rank IS NOT NULL;

-- What messages of a send have in common with many others of it. A row never changes.
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

-- The few messages that came to nothing or were put off, and why: those who ask for
-- these alone read no others (List).
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

-- Those of a send page by page (List).
CREATE INDEX outbox_note_send ON outbox_note (tenant_id, send_id, contact_id);

-- Bounces by time, for rules that ask for the contacts that had any.
CREATE INDEX outbox_note_bounced ON outbox_note (tenant_id, ended_at, contact_id, send_id) WHERE state = 'bounced';

-- The processes that hold messages. One that does not renew its lease is dead,
-- and what it held is judged and goes on without it.
CREATE TABLE outbox_node (
	owner    TEXT   NOT NULL PRIMARY KEY,
	until_at BIGINT NOT NULL
);

-- A node claims a stretch of a send's order (due_at, id) at a time, not its
-- messages one by one: one row here instead of a new version of each of them.
-- A message that is queued, lies in a stretch and has attempt_at is under way. A
-- claim of which some was put back is left with a stretch for each of the others.
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

-- A node that claims in a send holds its row here, so that stretches never overlap.
-- It is apart from the send's row, which changes with every result.
CREATE TABLE outbox_turn (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	claims    BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);

-- Attempts that have begun: one row for those of a claim that began together. What
-- has landed is deleted now and then.
CREATE TABLE outbox_attempt (
	tenant_id INTEGER NOT NULL,
	owner     TEXT    NOT NULL,
	seq       BIGINT  NOT NULL,
	send_id   UUID    NOT NULL,
	begun_at  BIGINT  NOT NULL,
	messages  BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, owner, seq)
);

-- What each day of a planned send is to carry on each lane, and has carried.
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

-- How the order of a send that is being planned is divided over time: of each
-- lane, the messages behind a place (rank, id) leave at due_at, up to the place
-- that the next slot begins behind. Those of a slot without a day are held back.
-- The rows go when the plan is done.
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

-- How many messages each open send had handed over, every ten seconds of the
-- last minutes: what its speed is read from.
CREATE TABLE outbox_sample (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	slot      BIGINT  NOT NULL, -- the ten seconds; the first process to look in them writes
	at        BIGINT  NOT NULL,
	sent      BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, send_id, slot)
);
CREATE INDEX outbox_sample_slot ON outbox_sample (slot);

-- What kept messages of a send back when a process last found that some
-- could not leave.
CREATE TABLE outbox_wait (
	tenant_id INTEGER NOT NULL,
	send_id UUID    NOT NULL,
	at        BIGINT  NOT NULL,
	kind      TEXT    NOT NULL,
	lane_id   UUID    NOT NULL,
	provider  TEXT    NOT NULL, -- '' when it is the limit of none
	most      BIGINT  NOT NULL, -- 0 when it is no rate, else so many
	per       BIGINT  NOT NULL, -- in so many microseconds
	until     BIGINT  NOT NULL,
	reason    TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);
CREATE INDEX outbox_wait_at ON outbox_wait (at);

-- Package track.

-- Opens and clicks as they came in, up to some hundreds of a tenant in a row (track.pack),
-- until they are recorded as rows of hit. n is their number.
CREATE TABLE hit_inbox (
	tenant_id INTEGER NOT NULL,
	id        UUID    NOT NULL,
	n         INTEGER NOT NULL,
	hits      BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- Every open and click as it came in, and what it was found to be. An open that is
-- pending is in five b-trees, a click in six; a verdict takes it out of one.
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
	-- Whether a hit was fetched by a mailbox provider's image proxy, for many people from one
	-- address: such hits say nothing about the address.
	proxy         BOOLEAN NOT NULL DEFAULT FALSE,
	-- A repeated request; all hits of a message, to judge them and for its first open and click.
	PRIMARY KEY (tenant_id, message_id, id)
);
-- The clicks of a send by link: reports, rules about a link.
CREATE INDEX hit_clicks ON hit (tenant_id, send_id, url) WHERE kind = 'click';
-- Rules about everybody: who opened or clicked between two times.
CREATE INDEX hit_when ON hit (tenant_id, kind, at);
-- A contact's timeline, export and erasure; rules about one contact.
CREATE INDEX hit_contact ON hit (tenant_id, contact_id, at);
-- How many messages of a send an address asks for within a minute.
CREATE INDEX hit_source ON hit (tenant_id, send_id, ip, at) WHERE NOT proxy;
-- Those of them that a later hit may yet show to be a machine's.
CREATE INDEX hit_settled ON hit (tenant_id, send_id, ip, at) WHERE class IN ('human', 'privacy') AND NOT proxy;
-- What is still to be judged, oldest first, of all tenants.
CREATE INDEX hit_pending ON hit (at) WHERE class = 'pending';

-- What is known of one recipient's engagement with one message: a set of flags
-- derived from its hits, kept so that the sums can follow its changes.
CREATE TABLE engagement (
	tenant_id  INTEGER NOT NULL,
	message_id UUID    NOT NULL,
	send_id    UUID    NOT NULL,
	flags      INTEGER NOT NULL,
	hits       INTEGER NOT NULL DEFAULT 0, -- How many hits of a message are kept.
	-- The flags that came with the hits recorded last: the statement that records them learns it
	-- from here.
	gained     INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, message_id)
);

-- The sums of the flags over a send: unique recipients each. Several rows of a
-- send are added up, so that transactions need not wait for each other.
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

-- When the classifier last went over its pending hits.
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
	-- Counts the definitions a segment has had, so that a count of an older one is not stored.
	rule_revision             BIGINT  NOT NULL DEFAULT 0,
	-- Until when one process alone counts it in the background.
	counting_until            BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX segment_key ON segment (tenant_id, segment_key);

-- Who is on a static list.
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

-- What a segment's rule refers to: other segments and lists, custom fields.
CREATE TABLE segment_reference (
	tenant_id  INTEGER NOT NULL,
	segment_id UUID    NOT NULL,
	kind       TEXT    NOT NULL,
	name       TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, segment_id, kind, name),
	FOREIGN KEY (tenant_id, segment_id) REFERENCES segment (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX segment_reference_name ON segment_reference (tenant_id, kind, name);

-- One row per tenant: who changes what segments refer to takes turns on it, so
-- that two at once do not build a circle, or on what the other deletes.
CREATE TABLE segment_turn (
	tenant_id INTEGER NOT NULL PRIMARY KEY
);

-- Package savedfilter.

-- How people look at their contacts: what a list is filtered and sorted by,
-- and the columns it shows.
CREATE TABLE saved_filter (
	tenant_id  INTEGER NOT NULL,
	id         UUID    NOT NULL,
	name       TEXT    NOT NULL,
	filters    JSONB   NOT NULL,
	definition JSONB,
	search     TEXT,
	statuses   JSONB   NOT NULL, -- [] is all but suppressed
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

-- One mailing to an audience, from draft to its end. revision counts the
-- writes, so that a decision made on one reading is stored only if no other wrote
-- since. References to segments, senders, lanes and email types are ids without
-- foreign keys: a record deleted later reads as null, as the API says.
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
	-- What a broadcast's content was made of. The template and the blocks may be gone since: no
	-- foreign keys.
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
	-- The arms of a broadcast, and the content that each was frozen as. What is short of them is
	-- kept apart, for those who need not know what they say.
	arms                JSONB,
	variants            TEXT,
	delivery            JSONB   NOT NULL DEFAULT '{}', -- '{}' is: now, on one lane.
	PRIMARY KEY (tenant_id, id),
	CHECK ((pause_reason IS NOT NULL) = (status = 'paused')),
	CHECK (archived_at IS NULL OR status IN ('completed', 'failed', 'cancelled'))
);
CREATE UNIQUE INDEX broadcast_send ON broadcast (tenant_id, send_id);
CREATE INDEX broadcast_newest ON broadcast (tenant_id, created_at DESC, id DESC);
CREATE INDEX broadcast_due ON broadcast (scheduled_at) WHERE status = 'scheduled';

-- The broadcasts that hold on to what they refer to, for those who ask on
-- behalf of all tenants.
CREATE INDEX broadcast_unfinished ON broadcast (tenant_id, id) WHERE status IN ('draft', 'scheduled', 'sending', 'paused');
CREATE INDEX broadcast_template ON broadcast (tenant_id, template_id) WHERE template_id IS NOT NULL;
CREATE INDEX broadcast_message ON broadcast (tenant_id, message_id) WHERE message_id IS NOT NULL;

-- The preparation and the end of one send. It is apart from the record because
-- it moves with every page of the audience, and the record holds the bodies.
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
	contents      JSONB   NOT NULL, -- by arm
	-- The planning of a send whose messages are given days: which pass is under way and how far it
	-- has come. NULL: not planned.
	plan          JSONB,
	PRIMARY KEY (tenant_id, broadcast_id),
	FOREIGN KEY (tenant_id, broadcast_id) REFERENCES broadcast (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX broadcast_run_open ON broadcast_run (tenant_id, broadcast_id) WHERE ended_at IS NULL;

-- Package job.

-- Long work: imports, exports, actions on many. It is leased like a broadcast's
-- run: the process that holds the epoch may take a step, and a step's effects, its counts
-- and the place to go on from commit together. A tenant's jobs of one kind run
-- one after the other, which job_turn holds true among all processes.
CREATE TABLE job (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	kind        TEXT    NOT NULL,
	status      TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
	scope       TEXT    NOT NULL, -- a key needs it to see the job
	params      JSONB   NOT NULL,
	state       JSONB,           -- where to go on; null before the first step
	result      JSONB,
	error       JSONB,
	processed   BIGINT  NOT NULL,
	total       BIGINT,          -- NULL while it is not known
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

-- What jobs read and write, in the database, so that any node can.
CREATE TABLE job_file (
	tenant_id  INTEGER NOT NULL,
	id         UUID    NOT NULL,
	job_id     UUID,            -- null: an upload whose request has not ended
	name       TEXT    NOT NULL, -- its part in the job
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
	at        BIGINT  NOT NULL, -- how many bytes of the file stand before it
	data      BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, file_id, at)
);

-- Package sqldb.

-- Which secret key the installation was set up with, so that a process with
-- another one does not start: it could open nothing, and no link would be valid.
CREATE TABLE secret_key (
	name        TEXT NOT NULL PRIMARY KEY,
	fingerprint TEXT NOT NULL
);

-- One row that is written to find out whether the database takes writes.
CREATE TABLE write_probe (
	name TEXT   PRIMARY KEY,
	at   BIGINT NOT NULL
);
