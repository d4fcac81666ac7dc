// Made from internal/edge/httpapi/testdata/openapi-app.json by `make web-types`. Do not edit.

export type APIKey = {
	created_at: string;
	created_by: ApiKeyAuthor | null;
	expires_at: string | null;
	id: string;
	last_used_at: string | null;
	name: string;
	prefix: string;
	revoked_at: string | null;
	scopes: string[];
	status: "active" | "expired" | "revoked";
};

export type AcceptInvitationRequestBody = {
	name: string;
	password: string;
	token: string;
};

export type Accepted = {
	job_id: string;
};

export type AccountAddressChange = {
	city?: string | null;
	country?: string | null;
	line1?: string | null;
	line2?: string | null;
	postal_code?: string | null;
	state?: string | null;
};

export type AccountCounts = {
	contacts: number;
	counted_at: string | null;
	sendable: number | null;
};

export type AccountOverview = {
	attention: Notice[];
	counts: AccountCounts;
	live: LiveBroadcast[];
	previous: OverviewTotals;
	setup: SetupStep[];
	totals: OverviewTotals;
};

export type AccountRetention = {
	deliveries_days: number;
	engagement_days: number;
	events_days: number;
	raw_requests_days: number;
};

export type AccountRetentionChange = {
	deliveries_days?: number;
	engagement_days?: number;
	events_days?: number;
	raw_requests_days?: number;
};

export type AccountSessionView = {
	auto_create_on_event: boolean;
	billable_contacts: number;
	contact_limit: number | null;
	created_at: string;
	currency_code: string;
	default_email_type_id: string | null;
	default_email_type_key: string | null;
	default_mta_config_id: string | null;
	default_mta_config_key: string | null;
	default_sending_identity_email: string | null;
	default_sending_identity_id: string | null;
	double_opt_in_default: boolean;
	identity_signing_enabled: boolean;
	locale: string;
	logo_url: string | null;
	name: string;
	pause_reason: string | null;
	postal_address: PostalAddress;
	retention: AccountRetention;
	send_window: AccountWindow;
	site_key: string;
	slug: string;
	status: "active" | "paused";
	sunset_days: number;
	sunset_min_sends: number;
	tenant_id: string;
	timezone: string;
	tracked_domains: string[];
	tracking_defaults: AccountTracking;
	unsubscribe_scope: "type" | "global";
	updated_at: string;
	website_url: string | null;
};

export type AccountTracking = {
	honeypot_links: boolean;
	tracking_enabled: boolean;
	utm_enabled: boolean;
};

export type AccountTrackingChange = {
	honeypot_links?: boolean;
	tracking_enabled?: boolean;
	utm_enabled?: boolean;
};

export type AccountWindow = {
	end: string;
	start: string;
};

export type AccountWindowChange = {
	end?: string;
	start?: string;
};

export type ActionInput = {
	config: { [key: string]: unknown };
	type: string;
};

export type ActionNotAvailableOrCsrfFailedOrForbiddenError = Error & {
	error?: {
		code?: "ACTION_NOT_AVAILABLE" | "CSRF_FAILED" | "FORBIDDEN";
	};
};

export type ActivityRow = {
	broadcast_id?: string;
	classification?: string;
	event_name?: string;
	event_type?: string;
	id: string;
	occurred_at: string;
	properties: { [key: string]: unknown };
	rules?: string[];
	sequence_id?: string;
	source: "email" | "website" | "form" | "api" | "account";
	title: string;
	type: string;
};

export type Actor = {
	id: string;
	name: string;
	type: string;
};

export type AddSuppressionRequestBody = {
	email: string;
	reason?: string | null;
};

export type Added = {
	path: string;
	required: boolean;
	value: unknown;
};

export type AddedMembers = {
	added: number;
	already_members: number;
	not_found: string[];
};

export type AnonymizeContactRequestBody = {
	suppress?: boolean;
};

export type AnyBlockRow = {
	active: boolean;
	content_html?: string | null;
	content_mjml?: string | null;
	content_text?: string | null;
	created_at: string;
	groups_schema?: GroupEntry[];
	id: string;
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slot_keys: string[];
	slug: string;
	tags: string[];
	tenant_id?: string;
	updated_at: string;
	usage?: Sends;
};

export type AnyTemplateRow = {
	content_html?: string;
	content_mjml?: string | null;
	content_text?: string | null;
	created_at: string;
	expects_schema?: ExpectEntry[];
	format: "html" | "mjml";
	group_count?: number;
	groups_schema?: GroupEntry[];
	id: string;
	inline_css?: boolean;
	name: string;
	parameter_count?: number;
	parameters_schema?: ParameterEntry[];
	section_count?: number;
	sections_schema?: SectionEntry[];
	slot_count?: number;
	slots_schema?: SlotEntry[];
	slug: string;
	subject?: string | null;
	tags: string[];
	tenant_id?: string;
	updated_at: string;
	usage?: Sends;
};

export type ApiKeyAuthor = {
	id: string;
	name: string;
};

export type ArchiveBroadcastsRequestBody = {
	ids: string[];
};

export type ArchivedBroadcasts = {
	archived: string[];
	skipped: string[];
};

export type AssetOptions = { [key: string]: unknown };

export type AssetRow = {
	created_at: string;
	height: number;
	id: string;
	name: string;
	size: number;
	url: string;
	width: number;
};

export type AuditChange = {
	after: unknown;
	before: unknown;
	field: string;
	length?: AuditLength;
};

export type AuditLength = {
	after: number;
	before: number;
};

export type AuditRow = {
	action: string;
	actor: Actor;
	changes: AuditChange[];
	created_at: string;
	details?: unknown;
	id: string;
	ip: string | null;
	target_id: string;
	target_name: string | null;
	target_type: string;
};

export type Automation = {
	actions: AutomationAction[];
	created_at: string;
	definition: { [key: string]: unknown } | null;
	id: string;
	last_run_at: string | null;
	name: string;
	run_count: number;
	status: "active" | "paused" | "archived";
	tenant_id: string;
	trigger_config: { [key: string]: unknown };
	trigger_type: string;
	updated_at: string;
};

export type AutomationAction = {
	config: { [key: string]: unknown };
	type: string;
};

export type AutomationBody = {
	actions?: ActionInput[];
	definition?: RuleDefinition | null;
	name?: string;
	status?: string;
	trigger_config?: { [key: string]: unknown };
	trigger_type?: string;
};

export type AutomationEvent = {
	name: string | null;
	occurred_at: string;
	properties: { [key: string]: unknown };
	type: string;
};

export type AutomationResult = {
	reason: string | null;
	status: "completed" | "skipped" | "failed";
	type: string;
};

export type AutomationRun = {
	actions: AutomationResult[];
	automation_id: string;
	contact_id: string;
	created_at: string;
	email: string;
	ended_at: string | null;
	id: string;
	reason: "too_many_runs" | "contact_deleted" | "automation_not_active" | "action_failed" | "error" | null;
	status: "pending" | "completed" | "failed" | "skipped";
	trigger: AutomationEvent | null;
};

export type BindingOptions = {
	groups_schema: GroupEntry[];
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slots_schema: SlotOption[];
	slug: string;
	template_id: string;
};

export type BindingVerdict = {
	issues: Issue[];
	valid: boolean;
};

export type BlockRow = {
	active: boolean;
	content_html: string | null;
	content_mjml: string | null;
	content_text: string | null;
	created_at: string;
	groups_schema: GroupEntry[];
	id: string;
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slot_keys: string[];
	slug: string;
	tags: string[];
	tenant_id: string;
	updated_at: string;
	usage?: Sends;
};

export type BounceMailboxBody = {
	host?: string;
	password?: string;
	port?: number;
	tls?: string;
	username?: string;
};

export type BounceRow = {
	bounced_at: string;
	category: "mailbox" | "domain" | "full" | "policy" | "content" | "network" | "other";
	contact_id: string;
	email: string;
	enhanced_code: string | null;
	message: string | null;
	smtp_code: number | null;
	type: "hard" | "soft";
};

export type BounceSummary = {
	block: number;
	by_code: CodeCount[];
	by_domain: DomainCount[];
	hard: number;
	soft: number;
};

export type BrandButton = {
	color: string | null;
	radius: number;
	text_color: string;
};

export type BrandButtonChange = {
	color?: string | null;
	radius?: number | null;
	text_color?: string | null;
};

export type BrandColors = {
	background: string;
	primary: string;
	secondary: string | null;
	surface: string;
	text: string;
};

export type BrandColorsChange = {
	background?: string | null;
	primary?: string | null;
	secondary?: string | null;
	surface?: string | null;
	text?: string | null;
};

export type BrandFonts = {
	body: string;
	heading: string;
};

export type BrandFontsChange = {
	body?: string | null;
	heading?: string | null;
};

export type BrandView = {
	button: BrandButton;
	colors: BrandColors;
	fonts: BrandFonts;
	footer: string;
	logo_asset_id: string | null;
	logo_url: string | null;
	width: number;
};

export type BroadcastBody = {
	content?: BroadcastContent;
	delivery_lanes?: LaneShareBody[];
	delivery_mode?: "now" | "over_days" | "by_date";
	delivery_window_date?: string | null;
	delivery_window_days?: number | null;
	email_type_id?: unknown;
	email_type_key?: string | null;
	exclude_segment_ids?: unknown;
	exclude_segment_keys?: string[];
	include_segment_ids?: unknown;
	include_segment_keys?: string[];
	metadata?: { [key: string]: unknown };
	mode?: "blast";
	mta_config_id?: unknown;
	mta_config_key?: string | null;
	name?: string;
	overflow_mode?: "extend" | "holdback";
	scheduled_at?: string | null;
	seed_list_ids?: unknown;
	sending_identity_emails?: string[];
	sending_identity_ids?: unknown;
	skipped_dates?: string[];
	split_test_config?: unknown;
	tags?: string[];
	throttle_per_hour?: number | null;
	tracking_enabled?: boolean;
	variants?: unknown;
};

export type BroadcastContent = {
	body_html?: string | null;
	body_mjml?: string | null;
	body_text?: string | null;
	from_name?: string | null;
	message_id?: string | null;
	message_version?: number | null;
	preheader?: string | null;
	reply_to?: string | null;
	subject?: string | null;
	template_binding?: { [key: string]: unknown } | null;
	template_id?: unknown;
	template_slug?: string | null;
};

export type BroadcastFullSession = {
	body_html: string | null;
	body_mjml: string | null;
	body_text: string | null;
	from_name: string | null;
	message_id: string | null;
	message_version: number | null;
	preheader: string | null;
	reply_to: string | null;
	subject: string | null;
	template_binding: { [key: string]: unknown } | null;
	template_id: string | null;
	template_slug: string | null;
	template_snapshot: { [key: string]: unknown } | null;
};

export type BroadcastReport = {
	apparent_open_rate: number;
	apparent_opened: number;
	bot_clicked: number;
	bot_opened: number;
	bounce_rate: number;
	broadcast_id: string;
	classifier_interval_ms: number | null;
	classifier_last_run_at: string | null;
	click_rate: number;
	confirmed_open_rate: number;
	confirmed_opened: number;
	last_send_at: string | null;
	name: string;
	open_rate: number;
	pending_clicked: number;
	pending_opened: number;
	sent_at: string | null;
	status: string;
	total_bounced: number;
	total_clicked: number;
	total_complained: number;
	total_delivered: number;
	total_failed: number;
	total_opened: number;
	total_recipients: number;
	total_sent: number;
	total_unsubscribed: number;
	verified_open_rate: number;
	verified_opened: number;
};

export type BroadcastRow = {
	archived_at: string | null;
	available_actions?: string[];
	completed_at: string | null;
	content: BroadcastRowContent;
	content_version: number;
	created_at: string;
	created_by: Actor;
	delivery_lanes: SessionLane[] | null;
	delivery_mode: "now" | "over_days" | "by_date";
	delivery_window_date: string | null;
	delivery_window_days: number | null;
	dispatch_started_at: string | null;
	email_type_id: string | null;
	email_type_key: string | null;
	exclude_segment_ids: string[];
	exclude_segment_keys: string[];
	id: string;
	include_segment_ids: string[];
	include_segment_keys: string[];
	kind: "regular" | "triggered";
	last_send_at: string | null;
	metadata: { [key: string]: unknown };
	mode: "blast";
	mta_config_id: string | null;
	mta_config_key: string | null;
	name: string;
	overflow_mode: "extend" | "holdback";
	pause_reason: "user" | "capacity_collapsed" | "domain_paused" | "tenant_paused" | null;
	scheduled_at: string | null;
	seed_list_ids: string[] | null;
	sending_identity_emails: string[] | null;
	sending_identity_ids: string[] | null;
	skipped_dates: string[];
	split_test_config: null;
	split_test_result: null;
	status: "draft" | "scheduled" | "sending" | "paused" | "completed" | "failed" | "cancelled";
	tags: string[];
	throttle_per_hour: number | null;
	tracking_enabled: boolean;
	updated_at: string;
	variant_count?: number;
	variant_ids?: string[];
	variants?: BroadcastVariant[] | null;
};

export type BroadcastRowContent = {
	body_html?: string | null;
	body_mjml?: string | null;
	body_text?: string | null;
	from_name: string | null;
	has_body_html?: boolean;
	has_body_mjml?: boolean;
	has_body_text?: boolean;
	has_template_snapshot?: boolean;
	message_id: string | null;
	message_version: number | null;
	preheader: string | null;
	reply_to: string | null;
	subject: string | null;
	template_binding: { [key: string]: unknown } | null;
	template_id: string | null;
	template_slug: string | null;
	template_snapshot?: { [key: string]: unknown } | null;
};

export type BroadcastSessionView = {
	archived_at: string | null;
	completed_at: string | null;
	content: BroadcastFullSession;
	content_version: number;
	created_at: string;
	created_by: Actor;
	delivery_lanes: SessionLane[] | null;
	delivery_mode: "now" | "over_days" | "by_date";
	delivery_window_date: string | null;
	delivery_window_days: number | null;
	dispatch_started_at: string | null;
	email_type_id: string | null;
	email_type_key: string | null;
	exclude_segment_ids: string[];
	exclude_segment_keys: string[];
	failed: number;
	id: string;
	include_segment_ids: string[];
	include_segment_keys: string[];
	kind: "regular" | "triggered";
	last_send_at: string | null;
	metadata: { [key: string]: unknown };
	mode: "blast";
	mta_config_id: string | null;
	mta_config_key: string | null;
	name: string;
	overflow_mode: "extend" | "holdback";
	pause_reason: "user" | "capacity_collapsed" | "domain_paused" | "tenant_paused" | null;
	progress_pct: number;
	recipients?: RecipientRow[];
	recipients_truncated: boolean;
	scheduled_at: string | null;
	seed_list_ids: string[] | null;
	sending_identity_emails: string[] | null;
	sending_identity_ids: string[] | null;
	sent: number;
	skipped_dates: string[];
	split_test_config: null;
	split_test_result: null;
	status: "draft" | "scheduled" | "sending" | "paused" | "completed" | "failed" | "cancelled";
	tags: string[];
	throttle_per_hour: number | null;
	total_recipients: number;
	tracking_enabled: boolean;
	updated_at: string;
	variants: BroadcastVariant[] | null;
	view_model: ViewModel;
	warnings: ScheduleWarning[];
};

export type BroadcastTiming = {
	broadcast_id: string;
	interval: "hour" | "day";
	median_seconds_to_click: number | null;
	median_seconds_to_open: number | null;
	series: TimingPeriod[];
	timezone: string;
};

export type BroadcastVariant = {
	content_overrides: { [key: string]: string };
	id: string;
	name: string;
	weight: number;
};

export type BulkAnswer = {
	action?: string;
	affected?: number;
	errors?: BulkError[];
	job_id?: string;
	matched?: number;
	results?: BulkEnrolled[];
	skipped?: number;
};

export type BulkContactsError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_EMAIL_TYPE" | "INVALID_FIELD_VALUE" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SEGMENT" | "INVALID_STAGE" | "INVALID_STATUS" | "LIMIT_EXCEEDED" | "UNKNOWN_FIELD";
	};
};

export type BulkContactsRequestBody = {
	action: "add_tags" | "remove_tags" | "set_stage" | "set_field" | "set_do_not_contact" | "subscribe" | "unsubscribe" | "add_to_list" | "remove_from_list" | "suppress" | "enroll" | "exit_sequence" | "delete" | "restore" | "reset_status" | "anonymize";
	contact_ids?: string[];
	params?: { [key: string]: unknown };
	selector?: ContactSelectorBody;
};

export type BulkEnrolled = {
	contact_id: string;
	enrollment_id: string | null;
	status: string;
};

export type BulkError = {
	code: string;
	contact_id: string;
};

export type Change = {
	id?: string;
	type: "account" | "api_key" | "asset" | "audit_log" | "block" | "broadcast" | "contact" | "domain" | "form" | "job" | "mailbox" | "member" | "message" | "mta_config" | "saved_filter" | "seed_list" | "segment" | "sequence" | "template" | "webhook";
};

export type ChangePasswordRequestBody = {
	current_password: string;
	new_password: string;
};

export type ChangeSeedsRequestBody = {
	add?: SeedEntry[];
	allow_large_change?: boolean | null;
	dry_run?: boolean | null;
	remove?: string[];
};

export type Changed = {
	from: { [key: string]: unknown };
	path: string;
	to: { [key: string]: unknown };
	value?: unknown;
	value_kept: boolean;
};

export type Changes = {
	changes: Change[];
};

export type CheckLinkRequestBody = {
	kind: "signup" | "password_reset" | "invitation" | "login";
	token: string;
};

export type ClientFigures = {
	clicks: number;
	client: string;
	opens: number;
};

export type CloneBroadcastRequestBody = {
	name?: string;
};

export type CodeCount = {
	code: string;
	count: number;
};

export type CollectionsView = {
	binding_options?: BindingOptions[];
	blocks?: BlockRow[];
	broadcasts?: BroadcastRow[];
	copies?: WorkingCopy[];
	custom_fields?: CustomFieldRow[];
	email_categories?: EmailCategoryRow[];
	email_types?: EmailTypeRow[];
	forms?: FormSummary[];
	messages?: MessageRow[];
	mta_configs?: MtaConfigRow[];
	saved_filters?: SavedFilterRow[];
	seed_lists?: SeedListRow[];
	segments?: SegmentSession[];
	sending_identities?: IdentityRow[];
	sequences?: Sequence[];
	stages?: StageRow[];
	templates?: TemplateRow[];
	working_copies?: WorkingCopyRow[];
};

export type ConsentRow = {
	at: string;
	category_id: string | null;
	confirmed: boolean;
	email_type_key: string | null;
	granted: boolean;
	id: string;
	ip: string | null;
	message_id: string | null;
	page_url: string | null;
	source: string;
	user_agent: string | null;
	wording: string | null;
};

export type Contact = {
	address_line1: string | null;
	address_line2: string | null;
	anonymized_at: string | null;
	bounce_type: "hard" | "soft" | null;
	category_subscriptions: { [key: string]: boolean };
	city: string | null;
	company: string | null;
	country: string | null;
	created_at: string;
	custom_fields: { [key: string]: unknown };
	customer_score: number;
	deliverability_reason: string | null;
	deliverability_status: "healthy" | "watch" | "at_risk" | "suppressed";
	deliverability_updated_at: string;
	do_not_contact: boolean;
	email: string;
	email_domain: string;
	external_id: string | null;
	first_name: string | null;
	first_touch_at: string | null;
	first_touch_campaign: string | null;
	first_touch_country: string | null;
	first_touch_landing_url: string | null;
	first_touch_medium: string | null;
	first_touch_referrer: string | null;
	first_touch_source: string | null;
	first_touch_timezone: string | null;
	full_name: string | null;
	global_status: "active" | "pending" | "unsubscribed" | "bounced" | "complained" | "suppressed";
	id: string;
	last_activity_at: string | null;
	last_activity_pending?: boolean;
	last_email_clicked_at: string | null;
	last_email_opened_at: string | null;
	last_email_sent_at: string | null;
	last_name: string | null;
	last_page_viewed_at: string | null;
	last_touch_at: string | null;
	last_touch_campaign: string | null;
	last_touch_medium: string | null;
	last_touch_source: string | null;
	member_added_at: string | null;
	mx_record: string | null;
	phone: string | null;
	postal_code: string | null;
	prospect_score: number;
	score_updated_at: string | null;
	smtp_provider: string | null;
	source: string | null;
	stage_id: string | null;
	state: string | null;
	status_before_suppress: string | null;
	subscriptions: { [key: string]: boolean };
	suppressed_at: string | null;
	tags: string[];
	tenant_id: string;
	timezone: string | null;
	title: string | null;
	total_emails_clicked: number;
	total_emails_opened: number;
	total_emails_sent: number;
	unsubscribed_at: string | null;
	updated_at: string;
	website: string | null;
};

export type ContactEligibility = {
	checks: EligibilityRow[];
	eligible: boolean;
	first_reason: string | null;
};

export type ContactInput = {
	address_line1?: string | null;
	address_line2?: string | null;
	category_subscriptions?: { [key: string]: boolean | null };
	city?: string | null;
	company?: string | null;
	country?: string | null;
	custom_fields?: { [key: string]: unknown };
	do_not_contact?: boolean;
	email: string;
	external_id?: string | null;
	first_name?: string | null;
	full_name?: string | null;
	last_name?: string | null;
	phone?: string | null;
	postal_code?: string | null;
	source?: string | null;
	stage_id?: string | null;
	state?: string | null;
	subscriptions?: { [key: string]: boolean | null };
	tags?: string[];
	timezone?: string | null;
	title?: string | null;
	website?: string | null;
};

export type ContactListRow = {
	member_added_at: string;
	name: string;
	segment_key: string;
	type: "static";
};

export type ContactNotFoundOrNotFoundOrTenantNotFoundError = Error & {
	error?: {
		code?: "CONTACT_NOT_FOUND" | "NOT_FOUND" | "TENANT_NOT_FOUND";
	};
};

export type ContactNotFoundOrTenantNotFoundError = Error & {
	error?: {
		code?: "CONTACT_NOT_FOUND" | "TENANT_NOT_FOUND";
	};
};

export type ContactSelectorBody = {
	definition?: RuleDefinition | null;
	filters?: {
		field?: string;
		operator?: string;
		value?: unknown;
	}[] | null;
	search?: string | null;
	status?: string | null | string[];
};

export type ContactWithIdentityToken = {
	address_line1: string | null;
	address_line2: string | null;
	anonymized_at: string | null;
	bounce_type: "hard" | "soft" | null;
	category_subscriptions: { [key: string]: boolean };
	city: string | null;
	company: string | null;
	country: string | null;
	created_at: string;
	custom_fields: { [key: string]: unknown };
	customer_score: number;
	deliverability_reason: string | null;
	deliverability_status: "healthy" | "watch" | "at_risk" | "suppressed";
	deliverability_updated_at: string;
	do_not_contact: boolean;
	email: string;
	email_domain: string;
	external_id: string | null;
	first_name: string | null;
	first_touch_at: string | null;
	first_touch_campaign: string | null;
	first_touch_country: string | null;
	first_touch_landing_url: string | null;
	first_touch_medium: string | null;
	first_touch_referrer: string | null;
	first_touch_source: string | null;
	first_touch_timezone: string | null;
	full_name: string | null;
	global_status: "active" | "pending" | "unsubscribed" | "bounced" | "complained" | "suppressed";
	id: string;
	identity_token?: string;
	last_activity_at: string | null;
	last_activity_pending?: boolean;
	last_email_clicked_at: string | null;
	last_email_opened_at: string | null;
	last_email_sent_at: string | null;
	last_name: string | null;
	last_page_viewed_at: string | null;
	last_touch_at: string | null;
	last_touch_campaign: string | null;
	last_touch_medium: string | null;
	last_touch_source: string | null;
	member_added_at: string | null;
	mx_record: string | null;
	phone: string | null;
	postal_code: string | null;
	prospect_score: number;
	score_updated_at: string | null;
	smtp_provider: string | null;
	source: string | null;
	stage_id: string | null;
	state: string | null;
	status_before_suppress: string | null;
	subscriptions: { [key: string]: boolean };
	suppressed_at: string | null;
	tags: string[];
	tenant_id: string;
	timezone: string | null;
	title: string | null;
	total_emails_clicked: number;
	total_emails_opened: number;
	total_emails_sent: number;
	unsubscribed_at: string | null;
	updated_at: string;
	website: string | null;
};

export type ContentBody = {
	body_html?: string | null;
	body_mjml?: string | null;
	body_text?: string | null;
	from_name?: string | null;
	preheader?: string | null;
	reply_to?: string | null;
	subject?: string | null;
	template_binding?: { [key: string]: unknown } | null;
	template_id?: unknown;
	template_slug?: string | null;
};

export type Count = {
	count: number;
};

export type CountContactsBySelectorError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS";
	};
};

export type CountContactsError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_STATUS";
	};
};

export type CountRequestBody = {
	definition?: RuleDefinition | null;
	filters?: {
		field?: string;
		operator?: string;
		value?: unknown;
	}[] | null;
	lacking?: string[];
	search?: string | null;
	status?: string | null | string[];
};

export type CountryFigures = {
	clicks: number;
	country: string | null;
	opens: number;
};

export type Counts = {
	active: number;
	conflict: number;
	paused: number;
	retired: number;
};

export type CreateAPIKeyRequestBody = {
	expires_at?: string | null;
	name: string;
	scopes: string[];
};

export type CreateApiKeyError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SCOPE" | "LIMIT_EXCEEDED";
	};
};

export type CreateBlockError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SCHEMA" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "NO_CONTENT" | "UNRESOLVED_REFERENCE";
	};
};

export type CreateBlockRequestBody = {
	active?: boolean;
	content_html?: string | null;
	content_mjml?: string | null;
	content_text?: string | null;
	groups_schema?: { [key: string]: unknown }[];
	name: string;
	parameters_schema?: { [key: string]: unknown }[];
	sections_schema?: { [key: string]: unknown }[];
	slot_keys?: string[];
	slug?: string;
	tags?: string[];
};

export type CreateBroadcastError400 = Error & {
	error?: {
		code?: "ADVANCED_SPLIT_TEST_UNSUPPORTED" | "INVALID_BINDING" | "INVALID_EMAIL_TYPE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_METADATA" | "INVALID_MTA_CONFIG" | "INVALID_SEGMENT" | "INVALID_SENDING_IDENTITY" | "INVALID_TEMPLATE" | "INVALID_VARIANTS" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_COMPILE_FAILED" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "NO_CONTENT" | "VARIANT_DELIVERY_OVERRIDE_UNSUPPORTED";
	};
};

export type CreateContactError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_FIELD_VALUE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STAGE" | "LIMIT_EXCEEDED" | "UNKNOWN_FIELD";
	};
};

export type CreateCustomFieldError400 = Error & {
	error?: {
		code?: "INVALID_FIELD" | "INVALID_INPUT" | "INVALID_JSON" | "LIMIT_EXCEEDED";
	};
};

export type CreateCustomFieldRequestBody = {
	currency_code?: string | null;
	default_value?: unknown;
	enum_values?: string[];
	field_key?: string | null;
	field_type: string;
	name: string;
	value_constraint?: string | null;
};

export type CreateDomainRequestBody = {
	domain: string;
	return_path_subdomain?: string;
	tracking_subdomain?: string;
};

export type CreateMessageError400 = Error & {
	error?: {
		code?: "INVALID_BINDING" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS" | "INVALID_TEMPLATE" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_COMPILE_FAILED" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "NO_CONTENT";
	};
};

export type CreateSavedFilterError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS" | "LIMIT_EXCEEDED";
	};
};

export type CreateSegmentError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_INPUT" | "INVALID_JSON" | "LIMIT_EXCEEDED" | "MISSING_DEFINITION" | "SEGMENT_CYCLE";
	};
};

export type CreateSegmentFromBroadcastError400 = Error & {
	error?: {
		code?: "INVALID_CRITERION" | "INVALID_DEFINITION" | "INVALID_INPUT" | "INVALID_JSON" | "LIMIT_EXCEEDED" | "SEGMENT_CYCLE";
	};
};

export type CreateSegmentRequestBody = {
	definition?: RuleDefinition | null;
	name: string;
	tags?: string[];
	type?: "dynamic" | "static";
};

export type CreateTemplateError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SCHEMA" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "UNRESOLVED_REFERENCE";
	};
};

export type CreateTemplateRequestBody = {
	content_html: string;
	content_mjml?: string | null;
	content_text?: string | null;
	expects_schema?: { [key: string]: unknown }[];
	format?: "html" | "mjml";
	groups_schema?: { [key: string]: unknown }[];
	inline_css?: boolean;
	name: string;
	parameters_schema?: { [key: string]: unknown }[];
	sections_schema?: { [key: string]: unknown }[];
	slots_schema?: { [key: string]: unknown }[];
	slug?: string;
	subject?: string | null;
	tags?: string[];
};

export type CsrfFailedError = Error & {
	error?: {
		code?: "CSRF_FAILED";
	};
};

export type CsrfFailedOrForbiddenError = Error & {
	error?: {
		code?: "CSRF_FAILED" | "FORBIDDEN";
	};
};

export type CsrfFailedOrSignupDisabledError = Error & {
	error?: {
		code?: "CSRF_FAILED" | "SIGNUP_DISABLED";
	};
};

export type CustomFieldRow = {
	created_at: string;
	currency_code: string | null;
	default_value: unknown;
	enum_values: string[] | null;
	field_key: string;
	field_type: "string" | "number" | "boolean" | "date" | "datetime" | "time" | "enum" | "tags" | "email" | "url" | "timezone" | "country" | "currency" | "contact";
	id: string;
	name: string;
	tenant_id: string;
	value_constraint: "strict" | "open";
};

export type CustomFieldUsage = {
	usage: { [key: string]: number };
};

export type DNSRecord = {
	checked_at: string | null;
	found: string | null;
	host: string;
	note: string | null;
	priority?: number;
	problem: string | null;
	purpose: "dkim" | "return_path" | "return_path_spf" | "dmarc" | "tracking" | "dkim_ed25519";
	required: boolean;
	status: "missing" | "invalid" | "ok";
	type: "TXT" | "MX" | "CNAME";
	value: string;
};

export type DeleteTenantRequestBody = {
	confirm_slug: string;
};

export type DeletionBegun = { [key: string]: unknown };

export type DeliveryProgress = {
	bounced: number;
	cancelled: number;
	deferred: number;
	delivered: number;
	eta: string | null;
	excluded: { [key: string]: number };
	failed: number;
	held_back: number;
	limited_by: LimitedBy | null;
	next_batch_at: string | null;
	phase: "preparing" | "sending" | "waiting" | "paused" | "done";
	plan: PlanDay[] | null;
	progress_pct: number;
	queued: number;
	rate_per_minute: number;
	remaining: number;
	seed_copies: SeedCopies;
	sent: number;
	skipped: number;
	total_recipients: number;
};

export type DeliveryRow = {
	attempts: number;
	created_at: string;
	error: string | null;
	event_type: "*" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.failed" | "broadcast.scheduled" | "broadcast.started" | "broadcast.paused" | "broadcast.resumed" | "broadcast.completed" | "broadcast.failed" | "broadcast.cancelled" | "sequence.enrolled" | "sequence.completed" | "sequence.exited" | "form.submitted" | "event.recorded" | "list.member_added" | "list.member_removed" | "suppression.added" | "suppression.removed" | "domain.verified" | "domain.failed" | "domain.paused" | "mta.down" | "mta.recovered" | "import.completed" | "webhook.test";
	id: string;
	last_attempt_at: string | null;
	next_attempt_at: string | null;
	response_code: number | null;
	response_ms: number | null;
	status: "pending" | "retrying" | "delivered" | "failed";
};

export type DeviceFigures = {
	clicks: number;
	device: "desktop" | "mobile" | "tablet" | "unknown";
	opens: number;
};

export type Diff = {
	added: Added[];
	changed: Changed[];
	issues: Issue[];
	removed: Removed[];
	template_changed: boolean;
};

export type DirectSourceBody = {
	helo_host?: string;
	ip?: string;
};

export type DomainCount = {
	count: number;
	domain: string;
};

export type DomainHealth = {
	complaint_rate: number;
	deliveries: number;
	good_days: number;
	hard_bounce_rate: number;
	since: string;
	warnings: DomainWarning[];
};

export type DomainNotVerifiedOrDuplicateNameError = Error & {
	error?: {
		code?: "DOMAIN_NOT_VERIFIED" | "DUPLICATE_NAME";
	};
};

export type DomainNotVerifiedOrDuplicateNameOrIdempotencyInProgressError = Error & {
	error?: {
		code?: "DOMAIN_NOT_VERIFIED" | "DUPLICATE_NAME" | "IDEMPOTENCY_IN_PROGRESS";
	};
};

export type DomainWarning = {
	broadcast_id: string | null;
	count: number;
	metric: "complaint_rate" | "hard_bounce_rate" | "refusal_rate" | "auth_failure_rate" | "unknown_user_rate" | "throughput";
	of: number;
	provider: string | null;
	rate: number;
	since: string;
	threshold: number;
	window_minutes: number;
};

export type DuplicateDomainOrIdempotencyInProgressError = Error & {
	error?: {
		code?: "DUPLICATE_DOMAIN" | "IDEMPOTENCY_IN_PROGRESS";
	};
};

export type DuplicateEmailOrDuplicateExternalIdOrIdempotencyInProgressError = Error & {
	error?: {
		code?: "DUPLICATE_EMAIL" | "DUPLICATE_EXTERNAL_ID" | "IDEMPOTENCY_IN_PROGRESS";
	};
};

export type DuplicateEmailOrDuplicateExternalIdOrInvalidTransitionError = Error & {
	error?: {
		code?: "DUPLICATE_EMAIL" | "DUPLICATE_EXTERNAL_ID" | "INVALID_TRANSITION";
	};
};

export type DuplicateEmailOrDuplicateSlugError = Error & {
	error?: {
		code?: "DUPLICATE_EMAIL" | "DUPLICATE_SLUG";
	};
};

export type DuplicateEmailOrIdempotencyInProgressError = Error & {
	error?: {
		code?: "DUPLICATE_EMAIL" | "IDEMPOTENCY_IN_PROGRESS";
	};
};

export type DuplicateExternalIdError = Error & {
	error?: {
		code?: "DUPLICATE_EXTERNAL_ID";
	};
};

export type DuplicateFieldKeyOrIdempotencyInProgressError = Error & {
	error?: {
		code?: "DUPLICATE_FIELD_KEY" | "IDEMPOTENCY_IN_PROGRESS";
	};
};

export type DuplicateNameError = Error & {
	error?: {
		code?: "DUPLICATE_NAME";
	};
};

export type DuplicateNameOrIdempotencyInProgressError = Error & {
	error?: {
		code?: "DUPLICATE_NAME" | "IDEMPOTENCY_IN_PROGRESS";
	};
};

export type DuplicateSlugError = Error & {
	error?: {
		code?: "DUPLICATE_SLUG";
	};
};

export type EligibilityRow = {
	action?: "restore" | "reset_status" | "clear_do_not_contact" | "remove_suppression" | "change_email" | "change_segments";
	check: "audience" | "recipient" | "pending" | "not_active" | "do_not_contact" | "suppressed_address" | "unsubscribed_category" | "unsubscribed_type" | "invalid_email";
	detail?: string;
	ok: boolean;
	reason?: string;
	since?: string;
};

export type EligibleBlock = {
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slot_keys: string[];
	slug: string;
	tags: string[];
};

export type EmailCategoryBody = {
	description?: string | null;
	name?: string;
	sort_order?: number;
};

export type EmailCategoryRow = {
	created_at: string;
	description: string | null;
	id: string;
	name: string;
	revision: number;
	sort_order: number;
	tenant_id: string;
};

export type EmailTypeBody = {
	active?: boolean;
	category_id?: string | null;
	description?: string | null;
	display_name?: string;
	list_id_enabled?: boolean;
	list_key?: string | null;
	sort_order?: number;
	type_key?: string | null;
	utm_campaign_prefix?: string | null;
};

export type EmailTypeRow = {
	active: boolean;
	category_id: string | null;
	created_at: string;
	description: string | null;
	display_name: string;
	id: string;
	list_id_enabled: boolean;
	list_key: string | null;
	revision: number;
	sort_order: number;
	tenant_id: string;
	type_key: string;
	utm_campaign_prefix: string | null;
};

export type EnrollContactError400 = Error & {
	error?: {
		code?: "INVALID_FIELD_VALUE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STAGE" | "LIMIT_EXCEEDED" | "MISSING_IDENTIFIER" | "UNKNOWN_FIELD";
	};
};

export type EnrollContactRequestBody = {
	company?: string | null;
	contact_id?: string | null;
	custom_fields?: { [key: string]: unknown };
	email?: string | null;
	external_id?: string | null;
	first_name?: string | null;
	idempotency_key?: string;
	last_name?: string | null;
	stage_id?: string | null;
	tags?: string[];
};

export type EnrollLimitOrRateLimitedError = Error & {
	error?: {
		code?: "ENROLL_LIMIT" | "RATE_LIMITED";
	};
};

export type EnrollResult = {
	contact_created: boolean;
	contact_id: string;
	enrollment_id: string;
	status: "enrolled" | "duplicate" | "sequence_not_active" | "enroll_limit";
};

export type Enrollment = {
	contact_id: string;
	current_node_id: string | null;
	due_at: string | null;
	email: string;
	enrollment_id: string;
	entered_at: string;
	entered_node_at: string | null;
	exit_reason: string | null;
	exited_at: string | null;
	outcome: "in_progress" | "completed" | "converted" | "unsubscribed" | "exited_early" | "failed";
	sequence_id: string;
	sequence_name: string;
	status: "active" | "paused" | "completed" | "exited" | "failed";
};

export type EnrollmentStep = {
	branch_label: string | null;
	entered_at: string;
	left_at: string | null;
	next_node_id: string | null;
	node_changed: boolean;
	node_id: string;
	number: number;
	type: "send" | "wait" | "condition" | "branch" | "split" | "list" | "tag" | "update_contact" | "stage" | "subscription" | "event" | "webhook" | "notify" | "enroll" | "goal" | "exit" | null;
	why: EnrollmentStepWhy;
};

export type EnrollmentStepWhy = {
	code: "carried_out" | "not_carried_out" | "mail_queued" | "mail_refused" | "mail_unavailable" | "waited" | "met" | "timed_out" | "condition_met" | "condition_not_met" | "split" | "goal_met" | "goal_not_met" | "goal_reached" | "exited" | "waiting" | "paused" | "pending";
	definition: { [key: string]: unknown } | null;
	message_id: string | null;
	reason_code: string | null;
	request: StepRequest | null;
	until: string | null;
};

export type Error = {
	error: {
		code: string;
		details?: { [key: string]: unknown };
		message: string;
	};
	statusCode?: number;
};

export type EventBatch = {
	events: {
		contact_email?: unknown;
		contact_id?: unknown;
		event_name?: unknown;
		idempotency_key?: unknown;
		occurred_at?: unknown;
		properties?: unknown;
		type?: unknown;
	}[];
};

export type EventInput = {
	contact_email?: string | null;
	contact_id?: string | null;
	event_name: string;
	idempotency_key?: string | null;
	occurred_at?: string | null;
	properties?: { [key: string]: unknown } | null;
	type?: string | null;
};

export type EventProperty = {
	operator: string;
	property: string;
	value?: unknown;
};

export type EventResult = {
	contact_id?: string;
	error?: ItemError;
	event_id?: string;
	warnings?: string[];
};

export type ExpectEntry = {
	fallback: string | number | boolean | null | unknown[] | { [key: string]: unknown };
	item_schema: PropertyEntry[];
	label: string | null;
	path: string;
	required: boolean;
	sample: string | number | boolean | null | unknown[] | { [key: string]: unknown };
	type: "string" | "number" | "boolean" | "date" | "datetime" | "array" | "object";
};

export type ExportAuditLogRequestBody = {
	action?: string;
	actor_id?: string;
	actor_type?: "user" | "api_key" | "system";
	before?: string;
	bom?: boolean;
	format?: "csv" | "ndjson";
	since?: string;
	target_id?: string;
	target_type?: string;
};

export type ExportBroadcastError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS" | "LIMIT_EXCEEDED";
	};
};

export type ExportBroadcastRequestBody = {
	bom?: boolean;
	format?: "csv" | "ndjson";
	search?: string;
	status?: string;
	variant_id?: string;
	what: "recipients" | "bounces";
};

export type ExportContactsError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS" | "LIMIT_EXCEEDED";
	};
};

export type ExportContactsRequestBody = {
	bom?: boolean;
	fields?: string[];
	format?: "csv" | "ndjson";
	selector?: ContactSelectorBody;
};

export type FailPatternBody = {
	pattern?: string;
	response?: string;
};

export type FailureInfo = {
	code: string;
	failed_at: string;
	failed_count: number;
	message: string;
	samples: FailureSample[];
};

export type FailureSample = {
	email: string;
	error: string;
};

export type FeedContact = {
	email: string;
	id: string;
	name: string | null;
};

export type FeedRow = {
	broadcast_id?: string;
	classification?: string;
	contact: FeedContact;
	event_name?: string;
	event_type?: string;
	id: string;
	occurred_at: string;
	properties: { [key: string]: unknown };
	rules?: string[];
	sequence_id?: string;
	source: "email" | "website" | "form" | "api" | "account";
	title: string;
	type: string;
};

export type FieldInUseError = Error & {
	error?: {
		code?: "FIELD_IN_USE";
	};
};

export type ForbiddenError = Error & {
	error?: {
		code?: "FORBIDDEN";
	};
};

export type ForecastDayRow = {
	capacity: number | null;
	date: string;
	planned: number;
	status: "today" | "planned" | "skipped";
	taken_by_others: number;
};

export type ForgotPasswordRequestBody = {
	email: string;
};

export type FormBody = {
	allowed_origins?: string[];
	captcha?: FormCaptchaBody | null;
	confirm_message_id?: string | null;
	confirm_redirect_url?: string | null;
	double_opt_in?: boolean;
	fields?: FormFieldInput[];
	list_segment_keys?: string[];
	name?: string;
	redirect_url?: string | null;
	stage_id?: string | null;
	submit_label?: string;
	success_message?: string | null;
	success_mode?: string;
	tags?: string[];
};

export type FormCaptcha = {
	provider: "none" | "turnstile" | "hcaptcha";
	site_key: string | null;
};

export type FormCaptchaBody = {
	provider?: string;
	secret_key?: string | null;
	site_key?: string | null;
};

export type FormConsent = {
	binding: string;
	wording: string;
};

export type FormEmbed = {
	form_id: string;
	html: string;
	installable?: boolean;
	script_tag: string;
	slug: string;
	snippet: string;
	tracking_domain: string | null;
};

export type FormField = {
	binding: string | null;
	default_value: string | number | boolean | null;
	help_text: string | null;
	id: string;
	input: string | null;
	label: string;
	options: string[] | null;
	param: string | null;
	placeholder: string | null;
	required: boolean;
	sort_order: number;
	type: "contact" | "custom_field" | "consent" | "hidden" | "text_block";
};

export type FormFieldInput = {
	binding?: string | null;
	default_value?: unknown;
	help_text?: string | null;
	id?: string;
	input?: string | null;
	label?: string | null;
	options?: string[];
	param?: string | null;
	placeholder?: string | null;
	required?: boolean;
	sort_order?: number;
	type: string;
};

export type FormRow = {
	allowed_origins: string[];
	captcha: FormCaptcha;
	confirm_message_id: string | null;
	confirm_redirect_url: string | null;
	created_at: string;
	double_opt_in: boolean;
	fields: FormField[];
	id: string;
	last_submission_at: string | null;
	list_segment_keys: string[];
	name: string;
	redirect_url: string | null;
	slug: string;
	stage_id: string | null;
	status: "draft" | "published" | "archived";
	submission_count: number;
	submit_label: string;
	success_message: string;
	success_mode: "message" | "redirect";
	tags: string[];
	tenant_id: string;
	updated_at: string;
};

export type FormSubmission = {
	confirmed_at: string | null;
	consents: FormConsent[];
	contact_id: string | null;
	email: string | null;
	fields: { [key: string]: unknown };
	id: string;
	ip: string | null;
	outcome: "accepted" | "awaiting_confirmation" | "confirmed" | "spam";
	page_url: string | null;
	submitted_at: string;
	user_agent: string | null;
};

export type FormSummary = {
	allowed_origins: string[];
	captcha: FormCaptcha;
	confirm_message_id: string | null;
	confirm_redirect_url: string | null;
	created_at: string;
	double_opt_in: boolean;
	id: string;
	last_submission_at: string | null;
	list_segment_keys: string[];
	name: string;
	redirect_url: string | null;
	slug: string;
	stage_id: string | null;
	status: "draft" | "published" | "archived";
	submission_count: number;
	submit_label: string;
	success_message: string;
	success_mode: "message" | "redirect";
	tags: string[];
	tenant_id: string;
	updated_at: string;
};

export type FullDelivery = {
	attempts: number;
	created_at: string;
	error: string | null;
	event_type: "*" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.failed" | "broadcast.scheduled" | "broadcast.started" | "broadcast.paused" | "broadcast.resumed" | "broadcast.completed" | "broadcast.failed" | "broadcast.cancelled" | "sequence.enrolled" | "sequence.completed" | "sequence.exited" | "form.submitted" | "event.recorded" | "list.member_added" | "list.member_removed" | "suppression.added" | "suppression.removed" | "domain.verified" | "domain.failed" | "domain.paused" | "mta.down" | "mta.recovered" | "import.completed" | "webhook.test";
	id: string;
	last_attempt_at: string | null;
	next_attempt_at: string | null;
	request_body: string;
	response_body: string | null;
	response_code: number | null;
	response_ms: number | null;
	status: "pending" | "retrying" | "delivered" | "failed";
};

export type FullSessionContent = {
	body_html: string | null;
	body_mjml: string | null;
	body_text: string | null;
	from_name: string | null;
	preheader: string | null;
	reply_to: string | null;
	subject: string | null;
	template_binding: { [key: string]: unknown } | null;
	template_id: string | null;
	template_slug: string | null;
	template_snapshot: { [key: string]: unknown } | null;
};

export type GraphCheck = {
	issues: GraphIssue[];
	leaving: number;
	unready: GraphIssue[];
	valid: boolean;
	warnings: GraphIssue[];
};

export type GraphIssue = {
	code: string;
	edge?: number;
	message: string;
	node_id: string | null;
};

export type GroupEntry = {
	collapsed: boolean;
	help_text: string | null;
	label: string | null;
	name: string;
	parameters: string[];
	sections: string[];
	slots: string[];
};

export type Holder = {
	id?: string;
	name: string;
	segment_key?: string;
	status?: string;
	version?: number;
	where?: string;
};

export type IdempotencyInProgressError = Error & {
	error?: {
		code?: "IDEMPOTENCY_IN_PROGRESS";
	};
};

export type IdempotencyInProgressOrInvalidTransitionError = Error & {
	error?: {
		code?: "IDEMPOTENCY_IN_PROGRESS" | "INVALID_TRANSITION";
	};
};

export type IdempotencyInProgressOrNotStaticError = Error & {
	error?: {
		code?: "IDEMPOTENCY_IN_PROGRESS" | "NOT_STATIC";
	};
};

export type IdentityBody = {
	active?: boolean;
	content_rewrite_domain?: string | null;
	default_mta_config_id?: string | null;
	display_name?: string;
	email_address?: string;
	email_type_ids?: string[];
	image_rewrite_domain?: string | null;
	reply_to?: string | null;
	utm_code?: string | null;
};

export type IdentityRow = {
	active: boolean;
	content_rewrite_domain: string | null;
	created_at: string;
	default_mta_config_id: string | null;
	display_name: string;
	email_address: string;
	email_type_ids: string[];
	id: string;
	image_rewrite_domain: string | null;
	reply_to: string | null;
	sending_domain_id: string;
	tenant_id: string;
	tracking_domain: string | null;
	utm_code: string | null;
	verified_mta_config_ids: string[];
};

export type IdentitySecretRow = {
	created_at: string;
	secret: string;
};

export type IdentitySession = {
	bounced: number;
	click_rate: number;
	clicked: number;
	delivered: number;
	open_rate: number;
	opened: number;
	recipients: number;
	sending_identity_email: string | null;
	sending_identity_id: string;
	unsubscribed: number;
};

export type ImportAccepted = {
	file_id?: string;
	job_id: string;
};

export type ImportContactsError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_INPUT" | "INVALID_SEGMENT" | "LIMIT_EXCEEDED";
	};
};

export type ImportOptions = {
	dry_run?: boolean;
	encoding?: string | null;
	file_id?: string | null;
	forms?: { [key: string]: string };
	mapping?: { [key: string]: string | null };
	mode?: "create" | "update" | "upsert";
	quote?: string | null;
	remembered?: boolean;
	segment_key?: string | null;
	separator?: string | null;
	sheet?: string | null;
	strict?: boolean;
	subscriptions?: { [key: string]: boolean };
	tags?: string[];
	update_blank?: boolean;
};

export type ImportSuppressionsRequestBody = {
	emails: string[];
	reason?: string | null;
};

export type ImportedSuppressions = {
	added: number;
	invalid: string[];
	updated: number;
};

export type InUseError = Error & {
	error?: {
		code?: "IN_USE";
	};
};

export type InternalErrorError = Error & {
	error?: {
		code?: "INTERNAL_ERROR";
	};
};

export type IntervalRate = {
	high: number;
	low: number;
	rate: number;
};

export type InvalidCredentialsError = Error & {
	error?: {
		code?: "INVALID_CREDENTIALS";
	};
};

export type InvalidCredentialsOrUnauthorizedError = Error & {
	error?: {
		code?: "INVALID_CREDENTIALS" | "UNAUTHORIZED";
	};
};

export type InvalidCursorOrInvalidInputError = Error & {
	error?: {
		code?: "INVALID_CURSOR" | "INVALID_INPUT";
	};
};

export type InvalidCursorOrInvalidInputOrInvalidStatusError = Error & {
	error?: {
		code?: "INVALID_CURSOR" | "INVALID_INPUT" | "INVALID_STATUS";
	};
};

export type InvalidEmailTypeOrInvalidInputError = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_INPUT";
	};
};

export type InvalidFieldOrInvalidInputOrInvalidJsonError = Error & {
	error?: {
		code?: "INVALID_FIELD" | "INVALID_INPUT" | "INVALID_JSON";
	};
};

export type InvalidGraphOrInvalidInputOrInvalidJsonError = Error & {
	error?: {
		code?: "INVALID_GRAPH" | "INVALID_INPUT" | "INVALID_JSON";
	};
};

export type InvalidGraphOrInvalidInputOrLimitExceededError = Error & {
	error?: {
		code?: "INVALID_GRAPH" | "INVALID_INPUT" | "LIMIT_EXCEEDED";
	};
};

export type InvalidInputError = Error & {
	error?: {
		code?: "INVALID_INPUT";
	};
};

export type InvalidInputOrInvalidJsonError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON";
	};
};

export type InvalidInputOrInvalidJsonOrInvalidScopeError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SCOPE";
	};
};

export type InvalidInputOrInvalidJsonOrInvalidSkipError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SKIP";
	};
};

export type InvalidInputOrInvalidJsonOrInvalidTokenError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_TOKEN";
	};
};

export type InvalidInputOrInvalidJsonOrLimitExceededError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "LIMIT_EXCEEDED";
	};
};

export type InvalidInputOrInvalidJsonOrTooManyError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "TOO_MANY";
	};
};

export type InvalidInputOrInvalidMetadataFilterOrInvalidStatusError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_METADATA_FILTER" | "INVALID_STATUS";
	};
};

export type InvalidInputOrInvalidStageError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_STAGE";
	};
};

export type InvalidInputOrInvalidStatusError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_STATUS";
	};
};

export type InvalidInputOrLimitExceededError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "LIMIT_EXCEEDED";
	};
};

export type InvalidInputOrMissingIdentifierError = Error & {
	error?: {
		code?: "INVALID_INPUT" | "MISSING_IDENTIFIER";
	};
};

export type InvalidTransitionError = Error & {
	error?: {
		code?: "INVALID_TRANSITION";
	};
};

export type InvalidTransitionOrNotDraftOrNoSpreadPlanError = Error & {
	error?: {
		code?: "INVALID_TRANSITION" | "NOT_DRAFT" | "NO_SPREAD_PLAN";
	};
};

export type InvalidTransitionOrPauseCauseActiveError = Error & {
	error?: {
		code?: "INVALID_TRANSITION" | "PAUSE_CAUSE_ACTIVE";
	};
};

export type InviteMemberRequestBody = {
	email: string;
	role: string;
};

export type InvitedMember = {
	accept_url: string | null;
	created_at: string;
	email: string;
	id: string;
	invitation_failed: string | null;
	last_login_at: string | null;
	name: string;
	role: "viewer" | "editor" | "admin" | "owner";
	status: "invited" | "active" | "disabled";
};

export type Issue = {
	code: string;
	fix: string;
	message: string;
	path: string;
};

export type ItemError = {
	code: string;
	details?: unknown;
	message: string;
};

export type JobError = {
	code: string;
	message: string;
};

export type JobProgress = {
	processed: number;
	total?: number;
};

export type JobSession = {
	created_at: string;
	created_by: Actor;
	error?: JobError;
	files_until: string | null;
	finished_at?: string;
	id: string;
	progress: JobProgress;
	result?: unknown;
	status: "queued" | "running" | "completed" | "failed" | "cancelled";
	title: string;
	type: "import" | "export" | "bulk" | "import_undo";
};

export type JoinTenantRequestBody = {
	token: string;
};

export type KeyRotation = {
	next_selector: string | null;
	retire_at: string | null;
	retired_selector: string | null;
	started_at: string | null;
};

export type LackingField = {
	count: number;
	field: string;
};

export type LaneShareBody = {
	mta_config_id?: unknown;
	mta_config_key?: string | null;
	weight?: number;
};

export type LargeChangeError = Error & {
	error?: {
		code?: "LARGE_CHANGE";
	};
};

export type LimitExceededError = Error & {
	error?: {
		code?: "LIMIT_EXCEEDED";
	};
};

export type LimitedBy = {
	kind: "mta_config_rate" | "mta_config_day" | "mta_config_down" | "provider_rate" | "provider_connections" | "broadcast_rate" | "dns" | "hold";
	message: string;
	mta_config_key: string | null;
	per_minute: number | null;
	provider: string | null;
	until: string;
};

export type LinkRequested = { [key: string]: unknown };

export type LinkRow = {
	click_rate: number;
	first_click_at: string | null;
	label: string;
	last_click_at: string | null;
	link_id: number;
	total_clicks: number;
	unique_clicks: number;
	url: string;
};

export type LinkView = {
	email: string | null;
	expired: boolean;
	kind: "signup" | "password_reset" | "invitation" | "login";
	name: string | null;
	password: "new" | "current" | "either" | "none";
	role: "viewer" | "editor" | "admin" | "owner" | null;
	senders: string[];
	tenant_name: string | null;
};

export type ListAPIKey = {
	data: APIKey[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListActivityRow = {
	data: ActivityRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListAnyBlockRow = {
	data: AnyBlockRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListAnyTemplateRow = {
	data: AnyTemplateRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListAssetRow = {
	data: AssetRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListAuditRow = {
	data: AuditRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListAutomation = {
	data: Automation[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListAutomationRun = {
	data: AutomationRun[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListBounceRow = {
	data: BounceRow[];
	has_more: boolean;
	next_cursor: string | null;
	summary: BounceSummary;
	total?: number;
};

export type ListBroadcastRow = {
	data: BroadcastRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListConsentRow = {
	data: ConsentRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListContact = {
	data: Contact[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListContactListRow = {
	data: ContactListRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListContactsError400 = Error & {
	error?: {
		code?: "INVALID_CURSOR" | "INVALID_DEFINITION" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_STATUS";
	};
};

export type ListCustomFieldRow = {
	data: CustomFieldRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListDeliveryRow = {
	data: DeliveryRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListEmailCategoryRow = {
	data: EmailCategoryRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListEmailTypeRow = {
	data: EmailTypeRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListEnrollment = {
	data: Enrollment[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListEnrollmentStep = {
	data: EnrollmentStep[];
	has_more: boolean;
	next_cursor: string | null;
	omitted: number;
	total?: number;
};

export type ListFeedRow = {
	data: FeedRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListFormSubmission = {
	data: FormSubmission[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListFormSummary = {
	data: FormSummary[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListIdentityRow = {
	data: IdentityRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListJobSession = {
	data: JobSession[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListMember = {
	data: Member[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListMessageRow = {
	data: MessageRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListMessageVersion = {
	data: MessageVersionSession[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListMtaConfigRow = {
	data: MtaConfigRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListOwnSession = {
	data: OwnSession[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListRecipientRow = {
	data: RecipientRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSavedFilterRow = {
	data: SavedFilterRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListScopeRow = {
	data: ScopeRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSeedListRow = {
	data: SeedListRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSeedRow = {
	data: SeedRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSeedSyncRow = {
	data: SeedSyncRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSegmentRow = {
	data: SegmentSession[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSendingDomain = {
	data: SendingDomain[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSequence = {
	data: Sequence[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSinkMessageRow = {
	data: SinkMessageRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListStageRow = {
	data: StageRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSuggestion = {
	data: Suggestion[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListSuppressionRow = {
	data: SuppressionRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListTemplateStarter = {
	data: TemplateStarter[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListThumbnail = {
	data: Thumbnail[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListWebhookRow = {
	data: WebhookRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type ListWorkingCopyRow = {
	data: WorkingCopyRow[];
	has_more: boolean;
	next_cursor: string | null;
	total?: number;
};

export type LiveBroadcast = {
	delivery_progress: DeliveryProgress | null;
	id: string;
	name: string;
	pause_reason: string | null;
	status: "sending" | "paused";
};

export type LogInByLinkRequestBody = {
	token: string;
};

export type LogInRequestBody = {
	email: string;
	password: string;
};

export type Member = {
	created_at: string;
	email: string;
	id: string;
	invitation_failed: string | null;
	last_login_at: string | null;
	name: string;
	role: "viewer" | "editor" | "admin" | "owner";
	status: "invited" | "active" | "disabled";
};

export type MembersRequestBody = {
	contact_ids?: string[];
	emails?: string[];
};

export type MessageBody = {
	content?: ContentBody | null;
	name?: string;
	slug?: string;
	status?: string;
	tags?: string[];
};

export type MessageRow = {
	created_at: string;
	current_version: number;
	id: string;
	name: string;
	slug: string;
	status: "draft" | "published" | "archived";
	tags: string[];
	template_id?: string;
	template_slug?: string;
	tenant_id: string;
	updated_at: string;
	usage?: MessageUse[];
};

export type MessageSession = {
	created_at: string;
	current_content: FullSessionContent | null;
	current_version: number;
	id: string;
	name: string;
	slug: string;
	status: "draft" | "published" | "archived";
	tags: string[];
	template_id?: string;
	template_slug?: string;
	tenant_id: string;
	updated_at: string;
	usage?: MessageUse[];
	warnings?: Trouble[];
};

export type MessageUse = {
	kind: "broadcast" | "sequence";
	name: string;
	status: string;
	version: number | null;
};

export type MessageVersionSession = {
	content: FullSessionContent;
	created_at: string;
	id: string;
	message_id: string;
	usage?: MessageUse[];
	version: number;
};

export type MetricsRow = {
	bounced: number;
	bounced_rate: number;
	broadcast_id: string;
	clicked: number;
	clicked_rate: number;
	delivered: number;
	delivered_rate: number;
	last_send_at: string | null;
	opened: number;
	opened_rate: number;
	pending_clicked: number;
	pending_opened: number;
	sparkline: number[];
	total_recipients: number;
};

export type MtaCaps = {
	at_most_per_hour: number | null;
	max_connections: number;
	max_messages_per_connection: number;
	max_per_day: number | null;
	max_per_hour: number | null;
	max_per_minute: number | null;
	max_per_second: number | null;
};

export type MtaCapsBody = {
	max_connections?: number;
	max_messages_per_connection?: number;
	max_per_day?: number | null;
	max_per_hour?: number | null;
	max_per_minute?: number | null;
	max_per_second?: number | null;
};

export type MtaConfigBody = {
	active?: boolean;
	caps?: MtaCapsBody;
	domain_throttles?: MtaThrottleBody[];
	name?: string;
	retry?: MtaRetryBody;
	return_path_records?: ReturnPathRecordBody[];
	settings?: MtaSettingsBody;
	type?: string;
	warmup?: MtaWarmupBody | null;
};

export type MtaConfigRow = {
	active: boolean;
	caps: MtaCaps;
	created_at: string;
	domain_throttles: MtaThrottle[];
	health: MtaHealth;
	hook_url: string | null;
	id: string;
	key: string;
	name: string;
	retry: MtaRetry;
	return_path_records: ReturnPathRecordRow[];
	settings: unknown;
	tenant_id: string;
	tested_at: string | null;
	type: "smtp" | "direct_mx" | "ses" | "sink";
	usage?: MtaUsage;
	warmup: MtaWarmup;
};

export type MtaHealth = {
	held_bounces: number;
	last_error: string | null;
	remaining_today: number | null;
	sent_today: number;
	since: string;
	state: "healthy" | "degraded" | "down";
};

export type MtaRetry = {
	max_age_hours: number;
};

export type MtaRetryBody = {
	max_age_hours?: number;
};

export type MtaSettingsBody = {
	access_key_id?: string;
	auth?: string;
	bounce_mailbox?: BounceMailboxBody | null;
	configuration_set?: string | null;
	dkim_sign?: boolean;
	fail_patterns?: FailPatternBody[];
	helo_host?: string | null;
	host?: string;
	ips?: DirectSourceBody[];
	password?: string | null;
	port?: number;
	region?: string;
	secret_access_key?: string;
	tls?: string;
	topic_arns?: string[];
	username?: string | null;
};

export type MtaSourceWarmup = {
	ip: string;
	per_day: number;
	providers: { [key: string]: number };
	started_on: string;
};

export type MtaThrottle = {
	at_most_per_hour: number | null;
	max_connections: number | null;
	max_per_hour: number | null;
	max_per_minute: number | null;
	pattern: string;
};

export type MtaThrottleBody = {
	max_connections?: number | null;
	max_per_hour?: number | null;
	max_per_minute?: number | null;
	pattern?: string;
};

export type MtaUsage = {
	account: boolean;
	broadcasts: Holder[];
	sending_identities: Holder[];
	sequences: Holder[];
};

export type MtaWarmup = {
	days?: MtaWarmupDay[];
	enabled: boolean;
	growth_pct: number;
	sources?: MtaSourceWarmup[];
	start_per_day: number;
	started_on: string | null;
};

export type MtaWarmupBody = {
	enabled?: boolean;
	growth_pct?: number;
	start_per_day?: number;
	started_on?: string | null;
};

export type MtaWarmupDay = {
	date: string;
	limit: number | null;
	planned: number;
};

export type NewAPIKey = {
	created_at: string;
	created_by: ApiKeyAuthor | null;
	expires_at: string | null;
	id: string;
	key: string;
	last_used_at: string | null;
	name: string;
	prefix: string;
	revoked_at: string | null;
	scopes: string[];
	status: "active" | "expired" | "revoked";
};

export type NoTriggerOrTriggerNotRecordedError = Error & {
	error?: {
		code?: "NO_TRIGGER" | "TRIGGER_NOT_RECORDED";
	};
};

export type NotDraftError = Error & {
	error?: {
		code?: "NOT_DRAFT";
	};
};

export type NotEditableError = Error & {
	error?: {
		code?: "NOT_EDITABLE";
	};
};

export type NotFoundError = Error & {
	error?: {
		code?: "NOT_FOUND";
	};
};

export type NotFoundOrTenantNotFoundError = Error & {
	error?: {
		code?: "NOT_FOUND" | "TENANT_NOT_FOUND";
	};
};

export type NotSendingOrNoSpreadPlanError = Error & {
	error?: {
		code?: "NOT_SENDING" | "NO_SPREAD_PLAN";
	};
};

export type NotStaticError = Error & {
	error?: {
		code?: "NOT_STATIC";
	};
};

export type Notice = {
	kind: "domain" | "mta" | "seed_list" | "webhook" | "job" | "broadcast" | "form" | "sequence";
	message: string;
	severity: "error" | "warning";
	since: string | null;
	target_id: string;
	target_type: "domain" | "mta_config" | "seed_list" | "webhook" | "job" | "broadcast" | "form" | "sequence";
};

export type OmittedRecord = {
	host: string;
	purpose: "return_path" | "return_path_spf" | "tracking";
	reason: string;
	type: "TXT" | "MX" | "CNAME";
};

export type OrderStagesRequestBody = {
	ids: string[];
};

export type OverviewDay = {
	bounce_rate: number;
	click_rate: number;
	date: string;
	open_rate: number;
	total_bounced: number;
	total_clicked: number;
	total_complained: number;
	total_delivered: number;
	total_failed: number;
	total_opened: number;
	total_recipients: number;
	total_sent: number;
	total_unsubscribed: number;
	verified_open_rate: number;
	verified_opened: number;
};

export type OverviewTotals = {
	bounce_rate: number;
	click_rate: number;
	open_rate: number;
	total_bounced: number;
	total_clicked: number;
	total_complained: number;
	total_delivered: number;
	total_failed: number;
	total_opened: number;
	total_recipients: number;
	total_sent: number;
	total_unsubscribed: number;
	verified_open_rate: number;
	verified_opened: number;
};

export type OverviewType = {
	bounce_rate: number;
	click_rate: number;
	email_type_id: string | null;
	email_type_key: string | null;
	open_rate: number;
	total_bounced: number;
	total_clicked: number;
	total_complained: number;
	total_delivered: number;
	total_failed: number;
	total_opened: number;
	total_recipients: number;
	total_sent: number;
	total_unsubscribed: number;
	verified_open_rate: number;
	verified_opened: number;
};

export type OwnSession = {
	created_at: string;
	current: boolean;
	expires_at: string;
	id: string;
	ip: string | null;
	last_seen_at: string;
	user_agent: string | null;
};

export type ParameterEntry = {
	default: string | number | boolean | null | string[];
	help_text: string | null;
	label: string | null;
	name: string;
	required: boolean;
	sample: string | number | boolean | null | string[];
	type: "text" | "textarea" | "rich_text" | "html" | "url" | "image" | "email" | "color" | "number" | "boolean" | "date" | "datetime" | "select" | "list";
	validation: { [key: string]: unknown };
};

export type PatchContactError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_FIELD_VALUE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STAGE" | "LIMIT_EXCEEDED" | "UNKNOWN_FIELD";
	};
};

export type PauseCauseActiveError = Error & {
	error?: {
		code?: "PAUSE_CAUSE_ACTIVE";
	};
};

export type PayloadTooLargeError = Error & {
	error?: {
		code?: "PAYLOAD_TOO_LARGE";
	};
};

export type PlanDay = {
	date: string;
	planned: number;
	sent: number;
	status: "done" | "today" | "planned" | "skipped";
};

export type PostalAddress = {
	city: string | null;
	country: string | null;
	line1: string | null;
	line2: string | null;
	postal_code: string | null;
	state: string | null;
};

export type PreviewAnswer = {
	from: string | null;
	html: string | null;
	links: PreviewLink[];
	missing: PreviewMissing[];
	preheader: string | null;
	problems: PreviewProblem[];
	sent_size: number | null;
	size: number | null;
	subject: string | null;
	text: string | null;
};

export type PreviewBlock = {
	active?: boolean;
	content_html?: string | null;
	content_mjml?: string | null;
	content_text?: string | null;
	groups_schema?: { [key: string]: unknown }[];
	name?: string;
	parameters?: { [key: string]: unknown } | null;
	parameters_schema?: { [key: string]: unknown }[];
	sections?: { [key: string]: unknown } | null;
	sections_schema?: { [key: string]: unknown }[];
	slot_keys?: string[];
	slug?: string;
	tags?: string[];
	template_slug?: string | null;
};

export type PreviewEvent = {
	event_name?: string | null;
	occurred_at?: string | null;
	properties?: { [key: string]: unknown } | null;
};

export type PreviewLink = {
	label: string;
	url: string;
};

export type PreviewMailError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SENDING_IDENTITY" | "INVALID_TEMPLATE";
	};
};

export type PreviewMissing = {
	field?: string;
	line?: number;
	mark?: number;
	path: string;
	row?: number;
};

export type PreviewProblem = {
	code: string;
	column?: number;
	field: string;
	fix?: string;
	line?: number;
	mark?: number;
	message: string;
	row?: number;
	severity: "error" | "warning";
};

export type PreviewRequestBody = {
	contact_id?: string | null;
	event?: PreviewEvent | null;
	marks?: boolean | null;
	sending_identity_email?: string | null;
	source: PreviewSource;
	variant_id?: string | null;
};

export type PreviewSegmentError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_INPUT" | "INVALID_JSON" | "MISSING_DEFINITION";
	};
};

export type PreviewSegmentRequestBody = {
	definition?: RuleDefinition | null;
};

export type PreviewSendAnswer = {
	estimated: boolean;
	evaluated_at: string;
	excluded: { [key: string]: number };
	finishes_at: string | null;
	held_back: number;
	largest_recent: number;
	matched: number;
	plan: ForecastDayRow[] | null;
	recipients: number;
	senders: SenderShareRow[];
	starts_at: string;
	variants: VariantShareRow[];
};

export type PreviewSendError400 = Error & {
	error?: {
		code?: "ADVANCED_SPLIT_TEST_UNSUPPORTED" | "INVALID_BINDING" | "INVALID_EMAIL_TYPE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_METADATA" | "INVALID_MTA_CONFIG" | "INVALID_SEGMENT" | "INVALID_SENDING_IDENTITY" | "INVALID_SKIP" | "INVALID_TEMPLATE" | "INVALID_VARIANTS" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_COMPILE_FAILED" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "NO_CONTENT" | "VARIANT_DELIVERY_OVERRIDE_UNSUPPORTED";
	};
};

export type PreviewSendRequestBody = {
	broadcast_id?: string | null;
	content?: BroadcastContent;
	delivery_lanes?: LaneShareBody[];
	delivery_mode?: "now" | "over_days" | "by_date";
	delivery_window_date?: string | null;
	delivery_window_days?: number | null;
	email_type_id?: unknown;
	email_type_key?: string | null;
	exclude_segment_ids?: unknown;
	exclude_segment_keys?: string[];
	include_segment_ids?: unknown;
	include_segment_keys?: string[];
	metadata?: { [key: string]: unknown };
	mode?: "blast";
	mta_config_id?: unknown;
	mta_config_key?: string | null;
	name?: string;
	overflow_mode?: "extend" | "holdback";
	scheduled_at?: string | null;
	seed_list_ids?: unknown;
	sending_identity_emails?: string[];
	sending_identity_ids?: unknown;
	skipped_dates?: string[];
	split_test_config?: unknown;
	tags?: string[];
	throttle_per_hour?: number | null;
	tracking_enabled?: boolean;
	variants?: unknown;
};

export type PreviewSource = {
	block?: PreviewBlock | null;
	broadcast_id?: string | null;
	content?: BroadcastContent | null;
	message_id?: string | null;
	template?: PreviewTemplate | null;
	version?: number | null;
};

export type PreviewTemplate = {
	binding?: { [key: string]: unknown } | null;
	content_html?: string;
	content_mjml?: string | null;
	content_text?: string | null;
	expects_schema?: { [key: string]: unknown }[];
	format?: "html" | "mjml";
	groups_schema?: { [key: string]: unknown }[];
	inline_css?: boolean;
	name?: string;
	parameters_schema?: { [key: string]: unknown }[];
	sections_schema?: { [key: string]: unknown }[];
	slots_schema?: { [key: string]: unknown }[];
	slug?: string;
	subject?: string | null;
	tags?: string[];
};

export type PropertyEntry = {
	label: string | null;
	name: string;
	required: boolean;
	type: "string" | "number" | "boolean" | "date" | "datetime" | "array" | "object";
};

export type ProviderFigures = {
	bounced: number;
	click_rate: number;
	clicked: number;
	delivered: number;
	open_rate: number;
	opened: number;
	provider: string;
	recipients: number;
	unsubscribed: number;
};

export type RateLimitedError = Error & {
	error?: {
		code?: "RATE_LIMITED";
	};
};

export type Readiness = {
	ready: boolean;
	reasons: Reason[];
	warnings: ScheduleWarning[];
};

export type Reason = {
	code: string;
	guard: "segment" | "email_type" | "mta" | "content" | "identity";
	message: string;
};

export type RebaseMessagePreviewError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "NOT_TEMPLATE_MODE" | "NO_CONTENT";
	};
};

export type RebaseMessageRequestBody = {
	version?: number | null;
};

export type RebasedMessage = {
	diff: Diff;
	from_name: string | null;
	merged_binding: { [key: string]: unknown };
	merged_snapshot: TemplateSnapshot;
	preheader: string | null;
	reply_to: string | null;
	subject: string | null;
	version: number;
};

export type RecipientAttempt = {
	at: string;
	code: number | null;
	mta_config_key: string | null;
	reply: string | null;
};

export type RecipientEvidence = {
	attempts: RecipientAttempt[];
	bounce_type: "hard" | "soft" | null;
	bounced_at: string | null;
	complained_at: string | null;
	contact_id: string;
	content_version: number;
	delivered_at: string | null;
	email: string;
	error: string | null;
	first_clicked_at: string | null;
	first_opened_at: string | null;
	hits: RecipientHit[];
	hits_deleted: number;
	message: RecipientMessage | null;
	mta_config_key: string | null;
	planned_for: string | null;
	sending_identity_email: string | null;
	sent_at: string | null;
	skip_reason: string | null;
	status: "pending" | "queued" | "sent" | "delivered" | "deferred" | "bounced" | "failed" | "skipped" | "held_back" | "cancelled";
	unsubscribed_at: string | null;
	variant_id: string | null;
};

export type RecipientHit = {
	agent: string | null;
	at: string;
	class: "pending" | "bot" | "privacy" | "human";
	kind: "open" | "click";
	link_url: string | null;
	network: string | null;
	rules: string[];
};

export type RecipientMessage = {
	content_version: number;
	from: string | null;
	html: string;
	rendered_with: "sent" | "current";
	subject: string;
	text: string;
	variant_id: string | null;
};

export type RecipientRow = {
	bounce_type: "hard" | "soft" | null;
	bounced_at: string | null;
	complained_at: string | null;
	contact_id: string;
	content_version: number;
	delivered_at: string | null;
	email: string;
	error: string | null;
	first_clicked_at: string | null;
	first_opened_at: string | null;
	mta_config_key: string | null;
	planned_for: string | null;
	sending_identity_email: string | null;
	sent_at: string | null;
	skip_reason: string | null;
	status: "pending" | "queued" | "sent" | "delivered" | "deferred" | "bounced" | "failed" | "skipped" | "held_back" | "cancelled";
	unsubscribed_at: string | null;
	variant_id: string | null;
};

export type RecordSearchAnswer = {
	data: RecordSearchResult[];
};

export type RecordSearchResult = {
	id: string;
	match?: number[];
	status?: string;
	subtitle: string | null;
	title: string;
	type: "contact" | "segment" | "broadcast" | "template" | "block" | "message" | "sequence" | "automation" | "form" | "domain" | "identity";
};

export type RecordedEvent = {
	contact_id: string;
	event_id: string;
	warnings?: string[];
};

export type RecordedEvents = {
	results: EventResult[];
};

export type Removed = {
	path: string;
	value: unknown;
};

export type RemovedMembers = {
	not_members: number;
	removed: number;
};

export type RenderTemplateError400 = Error & {
	error?: {
		code?: "INVALID_BINDING" | "INVALID_INPUT" | "INVALID_JSON" | "LIQUID_INVALID" | "MJML_COMPILE_FAILED" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT";
	};
};

export type RenderTemplateRequestBody = {
	include_options?: boolean;
	lenient?: boolean;
	record_id?: string;
	template_binding?: unknown;
};

export type RenderedTemplate = {
	binding_options?: BindingOptions;
	body_html: string;
	body_mjml: string | null;
	body_text: string | null;
	missing?: Issue[];
	slots: { [key: string]: Slot };
	subject: string | null;
	template_snapshot: TemplateSnapshot;
};

export type ReplaceSeedsRequestBody = {
	allow_large_change?: boolean | null;
	dry_run?: boolean | null;
	seeds: SeedEntry[];
};

export type ReportsOverview = {
	by_email_type: OverviewType[];
	from: string;
	previous: OverviewTotals;
	series: OverviewDay[];
	timezone: string;
	to: string;
	totals: OverviewTotals;
};

export type RescheduleBroadcastRequestBody = {
	skipped_dates?: string[];
};

export type ResetPasswordRequestBody = {
	password: string;
	token: string;
};

export type Result = {
	added: number;
	applied: boolean;
	changes?: SeedChange[];
	hand_retired: Sample;
	held_as_contact: Sample;
	invalid: Sample;
	large_change: boolean;
	provider_corrections: Sample;
	reactivated: number;
	removed_unknown: number;
	retired: number;
	sendable_after: number;
	sendable_before: number;
	sync_id: string | null;
	unchanged: number;
};

export type ReturnPathRecordBody = {
	host?: string | null;
	priority?: number | null;
	type?: string;
	value?: string;
};

export type ReturnPathRecordRow = {
	host: string | null;
	priority: number | null;
	type: "MX" | "TXT" | "CNAME";
	value: string;
};

export type RevisionConflictError = Error & {
	error?: {
		code?: "REVISION_CONFLICT";
	};
};

export type RotateAPIKeyRequestBody = {
	grace_seconds?: number;
};

export type RotationInProgressError = Error & {
	error?: {
		code?: "ROTATION_IN_PROGRESS";
	};
};

export type RuleCondition = {
	added?: unknown;
	broadcast_id?: string;
	category_id?: string;
	conditions?: RuleCondition[];
	count?: unknown;
	email_type_key?: string;
	email_type_keys?: string[];
	event?: string;
	event_name?: string;
	field?: string;
	filters?: unknown;
	first?: unknown;
	form_slug?: string;
	level?: string;
	link_url?: string;
	logic?: "and" | "or";
	match?: string;
	negate?: boolean;
	node_id?: string;
	operator?: string;
	segment_keys?: string[];
	sequence_id?: string;
	then?: unknown;
	type?: "field" | "list" | "segment" | "email" | "broadcast" | "sequence_email" | "event" | "event_sequence" | "page_view" | "form" | "subscription" | "sequence" | "suppression";
	url?: string;
	value?: unknown;
	variant_id?: string;
	window?: unknown;
	within?: unknown;
};

export type RuleDefinition = {
	conditions: RuleCondition[];
	logic: "and" | "or";
	negate?: boolean;
};

export type Sample = {
	count: number;
	sample: string[];
};

export type SavedBlock = {
	active: boolean;
	content_html: string | null;
	content_mjml: string | null;
	content_text: string | null;
	created_at: string;
	groups_schema: GroupEntry[];
	id: string;
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slot_keys: string[];
	slug: string;
	tags: string[];
	tenant_id: string;
	updated_at: string;
	usage?: Sends;
	warnings: Warning[];
};

export type SavedFilterBody = {
	columns?: string[];
	definition?: RuleDefinition | null;
	dir?: string | null;
	filters?: {
		field?: string;
		operator?: string;
		value?: unknown;
	}[];
	name?: string;
	search?: string | null;
	shared?: boolean;
	sort?: string | null;
	status?: string | null | string[];
};

export type SavedFilterRow = {
	columns: string[];
	created_at: string;
	created_by: string;
	definition: {
		conditions?: { [key: string]: unknown }[];
		logic?: string;
		negate?: boolean;
	} | null;
	dir: "asc" | "desc";
	filters: {
		field?: string;
		operator?: string;
		value?: unknown;
	}[];
	id: string;
	name: string;
	search: string | null;
	shared: boolean;
	sort: string;
	status: string | null;
	updated_at: string;
};

export type SavedTemplate = {
	content_html: string;
	content_mjml: string | null;
	content_text: string | null;
	created_at: string;
	expects_schema: ExpectEntry[];
	format: "html" | "mjml";
	groups_schema: GroupEntry[];
	id: string;
	inline_css: boolean;
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slots_schema: SlotEntry[];
	slug: string;
	subject: string | null;
	tags: string[];
	tenant_id: string;
	updated_at: string;
	usage?: Sends;
	warnings: Warning[];
};

export type ScheduleBroadcastError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_INPUT" | "LIQUID_INVALID" | "NO_CONTENT" | "NO_IDENTITY" | "NO_MTA" | "NO_SEGMENT";
	};
};

export type ScheduleWarning = {
	code: string;
	field?: string;
	line?: number;
	message: string;
};

export type ScopeRow = {
	description: string;
	implies: string[];
	scope: string;
};

export type ScoreMatch = {
	event_name?: string;
	filters?: EventProperty[];
	type?: string;
};

export type ScoreMatchBody = {
	event_name?: string | null;
	filters?: EventProperty[];
	type?: string | null;
};

export type ScoreRule = {
	daily_cap?: number;
	id: string;
	match: ScoreMatch;
	points: number;
	trigger: string;
};

export type ScoreRuleBody = {
	daily_cap?: number | null;
	id?: string;
	match?: ScoreMatchBody | null;
	points: number;
	trigger: string;
};

export type ScoringDecay = {
	after_days: number;
	percent: number;
};

export type ScoringDecayChange = {
	after_days?: number;
	percent?: number;
};

export type ScoringView = {
	decay: ScoringDecay;
	enabled: boolean;
	max: number;
	min: number;
	rules: ScoreRule[];
};

export type SearchContactsError400 = Error & {
	error?: {
		code?: "INVALID_CURSOR" | "INVALID_DEFINITION" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS";
	};
};

export type SearchContactsRequestBody = {
	cursor?: string | null;
	definition?: RuleDefinition | null;
	dir?: string | null;
	filters?: {
		field?: string;
		operator?: string;
		value?: unknown;
	}[] | null;
	limit?: number | null;
	search?: string | null;
	sort?: string | null;
	status?: string | null | string[];
};

export type SectionEntry = {
	help_text: string | null;
	item_schema: ParameterEntry[];
	label: string | null;
	max: number;
	min: number;
	name: string;
	required: boolean;
};

export type SeedChange = {
	change: "added" | "reactivated" | "retired" | "unchanged" | "held_as_contact" | "hand_retired" | "invalid" | "removed_unknown";
	email: string;
	provider?: "gmail" | "outlook" | "yahoo" | "aol" | "icloud" | "proton" | "other";
};

export type SeedCopies = {
	sent: number;
	skipped_stale: number;
};

export type SeedEntry = {
	email: string;
	provider?: string | null;
};

export type SeedListBody = {
	include_by_default?: boolean;
	name?: string;
	rotation_days?: number | null;
	rotation_grace_days?: number;
	sending_identity_ids?: string[];
	vendor_dashboard_url?: string | null;
	vendor_label?: string | null;
};

export type SeedListRow = {
	address_counts: Counts;
	created_at: string;
	freshness: "never_synced" | "no_rotation" | "fresh" | "due_soon" | "grace" | "stale";
	id: string;
	include_by_default: boolean;
	name: string;
	refreshed_at: string | null;
	rotates_at: string | null;
	rotation_days: number | null;
	rotation_grace_days: number;
	sending_identities: SeedListSender[];
	stale_at: string | null;
	updated_at: string;
	vendor_dashboard_url: string | null;
	vendor_label: string | null;
};

export type SeedListSender = {
	email_address: string;
	id: string;
};

export type SeedRow = {
	email: string;
	id: string;
	provider: "gmail" | "outlook" | "yahoo" | "aol" | "icloud" | "proton" | "other";
	retired_at: string | null;
	status: "active" | "paused" | "retired" | "conflict";
	status_reason: "contact" | "removed_by_sync" | "retired_by_user" | "hard_bounce" | null;
};

export type SeedSyncRow = {
	actor: Actor;
	added: number;
	applied: boolean;
	changes?: SeedChange[];
	created_at: string;
	hand_retired: Sample;
	held_as_contact: Sample;
	invalid: Sample;
	kind: "replace" | "changes";
	large_change: boolean;
	provider_corrections: Sample;
	reactivated: number;
	removed_unknown: number;
	retired: number;
	sendable_after: number;
	sendable_before: number;
	sync_id: string | null;
	unchanged: number;
};

export type SegmentCount = {
	member_count: number | null;
	member_count_evaluated_at: string | null;
	member_count_total: number | null;
	segment_key: string;
};

export type SegmentFromBroadcastRequestBody = {
	broadcast_id: string;
	criterion?: string;
	name?: string | null;
};

export type SegmentInUseOrSystemSegmentLockedError = Error & {
	error?: {
		code?: "SEGMENT_IN_USE" | "SYSTEM_SEGMENT_LOCKED";
	};
};

export type SegmentPreviewSession = {
	member_count: number;
	member_count_total: number;
	sample: Contact[];
};

export type SegmentSession = {
	count?: number;
	definition: {
		conditions?: { [key: string]: unknown }[];
		logic?: string;
		negate?: boolean;
	} | null;
	id: string;
	key: string;
	member_count: number | null;
	member_count_evaluated_at: string | null;
	member_count_total: number | null;
	name: string;
	segment_key: string;
	system_key: string | null;
	tags: string[];
	tenant_id: string;
	type: "dynamic" | "static";
	usage?: SegmentUsage;
	warnings?: SegmentWarning[];
};

export type SegmentUsage = {
	automations: Holder[];
	broadcasts: Holder[];
	forms: Holder[];
	segments: Holder[];
	sequences: Holder[];
};

export type SegmentWarning = {
	code: string;
	path: string;
};

export type SelectorCount = {
	count: number;
	lacking?: LackingField[];
};

export type SenderShareRow = {
	email: string | null;
	expected: number;
	mta_config_key: string | null;
};

export type SendingDomain = {
	created_at: string;
	dkim_rotation: KeyRotation | null;
	dkim_selector: string;
	dmarc_policy: string | null;
	dns_records: DNSRecord[];
	dns_records_omitted: OmittedRecord[];
	domain: string;
	failing_since: string | null;
	health?: DomainHealth;
	id: string;
	last_checked_at: string | null;
	next_check_at: string;
	pause_reason: string | null;
	paused: boolean;
	return_path_host: string;
	status: "pending" | "verified" | "failed";
	tenant_id: string;
	tracking_host: string;
	tracking_status: "pending" | "live" | "failed";
	verified_at: string | null;
	verified_by: string | null;
};

export type Sends = {
	active_drafts: number;
	recent_broadcasts: number;
};

export type Sequence = {
	allow_reentry: boolean;
	counts?: SequenceCounts;
	created_at: string;
	edges?: SequenceEdge[];
	entry_node_id: string | null;
	entry_trigger: { [key: string]: unknown } | null;
	exit_conditions: { [key: string]: unknown } | null;
	id: string;
	name: string;
	nodes?: SequenceNode[];
	status: "draft" | "active" | "paused" | "archived";
	tenant_id: string;
	updated_at: string;
};

export type SequenceBody = {
	allow_reentry?: boolean;
	entry_trigger?: { [key: string]: unknown } | null;
	exit_conditions?: { [key: string]: unknown } | null;
	name?: string;
};

export type SequenceCounts = {
	active: number;
	completed: number;
	converted: number;
	enrolled: number;
	exited: number;
};

export type SequenceDay = {
	bounced: number;
	clicked: number;
	completed: number;
	converted: number;
	date: string;
	delivered: number;
	entered: number;
	exited: number;
	failed: number;
	opened: number;
	sent: number;
	unsubscribed: number;
};

export type SequenceEdge = {
	branch_label: string | null;
	created_at: string;
	from_node: string;
	id: string;
	sequence_id: string;
	to_node: string;
};

export type SequenceEdgeInput = {
	branch_label?: string | null;
	from_node: string;
	to_node: string;
};

export type SequenceGraphInput = {
	edges: SequenceEdgeInput[];
	entry_node_id: string;
	nodes: SequenceNodeInput[];
};

export type SequenceNode = {
	config: { [key: string]: unknown };
	created_at: string;
	id: string;
	sequence_id: string;
	type: string;
};

export type SequenceNodeInput = {
	config?: { [key: string]: unknown };
	id: string;
	type: string;
};

export type SequenceNodeReport = {
	bounced: number;
	clicked: number;
	completed: number;
	delivered: number;
	entered: number;
	node_id: string;
	opened: number;
	sent: number;
	unsubscribed: number;
	waiting: number;
};

export type SequenceNotEnrollableError = Error & {
	error?: {
		code?: "SEQUENCE_NOT_ENROLLABLE";
	};
};

export type SequenceReport = {
	active: number;
	completed: number;
	converted: number;
	enrolled: number;
	exited: number;
	nodes: SequenceNodeReport[];
	overdue: number;
	sequence_id: string;
};

export type SequenceSimulation = {
	duplicates: number;
	edges: SimulatedEdgeRow[];
	ends: SimulatedEndRow[];
	enrolled: number;
	evaluated_at: string;
	evaluated_with: "current_contact_data";
	limited: number;
	nodes: SimulatedNodeRow[];
	occurrences: number;
	sends: SimulatedSendsNumber;
	since: string;
	truncated: boolean;
};

export type SequenceTiming = {
	from: string;
	sequence_id: string;
	series: SequenceDay[];
	timezone: string;
	to: string;
};

export type SessionBegun = {
	expires_at: string;
	memberships: SessionMembership[];
	user: SessionUser;
};

export type SessionEngagement = {
	ahead: VariantsAhead | null;
	broadcast_id: string;
	by_client: ClientFigures[];
	by_country: CountryFigures[];
	by_device: DeviceFigures[];
	by_identity: IdentitySession[];
	by_provider: ProviderFigures[];
	by_variant: VariantFigures[];
};

export type SessionLane = {
	mta_config_id: string;
	mta_config_key: string;
	weight: number;
};

export type SessionMembership = {
	role: string;
	tenant_id: string;
	tenant_name: string;
	tenant_slug: string;
};

export type SessionUser = {
	email: string;
	id: string;
	name: string;
};

export type SessionView = {
	expires_at: string;
	memberships: SessionMembership[];
	user: SessionUser;
};

export type SetSequenceGraphError400 = Error & {
	error?: {
		code?: "INVALID_GRAPH" | "INVALID_INPUT" | "INVALID_JSON" | "LIMIT_EXCEEDED";
	};
};

export type SetSequenceGraphRequestBody = {
	allow_reentry?: boolean;
	dry_run?: boolean;
	edges: SequenceEdgeInput[];
	entry_node_id: string;
	entry_trigger?: { [key: string]: unknown } | null;
	exit_conditions?: { [key: string]: unknown } | null;
	nodes: SequenceNodeInput[];
};

export type SetupStep = {
	detail?: string;
	done: boolean;
	key: "account" | "mta_config" | "sending_domain" | "sending_identity" | "contacts" | "first_mail" | "dmarc" | "second_owner" | "segment" | "webhooks";
	target?: string;
};

export type ShellTrouble = {
	kind: "mta" | "domain";
	name: string;
	state: "down" | "paused" | "failed";
	target_id: string;
};

export type ShellView = {
	account: AccountSessionView;
	held_since: string | null;
	jobs: JobSession[];
	trial: boolean;
	trouble: ShellTrouble | null;
};

export type SignInOptions = {
	account_mail: boolean;
	base_url: string;
	demo: boolean;
	setup_required: boolean;
	signup_enabled: boolean;
	version: string;
};

export type SignUpRequestBody = {
	email: string;
	name: string;
	password: string;
	setup_token?: string | null;
	tenant_name: string;
	tenant_slug: string;
};

export type SimulateSequenceRequestBody = {
	graph?: SequenceGraphInput;
	limit?: number;
	since?: string;
};

export type SimulatedEdgeRow = {
	branch_label: string | null;
	from_node: string;
	taken: number;
	to_node: string | null;
};

export type SimulatedEndRow = {
	contacts: number;
	exit_reason: string | null;
	node_id: string;
	sample_contact_ids: string[];
	status: "completed" | "exited" | "failed" | "waiting" | "unfinished";
};

export type SimulatedNodeRow = {
	assumed: number;
	entered: number;
	jumped: number;
	left: number;
	node_id: string;
	sends: SimulatedSendsNumber | null;
	waiting: number;
};

export type SimulatedSendsNumber = {
	queued: number;
	refused: { [key: string]: number };
	unavailable: { [key: string]: number };
};

export type SinkMessage = {
	headers: string[][];
	html: string | null;
	id: string;
	mail_from: string;
	received_at: string;
	size: number;
	subject: string;
	text: string | null;
	to: string;
};

export type SinkMessageRow = {
	id: string;
	mail_from: string;
	received_at: string;
	size: number;
	subject: string;
	to: string;
};

export type Slot = {
	block_id: string | null;
	block_name: string | null;
	block_slug: string | null;
	strategy: string;
};

export type SlotEntry = {
	allowed_strategies: string[];
	default_strategy: "fixed" | "random" | "empty";
	help_text: string | null;
	label: string | null;
	name: string;
	required: boolean;
	tag_filter: string[];
};

export type SlotOption = {
	allowed_strategies: string[];
	default_strategy: "fixed" | "random" | "empty";
	eligible_blocks: EligibleBlock[];
	eligible_blocks_total: number;
	eligible_blocks_truncated: boolean;
	help_text: string | null;
	label: string | null;
	name: string;
	required: boolean;
	tag_filter: string[];
};

export type StageBody = {
	category?: "prospect" | "customer" | "churned" | "disqualified" | "partner";
	color?: string | null;
	description?: string | null;
	is_default?: boolean;
	name?: string;
	sort_order?: number;
};

export type StageRow = {
	category: "prospect" | "customer" | "churned" | "disqualified" | "partner";
	color: string | null;
	created_at: string;
	description: string | null;
	id: string;
	is_default: boolean;
	name: string;
	revision: number;
	slug: string;
	sort_order: number;
	tenant_id: string;
};

export type StepRequest = {
	delivery_id: string;
	response_code: number | null;
	status: "pending" | "retrying" | "delivered" | "failed";
};

export type Suggestion = {
	count?: number;
	kinds?: string[];
	last_seen_at: string;
	value: string;
};

export type SuppressContactsRequestBody = {
	contact_ids: string[];
	reason?: string | null;
};

export type SuppressedContacts = {
	suppressed: number;
};

export type SuppressionRow = {
	created_at: string;
	email: string;
	reason: string | null;
	tenant_id: string;
};

export type SystemSegmentLockedError = Error & {
	error?: {
		code?: "SYSTEM_SEGMENT_LOCKED";
	};
};

export type TemplateRow = {
	content_html: string;
	content_mjml: string | null;
	content_text: string | null;
	created_at: string;
	expects_schema: ExpectEntry[];
	format: "html" | "mjml";
	groups_schema: GroupEntry[];
	id: string;
	inline_css: boolean;
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slots_schema: SlotEntry[];
	slug: string;
	subject: string | null;
	tags: string[];
	tenant_id: string;
	updated_at: string;
	usage?: Sends;
};

export type TemplateSchema = {
	expects_schema: ExpectEntry[];
	groups_schema: GroupEntry[];
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slots_schema: SlotEntry[];
	slug: string;
	template_id: string;
};

export type TemplateSnapshot = {
	captured_at: string;
	content_hash: string;
	expects_schema: ExpectEntry[];
	format: "html" | "mjml";
	groups_schema: GroupEntry[];
	name: string;
	parameters_schema: ParameterEntry[];
	sections_schema: SectionEntry[];
	slots_schema: SlotEntry[];
	slug: string;
	template_id: string;
};

export type TemplateStarter = {
	content_html: string;
	content_mjml: string;
	content_text: string;
	expects_schema: ExpectEntry[];
	format: "html" | "mjml";
	groups_schema: GroupEntry[];
	inline_css: boolean;
	name: string;
	parameters_schema: ParameterEntry[];
	sample: { [key: string]: unknown };
	sections_schema: SectionEntry[];
	slots_schema: SlotEntry[];
	slug: string;
	subject: string;
	tags: string[];
};

export type TenantNotFoundError = Error & {
	error?: {
		code?: "TENANT_NOT_FOUND";
	};
};

export type TestMTAConfigDraftRequestBody = {
	id?: string | null;
	settings?: MtaSettingsBody;
	to?: string | null;
	type?: string;
};

export type TestMTAConfigRequestBody = {
	to?: string | null;
};

export type TestSendAnswer = {
	failed: number;
	results: TestSendResult[];
	sent: number;
};

export type TestSendBroadcastError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_RECIPIENTS" | "LIQUID_INVALID" | "NO_CONTENT" | "NO_IDENTITY" | "NO_MTA";
	};
};

export type TestSendRequestBody = {
	contact_id?: string | null;
	emails?: string[];
	recipients?: string[];
	to?: string[];
	variant_ids?: string[];
};

export type TestSendResult = {
	error: string | null;
	message_id: string | null;
	sending_identity_email: string;
	status: "sent" | "failed" | "suppressed";
	to: string;
	variant_id: string | null;
};

export type TestSequenceAnswer = {
	failed: number;
	results: TestSequenceResult[];
	sent: number;
};

export type TestSequenceError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_RECIPIENTS" | "NO_CONTENT";
	};
};

export type TestSequenceRequestBody = {
	contact_id: string;
	to: string[];
};

export type TestSequenceResult = {
	error: string | null;
	message_id: string | null;
	node_id: string;
	sending_identity_email: string | null;
	status: "sent" | "failed" | "suppressed";
	to: string;
};

export type TestedMTAConfig = {
	accepted: boolean;
	latency_ms: number;
	smtp_code: number | null;
	smtp_response: string;
};

export type Thumbnail = {
	html: string | null;
	kind: "template" | "block" | "starter";
	ref: string;
};

export type TimingPeriod = {
	at: string;
	bounced: number;
	clicked: number;
	delivered: number;
	opened: number;
	sent: number;
	unsubscribed: number;
};

export type Trouble = {
	code: string;
	field: string;
	line?: number;
	message: string;
};

export type UnauthorizedError = Error & {
	error?: {
		code?: "UNAUTHORIZED";
	};
};

export type UnavailableError = Error & {
	error?: {
		code?: "UNAVAILABLE";
	};
};

export type UndoImportError409 = Error & {
	error?: {
		code?: "ALREADY_UNDONE" | "IDEMPOTENCY_IN_PROGRESS" | "INVALID_TRANSITION" | "NOT_UNDOABLE" | "UNDO_EXPIRED";
	};
};

export type UnsupportedMediaTypeError = Error & {
	error?: {
		code?: "UNSUPPORTED_MEDIA_TYPE";
	};
};

export type UpdateAPIKeyRequestBody = {
	expires_at?: string | null;
	name?: string;
	scopes?: string[];
};

export type UpdateAccountError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_MTA_CONFIG" | "INVALID_SENDING_IDENTITY";
	};
};

export type UpdateAccountRequestBody = {
	auto_create_on_event?: boolean;
	currency_code?: string;
	default_email_type_id?: string | null;
	default_email_type_key?: string | null;
	default_mta_config_id?: string | null;
	default_mta_config_key?: string | null;
	default_sending_identity_email?: string | null;
	default_sending_identity_id?: string | null;
	double_opt_in_default?: boolean;
	locale?: string;
	logo_url?: string | null;
	name?: string;
	postal_address?: AccountAddressChange | null;
	retention?: AccountRetentionChange;
	send_window?: AccountWindowChange;
	sunset_days?: number;
	sunset_min_sends?: number;
	timezone?: string;
	tracked_domains?: string[];
	tracking_defaults?: AccountTrackingChange;
	unsubscribe_scope?: string;
	website_url?: string | null;
};

export type UpdateBlockError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SCHEMA" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "NO_CONTENT" | "UNRESOLVED_REFERENCE";
	};
};

export type UpdateBlockRequestBody = {
	active?: boolean;
	content_html?: string | null;
	content_mjml?: string | null;
	content_text?: string | null;
	groups_schema?: { [key: string]: unknown }[];
	name?: string;
	parameters_schema?: { [key: string]: unknown }[];
	sections_schema?: { [key: string]: unknown }[];
	slot_keys?: string[];
	slug?: string;
	tags?: string[];
};

export type UpdateBrandRequestBody = {
	button?: BrandButtonChange | null;
	colors?: BrandColorsChange | null;
	fonts?: BrandFontsChange | null;
	footer?: string | null;
	logo_asset_id?: string | null;
	width?: number | null;
};

export type UpdateBroadcastError400 = Error & {
	error?: {
		code?: "ADVANCED_SPLIT_TEST_UNSUPPORTED" | "INVALID_BINDING" | "INVALID_EMAIL_TYPE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_METADATA" | "INVALID_MTA_CONFIG" | "INVALID_SEGMENT" | "INVALID_SENDING_IDENTITY" | "INVALID_TEMPLATE" | "INVALID_VARIANTS" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_COMPILE_FAILED" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "NO_CONTENT" | "VARIANT_DELIVERY_OVERRIDE_UNSUPPORTED";
	};
};

export type UpdateContactError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_FIELD_VALUE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STAGE" | "LIMIT_EXCEEDED" | "UNKNOWN_FIELD";
	};
};

export type UpdateContactRequestBody = {
	address_line1?: string | null;
	address_line2?: string | null;
	category_subscriptions?: { [key: string]: boolean | null };
	city?: string | null;
	company?: string | null;
	country?: string | null;
	custom_fields?: { [key: string]: unknown };
	do_not_contact?: boolean;
	email?: string;
	external_id?: string | null;
	first_name?: string | null;
	full_name?: string | null;
	last_name?: string | null;
	phone?: string | null;
	postal_code?: string | null;
	source?: string | null;
	stage_id?: string | null;
	state?: string | null;
	subscriptions?: { [key: string]: boolean | null };
	tags?: string[];
	timezone?: string | null;
	title?: string | null;
	website?: string | null;
};

export type UpdateCustomFieldRequestBody = {
	currency_code?: string | null;
	default_value?: unknown;
	enum_values?: string[];
	field_key?: string | null;
	field_type?: string | null;
	name?: string;
	value_constraint?: string;
};

export type UpdateMemberRequestBody = {
	role?: string;
	status?: string;
};

export type UpdateMessageError400 = Error & {
	error?: {
		code?: "INVALID_BINDING" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS" | "INVALID_TEMPLATE" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_COMPILE_FAILED" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "NO_CONTENT";
	};
};

export type UpdateProfileRequestBody = {
	name: string;
};

export type UpdateSavedFilterError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_FILTERS" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STATUS" | "LIMIT_EXCEEDED";
	};
};

export type UpdateScoringRequestBody = {
	decay?: ScoringDecayChange;
	enabled?: boolean;
	max?: number;
	min?: number;
	rules?: ScoreRuleBody[];
};

export type UpdateSegmentError400 = Error & {
	error?: {
		code?: "INVALID_DEFINITION" | "INVALID_INPUT" | "INVALID_JSON" | "LIMIT_EXCEEDED" | "MISSING_DEFINITION" | "SEGMENT_CYCLE";
	};
};

export type UpdateSegmentRequestBody = {
	definition?: RuleDefinition | null;
	name?: string;
	tags?: string[];
};

export type UpdateTemplateError400 = Error & {
	error?: {
		code?: "INVALID_INPUT" | "INVALID_JSON" | "INVALID_SCHEMA" | "LIMIT_EXCEEDED" | "LIQUID_INVALID" | "MJML_INVALID" | "MJML_UNKNOWN_ELEMENT" | "UNRESOLVED_REFERENCE";
	};
};

export type UpdateTemplateRequestBody = {
	content_html?: string;
	content_mjml?: string | null;
	content_text?: string | null;
	expects_schema?: { [key: string]: unknown }[];
	format?: "html" | "mjml";
	groups_schema?: { [key: string]: unknown }[];
	inline_css?: boolean;
	name?: string;
	parameters_schema?: { [key: string]: unknown }[];
	sections_schema?: { [key: string]: unknown }[];
	slots_schema?: { [key: string]: unknown }[];
	slug?: string;
	subject?: string | null;
	tags?: string[];
};

export type UpsertContactError400 = Error & {
	error?: {
		code?: "INVALID_EMAIL_TYPE" | "INVALID_FIELD_VALUE" | "INVALID_INPUT" | "INVALID_JSON" | "INVALID_STAGE" | "LIMIT_EXCEEDED" | "UNKNOWN_FIELD";
	};
};

export type UpsertContactRequestBody = {
	address_line1?: string | null;
	address_line2?: string | null;
	category_subscriptions?: { [key: string]: boolean | null };
	city?: string | null;
	company?: string | null;
	country?: string | null;
	custom_fields?: { [key: string]: unknown };
	do_not_contact?: boolean;
	email: string;
	external_id?: string | null;
	first_name?: string | null;
	full_name?: string | null;
	last_name?: string | null;
	phone?: string | null;
	postal_code?: string | null;
	source?: string | null;
	stage_id?: string | null;
	stage_id_if_new?: string | null;
	state?: string | null;
	subscriptions?: { [key: string]: boolean | null };
	tags?: string[];
	timezone?: string | null;
	title?: string | null;
	website?: string | null;
};

export type UpsertedContact = {
	address_line1: string | null;
	address_line2: string | null;
	anonymized_at: string | null;
	bounce_type: "hard" | "soft" | null;
	category_subscriptions: { [key: string]: boolean };
	city: string | null;
	company: string | null;
	country: string | null;
	created_at: string;
	custom_fields: { [key: string]: unknown };
	customer_score: number;
	deliverability_reason: string | null;
	deliverability_status: "healthy" | "watch" | "at_risk" | "suppressed";
	deliverability_updated_at: string;
	do_not_contact: boolean;
	email: string;
	email_domain: string;
	external_id: string | null;
	first_name: string | null;
	first_touch_at: string | null;
	first_touch_campaign: string | null;
	first_touch_country: string | null;
	first_touch_landing_url: string | null;
	first_touch_medium: string | null;
	first_touch_referrer: string | null;
	first_touch_source: string | null;
	first_touch_timezone: string | null;
	full_name: string | null;
	global_status: "active" | "pending" | "unsubscribed" | "bounced" | "complained" | "suppressed";
	id: string;
	identity_token?: string;
	last_activity_at: string | null;
	last_activity_pending?: boolean;
	last_email_clicked_at: string | null;
	last_email_opened_at: string | null;
	last_email_sent_at: string | null;
	last_name: string | null;
	last_page_viewed_at: string | null;
	last_touch_at: string | null;
	last_touch_campaign: string | null;
	last_touch_medium: string | null;
	last_touch_source: string | null;
	member_added_at: string | null;
	mx_record: string | null;
	phone: string | null;
	postal_code: string | null;
	prospect_score: number;
	score_updated_at: string | null;
	smtp_provider: string | null;
	source: string | null;
	stage_id: string | null;
	state: string | null;
	status_before_suppress: string | null;
	subscriptions: { [key: string]: boolean };
	suppressed_at: string | null;
	tags: string[];
	tenant_id: string;
	timezone: string | null;
	title: string | null;
	total_emails_clicked: number;
	total_emails_opened: number;
	total_emails_sent: number;
	unsubscribed_at: string | null;
	updated_at: string;
	website: string | null;
};

export type ValidateBindingRequestBody = {
	template_binding?: unknown;
};

export type VariantFigures = {
	bounced: number;
	click_rate: number;
	clicked: number;
	delivered: number;
	name: string;
	open_rate: number;
	opened: number;
	rates: VariantRates;
	recipients: number;
	unsubscribed: number;
	variant_id: string;
};

export type VariantRates = {
	bounced: IntervalRate;
	clicked: IntervalRate;
	delivered: IntervalRate;
	opened: IntervalRate;
	unsubscribed: IntervalRate;
};

export type VariantShareRow = {
	expected: number;
	id: string;
};

export type VariantsAhead = {
	clicked: string | null;
	opened: string | null;
};

export type VerifiedLane = {
	accepted: boolean;
	smtp_response: string;
};

export type VerifyDomainRequestBody = {
	operator?: boolean;
	tracking_host?: string;
};

export type VerifyLaneRequestBody = {
	mta_config_id: string;
	to: string;
};

export type ViewModel = {
	available_actions: string[];
	delivery_progress: DeliveryProgress | null;
	failure_info: FailureInfo | null;
	schedule_readiness: Readiness | null;
};

export type Warning = {
	code: string;
	field?: string;
	line?: number;
	message: string;
	path: string;
};

export type WebhookBody = {
	active?: boolean;
	description?: string | null;
	event_types?: string[];
	url?: string;
};

export type WebhookRow = {
	active: boolean;
	created_at: string;
	description: string | null;
	disabled_reason: "gone" | "failing" | null;
	event_types: ("*" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.failed" | "broadcast.scheduled" | "broadcast.started" | "broadcast.paused" | "broadcast.resumed" | "broadcast.completed" | "broadcast.failed" | "broadcast.cancelled" | "sequence.enrolled" | "sequence.completed" | "sequence.exited" | "form.submitted" | "event.recorded" | "list.member_added" | "list.member_removed" | "suppression.added" | "suppression.removed" | "domain.verified" | "domain.failed" | "domain.paused" | "mta.down" | "mta.recovered" | "import.completed" | "webhook.test")[];
	id: string;
	last_failure_at: string | null;
	last_success_at: string | null;
	status: "healthy" | "failing" | "disabled";
	url: string;
};

export type WebhookSecretRow = {
	created_at: string;
	secret: string;
};

export type WebhookWithSecret = {
	active: boolean;
	created_at: string;
	description: string | null;
	disabled_reason: "gone" | "failing" | null;
	event_types: ("*" | "contact.created" | "contact.updated" | "contact.deleted" | "contact.subscribed" | "contact.unsubscribed" | "email.sent" | "email.delivered" | "email.deferred" | "email.opened" | "email.clicked" | "email.bounced" | "email.complained" | "email.failed" | "broadcast.scheduled" | "broadcast.started" | "broadcast.paused" | "broadcast.resumed" | "broadcast.completed" | "broadcast.failed" | "broadcast.cancelled" | "sequence.enrolled" | "sequence.completed" | "sequence.exited" | "form.submitted" | "event.recorded" | "list.member_added" | "list.member_removed" | "suppression.added" | "suppression.removed" | "domain.verified" | "domain.failed" | "domain.paused" | "mta.down" | "mta.recovered" | "import.completed" | "webhook.test")[];
	id: string;
	last_failure_at: string | null;
	last_success_at: string | null;
	secret: string;
	status: "healthy" | "failing" | "disabled";
	url: string;
};

export type WorkingCopy = {
	base_revision: number | null;
	data: { [key: string]: unknown };
	id: string;
	kind: string;
	size: number;
	title: string;
	updated_at: string;
};

export type WorkingCopyBody = {
	base_revision?: number | null;
	data: { [key: string]: unknown };
	title: string;
};

export type WorkingCopyRow = {
	base_revision: number | null;
	id: string;
	kind: string;
	size: number;
	title: string;
	updated_at: string;
};

// Requests by method and path. Paths of a workspace are without "/t/{tenant_slug}/api".
export type Routes = {
	"GET /activity": { path: never; query: { event_name?: string; contact_id?: string; types?: string | ("contact_anonymized" | "contact_created" | "contact_deleted" | "contact_restored" | "contact_updated" | "email_bounced" | "email_clicked" | "email_complained" | "email_deferred" | "email_delivered" | "email_failed" | "email_opened" | "email_sent" | "email_unsubscribed" | "event" | "form_submitted" | "list_added" | "list_removed" | "opt_in_confirmed" | "opt_in_requested" | "page_viewed" | "score_changed" | "sequence_completed" | "sequence_enrolled" | "sequence_exited" | "stage_changed" | "subscription_changed" | "suppression_added" | "suppression_removed" | "tag_added" | "tag_removed")[]; cursor?: string; limit?: number }; body: never; answer: ListFeedRow };
	"GET /assets": { path: never; query: { q?: string }; body: never; answer: ListAssetRow };
	"POST /assets": { path: never; query: never; body: globalThis.FormData; answer: AssetRow };
	"DELETE /assets/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /audit-log": { path: never; query: { actor_type?: "user" | "api_key" | "system"; actor_id?: string; action?: string; target_type?: string; target_id?: string; since?: string; before?: string; cursor?: string; limit?: number }; body: never; answer: ListAuditRow };
	"POST /audit-log/export": { path: never; query: never; body: ExportAuditLogRequestBody; answer: Accepted };
	"GET /auth/api-keys": { path: never; query: never; body: never; answer: ListAPIKey };
	"POST /auth/api-keys": { path: never; query: never; body: CreateAPIKeyRequestBody; answer: NewAPIKey };
	"GET /auth/api-keys/scopes": { path: never; query: never; body: never; answer: ListScopeRow };
	"DELETE /auth/api-keys/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /auth/api-keys/{id}": { path: { id: string }; query: never; body: never; answer: APIKey };
	"PATCH /auth/api-keys/{id}": { path: { id: string }; query: never; body: UpdateAPIKeyRequestBody; answer: APIKey };
	"POST /auth/api-keys/{id}/rotate": { path: { id: string }; query: never; body: RotateAPIKeyRequestBody; answer: NewAPIKey };
	"POST /api/auth/invitations/accept": { path: never; query: never; body: AcceptInvitationRequestBody; answer: SessionBegun };
	"POST /api/auth/invitations/join": { path: never; query: never; body: JoinTenantRequestBody; answer: SessionView };
	"POST /api/auth/link": { path: never; query: never; body: CheckLinkRequestBody; answer: LinkView };
	"POST /api/auth/login": { path: never; query: never; body: LogInRequestBody; answer: SessionBegun };
	"POST /api/auth/login-link": { path: never; query: never; body: LogInByLinkRequestBody; answer: SessionBegun };
	"POST /api/auth/logout": { path: never; query: never; body: never; answer: undefined };
	"GET /api/auth/options": { path: never; query: never; body: never; answer: SignInOptions };
	"POST /api/auth/password/change": { path: never; query: never; body: ChangePasswordRequestBody; answer: undefined };
	"POST /api/auth/password/forgot": { path: never; query: never; body: ForgotPasswordRequestBody; answer: LinkRequested };
	"POST /api/auth/password/reset": { path: never; query: never; body: ResetPasswordRequestBody; answer: undefined };
	"PUT /api/auth/profile": { path: never; query: never; body: UpdateProfileRequestBody; answer: SessionView };
	"GET /api/auth/session": { path: never; query: never; body: never; answer: SessionView };
	"GET /api/auth/sessions": { path: never; query: never; body: never; answer: ListOwnSession };
	"DELETE /api/auth/sessions/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"POST /api/auth/signup": { path: never; query: never; body: SignUpRequestBody; answer: SessionBegun };
	"GET /automations": { path: never; query: { status?: string | ("active" | "paused" | "archived")[]; q?: string; cursor?: string; limit?: number }; body: never; answer: ListAutomation };
	"POST /automations": { path: never; query: never; body: AutomationBody; answer: Automation };
	"DELETE /automations/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /automations/{id}": { path: { id: string }; query: never; body: never; answer: Automation };
	"PUT /automations/{id}": { path: { id: string }; query: never; body: AutomationBody; answer: Automation };
	"GET /automations/{id}/runs": { path: { id: string }; query: { status?: string | ("pending" | "completed" | "failed" | "skipped")[]; cursor?: string; limit?: number }; body: never; answer: ListAutomationRun };
	"GET /blocks": { path: never; query: { full?: boolean; include_usage?: boolean; tags?: string | string[]; slot_keys?: string | string[] }; body: never; answer: ListAnyBlockRow };
	"POST /blocks": { path: never; query: never; body: CreateBlockRequestBody; answer: SavedBlock };
	"DELETE /blocks/{id}": { path: { id: string }; query: { force?: boolean }; body: never; answer: undefined };
	"GET /blocks/{id}": { path: { id: string }; query: { include_usage?: boolean }; body: never; answer: BlockRow };
	"PUT /blocks/{id}": { path: { id: string }; query: never; body: UpdateBlockRequestBody; answer: SavedBlock };
	"GET /broadcasts": { path: never; query: { status?: string | ("draft" | "scheduled" | "sending" | "paused" | "completed" | "failed" | "cancelled")[]; tags?: string | string[]; metadata?: string; since?: string; before?: string; full?: boolean; archived?: "true" | "only" }; body: never; answer: ListBroadcastRow };
	"POST /broadcasts": { path: never; query: never; body: BroadcastBody; answer: BroadcastSessionView };
	"POST /broadcasts/bulk-archive": { path: never; query: never; body: ArchiveBroadcastsRequestBody; answer: ArchivedBroadcasts };
	"GET /broadcasts/metrics-bulk": { path: never; query: { ids?: string | string[]; refresh?: boolean }; body: never; answer: MetricsRow[] };
	"POST /broadcasts/preview-send": { path: never; query: never; body: PreviewSendRequestBody; answer: PreviewSendAnswer };
	"DELETE /broadcasts/{broadcast_id}": { path: { broadcast_id: string }; query: never; body: never; answer: undefined };
	"GET /broadcasts/{broadcast_id}": { path: { broadcast_id: string }; query: { embed?: "none" | "draft" }; body: never; answer: BroadcastSessionView };
	"PUT /broadcasts/{broadcast_id}": { path: { broadcast_id: string }; query: never; body: BroadcastBody; answer: BroadcastSessionView };
	"POST /broadcasts/{broadcast_id}/archive": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastSessionView };
	"GET /broadcasts/{broadcast_id}/bounces": { path: { broadcast_id: string }; query: { cursor?: string; limit?: number }; body: never; answer: ListBounceRow };
	"POST /broadcasts/{broadcast_id}/cancel": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastSessionView };
	"POST /broadcasts/{broadcast_id}/clone": { path: { broadcast_id: string }; query: never; body: CloneBroadcastRequestBody; answer: BroadcastSessionView };
	"GET /broadcasts/{broadcast_id}/engagement": { path: { broadcast_id: string }; query: never; body: never; answer: SessionEngagement };
	"POST /broadcasts/{broadcast_id}/export": { path: { broadcast_id: string }; query: never; body: ExportBroadcastRequestBody; answer: Accepted };
	"GET /broadcasts/{broadcast_id}/links": { path: { broadcast_id: string }; query: never; body: never; answer: LinkRow[] };
	"POST /broadcasts/{broadcast_id}/pause": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastSessionView };
	"GET /broadcasts/{broadcast_id}/recipients": { path: { broadcast_id: string }; query: { status?: string | ("pending" | "queued" | "sent" | "delivered" | "deferred" | "bounced" | "failed" | "skipped" | "held_back" | "cancelled")[]; variant_id?: string; search?: string; cursor?: string; limit?: number }; body: never; answer: ListRecipientRow };
	"GET /broadcasts/{broadcast_id}/recipients/{contact_id}": { path: { broadcast_id: string; contact_id: string }; query: never; body: never; answer: RecipientEvidence };
	"GET /broadcasts/{broadcast_id}/report": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastReport };
	"POST /broadcasts/{broadcast_id}/reschedule": { path: { broadcast_id: string }; query: never; body: RescheduleBroadcastRequestBody; answer: BroadcastSessionView };
	"POST /broadcasts/{broadcast_id}/resume": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastSessionView };
	"POST /broadcasts/{broadcast_id}/schedule": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastSessionView };
	"POST /broadcasts/{broadcast_id}/test-send": { path: { broadcast_id: string }; query: never; body: TestSendRequestBody; answer: TestSendAnswer };
	"GET /broadcasts/{broadcast_id}/timing": { path: { broadcast_id: string }; query: { interval?: "hour" | "day" }; body: never; answer: BroadcastTiming };
	"POST /broadcasts/{broadcast_id}/unarchive": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastSessionView };
	"POST /broadcasts/{broadcast_id}/unschedule": { path: { broadcast_id: string }; query: never; body: never; answer: BroadcastSessionView };
	"GET /collections": { path: never; query: { kinds?: string | ("blocks" | "broadcasts" | "custom_fields" | "email_categories" | "email_types" | "forms" | "messages" | "mta_configs" | "saved_filters" | "seed_lists" | "segments" | "sending_identities" | "sequences" | "stages" | "templates" | "working_copies")[]; copies?: string | string[]; binding_options?: string | string[] }; body: never; answer: CollectionsView };
	"GET /contacts": { path: never; query: { status?: string | ("active" | "pending" | "unsubscribed" | "bounced" | "complained" | "suppressed")[]; search?: string; filters?: string; definition?: string; cursor?: string; limit?: number; sort?: "city" | "company" | "country" | "created_at" | "customer_score" | "deliverability_status" | "do_not_contact" | "email" | "first_name" | "global_status" | "last_activity_at" | "last_email_clicked_at" | "last_email_opened_at" | "last_email_sent_at" | "last_name" | "last_page_viewed_at" | "member_added_at" | "phone" | "postal_code" | "prospect_score" | "source" | "stage_id" | "state" | "title" | "total_emails_clicked" | "total_emails_opened" | "total_emails_sent" | "updated_at"; dir?: "asc" | "desc" }; body: never; answer: ListContact };
	"POST /contacts": { path: never; query: { include_identity_token?: boolean }; body: ContactInput; answer: ContactWithIdentityToken };
	"PUT /contacts": { path: never; query: { include_identity_token?: boolean }; body: UpsertContactRequestBody; answer: UpsertedContact };
	"POST /contacts/bulk": { path: never; query: never; body: BulkContactsRequestBody; answer: BulkAnswer };
	"GET /contacts/count": { path: never; query: { status?: string | ("active" | "pending" | "unsubscribed" | "bounced" | "complained" | "suppressed")[]; search?: string; filters?: string; definition?: string }; body: never; answer: Count };
	"POST /contacts/count": { path: never; query: never; body: CountRequestBody; answer: SelectorCount };
	"POST /contacts/export": { path: never; query: never; body: ExportContactsRequestBody; answer: Accepted };
	"POST /contacts/import": { path: never; query: never; body: globalThis.FormData; answer: ImportAccepted };
	"GET /contacts/lookup": { path: never; query: { email?: string; external_id?: string }; body: never; answer: Contact };
	"POST /contacts/search": { path: never; query: never; body: SearchContactsRequestBody; answer: ListContact };
	"DELETE /contacts/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /contacts/{id}": { path: { id: string }; query: never; body: never; answer: Contact };
	"PATCH /contacts/{id}": { path: { id: string }; query: { include_identity_token?: boolean }; body: UpdateContactRequestBody; answer: ContactWithIdentityToken };
	"PUT /contacts/{id}": { path: { id: string }; query: { include_identity_token?: boolean }; body: UpdateContactRequestBody; answer: ContactWithIdentityToken };
	"GET /contacts/{id}/activity": { path: { id: string }; query: { types?: string | ("contact_anonymized" | "contact_created" | "contact_deleted" | "contact_restored" | "contact_updated" | "email_bounced" | "email_clicked" | "email_complained" | "email_deferred" | "email_delivered" | "email_failed" | "email_opened" | "email_sent" | "email_unsubscribed" | "event" | "form_submitted" | "list_added" | "list_removed" | "opt_in_confirmed" | "opt_in_requested" | "page_viewed" | "score_changed" | "sequence_completed" | "sequence_enrolled" | "sequence_exited" | "stage_changed" | "subscription_changed" | "suppression_added" | "suppression_removed" | "tag_added" | "tag_removed")[]; cursor?: string; limit?: number }; body: never; answer: ListActivityRow };
	"POST /contacts/{id}/anonymize": { path: { id: string }; query: never; body: AnonymizeContactRequestBody; answer: Contact };
	"GET /contacts/{id}/consents": { path: { id: string }; query: never; body: never; answer: ListConsentRow };
	"GET /contacts/{id}/eligibility": { path: { id: string }; query: { email_type_key?: string; broadcast_id?: string; sequence_id?: string }; body: never; answer: ContactEligibility };
	"GET /contacts/{id}/export": { path: { id: string }; query: never; body: never; answer: { [key: string]: unknown } };
	"GET /contacts/{id}/lists": { path: { id: string }; query: never; body: never; answer: ListContactListRow };
	"POST /contacts/{id}/restore": { path: { id: string }; query: never; body: never; answer: Contact };
	"GET /email-categories": { path: never; query: never; body: never; answer: ListEmailCategoryRow };
	"POST /email-categories": { path: never; query: never; body: EmailCategoryBody; answer: EmailCategoryRow };
	"DELETE /email-categories/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"PUT /email-categories/{id}": { path: { id: string }; query: never; body: EmailCategoryBody; answer: EmailCategoryRow };
	"GET /email-types": { path: never; query: never; body: never; answer: ListEmailTypeRow };
	"POST /email-types": { path: never; query: never; body: EmailTypeBody; answer: EmailTypeRow };
	"DELETE /email-types/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"PUT /email-types/{id}": { path: { id: string }; query: never; body: EmailTypeBody; answer: EmailTypeRow };
	"POST /events": { path: never; query: never; body: EventInput; answer: RecordedEvent };
	"POST /events/batch": { path: never; query: never; body: EventBatch; answer: RecordedEvents };
	"GET /forms": { path: never; query: { status?: string | ("draft" | "published" | "archived")[] }; body: never; answer: ListFormSummary };
	"POST /forms": { path: never; query: never; body: FormBody; answer: FormRow };
	"DELETE /forms/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /forms/{id}": { path: { id: string }; query: never; body: never; answer: FormRow };
	"PUT /forms/{id}": { path: { id: string }; query: never; body: FormBody; answer: FormRow };
	"POST /forms/{id}/archive": { path: { id: string }; query: never; body: never; answer: FormRow };
	"GET /forms/{id}/embed": { path: { id: string }; query: never; body: never; answer: FormEmbed };
	"POST /forms/{id}/preview": { path: { id: string }; query: never; body: FormBody; answer: FormEmbed };
	"POST /forms/{id}/publish": { path: { id: string }; query: never; body: never; answer: FormRow };
	"GET /forms/{id}/submissions": { path: { id: string }; query: { cursor?: string; limit?: number }; body: never; answer: ListFormSubmission };
	"POST /forms/{id}/unarchive": { path: { id: string }; query: never; body: never; answer: FormRow };
	"POST /forms/{id}/unpublish": { path: { id: string }; query: never; body: never; answer: FormRow };
	"GET /jobs": { path: never; query: { type?: string | ("import" | "export" | "bulk" | "import_undo")[]; status?: string | ("queued" | "running" | "completed" | "failed" | "cancelled")[]; mine?: boolean; cursor?: string; limit?: number }; body: never; answer: ListJobSession };
	"GET /jobs/{id}": { path: { id: string }; query: never; body: never; answer: JobSession };
	"POST /jobs/{id}/cancel": { path: { id: string }; query: never; body: never; answer: JobSession };
	"GET /jobs/{id}/download": { path: { id: string }; query: { file?: "export" | "errors" }; body: never; answer: undefined };
	"POST /jobs/{id}/undo": { path: { id: string }; query: never; body: never; answer: Accepted };
	"GET /messages": { path: never; query: { status?: string | ("draft" | "published" | "archived")[]; search?: string; limit?: number; offset?: number; embed?: "use" }; body: never; answer: ListMessageRow };
	"POST /messages": { path: never; query: never; body: MessageBody; answer: MessageSession };
	"DELETE /messages/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /messages/{id}": { path: { id: string }; query: never; body: never; answer: MessageSession };
	"PATCH /messages/{id}": { path: { id: string }; query: never; body: MessageBody; answer: MessageSession };
	"POST /messages/{id}/archive": { path: { id: string }; query: never; body: never; answer: MessageSession };
	"POST /messages/{id}/duplicate": { path: { id: string }; query: never; body: never; answer: MessageSession };
	"POST /messages/{id}/rebase-preview": { path: { id: string }; query: never; body: RebaseMessageRequestBody; answer: RebasedMessage };
	"GET /messages/{id}/versions": { path: { id: string }; query: never; body: never; answer: ListMessageVersion };
	"GET /messages/{id}/versions/{version}": { path: { id: string; version: number }; query: never; body: never; answer: MessageVersionSession };
	"GET /mta-configs": { path: never; query: never; body: never; answer: ListMtaConfigRow };
	"POST /mta-configs": { path: never; query: never; body: MtaConfigBody; answer: MtaConfigRow };
	"POST /mta-configs/test": { path: never; query: never; body: TestMTAConfigDraftRequestBody; answer: TestedMTAConfig };
	"DELETE /mta-configs/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /mta-configs/{id}": { path: { id: string }; query: { include_usage?: boolean }; body: never; answer: MtaConfigRow };
	"PUT /mta-configs/{id}": { path: { id: string }; query: never; body: MtaConfigBody; answer: MtaConfigRow };
	"DELETE /mta-configs/{id}/messages": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /mta-configs/{id}/messages": { path: { id: string }; query: { search?: string; cursor?: string; limit?: number }; body: never; answer: ListSinkMessageRow };
	"GET /mta-configs/{id}/messages/{message_id}": { path: { id: string; message_id: string }; query: never; body: never; answer: SinkMessage };
	"GET /mta-configs/{id}/messages/{message_id}/raw": { path: { id: string; message_id: string }; query: never; body: never; answer: undefined };
	"POST /mta-configs/{id}/test": { path: { id: string }; query: never; body: TestMTAConfigRequestBody; answer: TestedMTAConfig };
	"GET /overview": { path: never; query: never; body: never; answer: AccountOverview };
	"POST /preview": { path: never; query: never; body: PreviewRequestBody; answer: PreviewAnswer };
	"GET /reports/overview": { path: never; query: { from?: string; to?: string; email_type_key?: string }; body: never; answer: ReportsOverview };
	"GET /saved-filters": { path: never; query: never; body: never; answer: ListSavedFilterRow };
	"POST /saved-filters": { path: never; query: never; body: SavedFilterBody; answer: SavedFilterRow };
	"DELETE /saved-filters/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /saved-filters/{id}": { path: { id: string }; query: never; body: never; answer: SavedFilterRow };
	"PUT /saved-filters/{id}": { path: { id: string }; query: never; body: SavedFilterBody; answer: SavedFilterRow };
	"GET /search": { path: never; query: { q?: string; types?: string | ("contact" | "segment" | "broadcast" | "template" | "block" | "message" | "sequence" | "automation" | "form" | "domain" | "identity")[]; limit?: number }; body: never; answer: RecordSearchAnswer };
	"GET /seed-lists": { path: never; query: never; body: never; answer: ListSeedListRow };
	"POST /seed-lists": { path: never; query: never; body: SeedListBody; answer: SeedListRow };
	"DELETE /seed-lists/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /seed-lists/{id}": { path: { id: string }; query: never; body: never; answer: SeedListRow };
	"PUT /seed-lists/{id}": { path: { id: string }; query: never; body: SeedListBody; answer: SeedListRow };
	"GET /seed-lists/{id}/seeds": { path: { id: string }; query: { search?: string; status?: string | ("active" | "paused" | "retired" | "conflict")[]; limit?: number; offset?: number }; body: never; answer: ListSeedRow };
	"PUT /seed-lists/{id}/seeds": { path: { id: string }; query: { dry_run?: boolean; allow_large_change?: boolean; include_changes?: boolean }; body: ReplaceSeedsRequestBody; answer: Result };
	"POST /seed-lists/{id}/seeds/changes": { path: { id: string }; query: { dry_run?: boolean; allow_large_change?: boolean; include_changes?: boolean }; body: ChangeSeedsRequestBody; answer: Result };
	"POST /seed-lists/{id}/seeds/{seed_id}/pause": { path: { id: string; seed_id: string }; query: never; body: never; answer: SeedRow };
	"POST /seed-lists/{id}/seeds/{seed_id}/reactivate": { path: { id: string; seed_id: string }; query: never; body: never; answer: SeedRow };
	"POST /seed-lists/{id}/seeds/{seed_id}/resume": { path: { id: string; seed_id: string }; query: never; body: never; answer: SeedRow };
	"POST /seed-lists/{id}/seeds/{seed_id}/retire": { path: { id: string; seed_id: string }; query: never; body: never; answer: SeedRow };
	"GET /seed-lists/{id}/syncs": { path: { id: string }; query: never; body: never; answer: ListSeedSyncRow };
	"GET /segments": { path: never; query: { type?: "dynamic" | "static"; tags?: string | string[]; search?: string; include_usage?: boolean }; body: never; answer: ListSegmentRow };
	"POST /segments": { path: never; query: never; body: CreateSegmentRequestBody; answer: SegmentSession };
	"POST /segments/from-broadcast": { path: never; query: never; body: SegmentFromBroadcastRequestBody; answer: SegmentSession };
	"POST /segments/preview": { path: never; query: never; body: PreviewSegmentRequestBody; answer: SegmentPreviewSession };
	"DELETE /segments/{key}": { path: { key: string }; query: never; body: never; answer: undefined };
	"GET /segments/{key}": { path: { key: string }; query: { include_usage?: boolean }; body: never; answer: SegmentSession };
	"PUT /segments/{key}": { path: { key: string }; query: never; body: UpdateSegmentRequestBody; answer: SegmentSession };
	"GET /segments/{key}/members": { path: { key: string }; query: { cursor?: string; limit?: number; sort?: "city" | "company" | "country" | "created_at" | "customer_score" | "deliverability_status" | "do_not_contact" | "email" | "first_name" | "global_status" | "last_activity_at" | "last_email_clicked_at" | "last_email_opened_at" | "last_email_sent_at" | "last_name" | "last_page_viewed_at" | "member_added_at" | "phone" | "postal_code" | "prospect_score" | "source" | "stage_id" | "state" | "title" | "total_emails_clicked" | "total_emails_opened" | "total_emails_sent" | "updated_at"; dir?: "asc" | "desc"; search?: string }; body: never; answer: ListContact };
	"POST /segments/{key}/members": { path: { key: string }; query: never; body: MembersRequestBody; answer: AddedMembers };
	"POST /segments/{key}/members/remove": { path: { key: string }; query: never; body: MembersRequestBody; answer: RemovedMembers };
	"DELETE /segments/{key}/members/{contact_id}": { path: { key: string; contact_id: string }; query: never; body: never; answer: undefined };
	"POST /segments/{key}/refresh-count": { path: { key: string }; query: never; body: never; answer: SegmentCount };
	"GET /sending-domains": { path: never; query: never; body: never; answer: ListSendingDomain };
	"POST /sending-domains": { path: never; query: never; body: CreateDomainRequestBody; answer: SendingDomain };
	"DELETE /sending-domains/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /sending-domains/{id}": { path: { id: string }; query: never; body: never; answer: SendingDomain };
	"POST /sending-domains/{id}/resume": { path: { id: string }; query: never; body: never; answer: SendingDomain };
	"POST /sending-domains/{id}/rotate-dkim": { path: { id: string }; query: never; body: never; answer: SendingDomain };
	"POST /sending-domains/{id}/verify": { path: { id: string }; query: never; body: VerifyDomainRequestBody; answer: SendingDomain };
	"GET /sending-identities": { path: never; query: never; body: never; answer: ListIdentityRow };
	"POST /sending-identities": { path: never; query: never; body: IdentityBody; answer: IdentityRow };
	"DELETE /sending-identities/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /sending-identities/{id}": { path: { id: string }; query: never; body: never; answer: IdentityRow };
	"PUT /sending-identities/{id}": { path: { id: string }; query: never; body: IdentityBody; answer: IdentityRow };
	"POST /sending-identities/{id}/verify-lane": { path: { id: string }; query: never; body: VerifyLaneRequestBody; answer: VerifiedLane };
	"GET /sequences": { path: never; query: { status?: string | ("draft" | "active" | "paused" | "archived")[]; q?: string; include_counts?: boolean }; body: never; answer: ListSequence };
	"POST /sequences": { path: never; query: never; body: SequenceBody; answer: Sequence };
	"GET /sequences/contact/{contact_id}/enrollments": { path: { contact_id: string }; query: never; body: never; answer: ListEnrollment };
	"DELETE /sequences/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /sequences/{id}": { path: { id: string }; query: never; body: never; answer: Sequence };
	"PUT /sequences/{id}": { path: { id: string }; query: never; body: SequenceBody; answer: Sequence };
	"POST /sequences/{id}/activate": { path: { id: string }; query: never; body: never; answer: Sequence };
	"POST /sequences/{id}/archive": { path: { id: string }; query: never; body: never; answer: Sequence };
	"POST /sequences/{id}/duplicate": { path: { id: string }; query: never; body: never; answer: Sequence };
	"POST /sequences/{id}/enroll": { path: { id: string }; query: never; body: EnrollContactRequestBody; answer: EnrollResult };
	"GET /sequences/{id}/enrollments": { path: { id: string }; query: { status?: string | ("active" | "paused" | "completed" | "exited" | "failed")[]; node_id?: string; cursor?: string; limit?: number }; body: never; answer: ListEnrollment };
	"POST /sequences/{id}/enrollments/{enrollment_id}/exit": { path: { id: string; enrollment_id: string }; query: never; body: never; answer: Enrollment };
	"GET /sequences/{id}/enrollments/{enrollment_id}/steps": { path: { id: string; enrollment_id: string }; query: { cursor?: string; limit?: number }; body: never; answer: ListEnrollmentStep };
	"PUT /sequences/{id}/graph": { path: { id: string }; query: { dry_run?: boolean }; body: SetSequenceGraphRequestBody; answer: Sequence | GraphCheck };
	"POST /sequences/{id}/pause": { path: { id: string }; query: never; body: never; answer: Sequence };
	"GET /sequences/{id}/report": { path: { id: string }; query: never; body: never; answer: SequenceReport };
	"POST /sequences/{id}/resume": { path: { id: string }; query: never; body: never; answer: Sequence };
	"POST /sequences/{id}/simulate": { path: { id: string }; query: never; body: SimulateSequenceRequestBody; answer: SequenceSimulation };
	"POST /sequences/{id}/test": { path: { id: string }; query: never; body: TestSequenceRequestBody; answer: TestSequenceAnswer };
	"GET /sequences/{id}/timing": { path: { id: string }; query: { from?: string; to?: string }; body: never; answer: SequenceTiming };
	"POST /sequences/{id}/unarchive": { path: { id: string }; query: never; body: never; answer: Sequence };
	"DELETE /settings/account": { path: never; query: never; body: DeleteTenantRequestBody; answer: DeletionBegun };
	"GET /settings/account": { path: never; query: never; body: never; answer: AccountSessionView };
	"PUT /settings/account": { path: never; query: never; body: UpdateAccountRequestBody; answer: AccountSessionView };
	"DELETE /settings/account/identity-secret": { path: never; query: never; body: never; answer: undefined };
	"POST /settings/account/identity-secret": { path: never; query: never; body: never; answer: IdentitySecretRow };
	"POST /settings/account/webhook-secret": { path: never; query: never; body: never; answer: WebhookSecretRow };
	"GET /settings/brand": { path: never; query: never; body: never; answer: BrandView };
	"PUT /settings/brand": { path: never; query: never; body: UpdateBrandRequestBody; answer: BrandView };
	"GET /settings/custom-fields": { path: never; query: never; body: never; answer: ListCustomFieldRow };
	"POST /settings/custom-fields": { path: never; query: never; body: CreateCustomFieldRequestBody; answer: CustomFieldRow };
	"DELETE /settings/custom-fields/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"PUT /settings/custom-fields/{id}": { path: { id: string }; query: never; body: UpdateCustomFieldRequestBody; answer: CustomFieldRow };
	"GET /settings/custom-fields/{id}/usage": { path: { id: string }; query: never; body: never; answer: CustomFieldUsage };
	"GET /settings/scoring": { path: never; query: never; body: never; answer: ScoringView };
	"PUT /settings/scoring": { path: never; query: never; body: UpdateScoringRequestBody; answer: ScoringView };
	"GET /settings/stages": { path: never; query: never; body: never; answer: ListStageRow };
	"POST /settings/stages": { path: never; query: never; body: StageBody; answer: StageRow };
	"PUT /settings/stages/order": { path: never; query: never; body: OrderStagesRequestBody; answer: ListStageRow };
	"DELETE /settings/stages/{id}": { path: { id: string }; query: { replacement_stage_id?: string }; body: never; answer: undefined };
	"PUT /settings/stages/{id}": { path: { id: string }; query: never; body: StageBody; answer: StageRow };
	"GET /settings/webhooks": { path: never; query: never; body: never; answer: ListWebhookRow };
	"POST /settings/webhooks": { path: never; query: never; body: WebhookBody; answer: WebhookWithSecret };
	"DELETE /settings/webhooks/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"GET /settings/webhooks/{id}": { path: { id: string }; query: never; body: never; answer: WebhookRow };
	"PUT /settings/webhooks/{id}": { path: { id: string }; query: never; body: WebhookBody; answer: WebhookRow };
	"GET /settings/webhooks/{id}/deliveries": { path: { id: string }; query: { cursor?: string; limit?: number }; body: never; answer: ListDeliveryRow };
	"GET /settings/webhooks/{id}/deliveries/{delivery_id}": { path: { id: string; delivery_id: string }; query: never; body: never; answer: FullDelivery };
	"POST /settings/webhooks/{id}/deliveries/{delivery_id}/replay": { path: { id: string; delivery_id: string }; query: never; body: never; answer: DeliveryRow };
	"POST /settings/webhooks/{id}/rotate-secret": { path: { id: string }; query: never; body: never; answer: WebhookWithSecret };
	"POST /settings/webhooks/{id}/test": { path: { id: string }; query: never; body: never; answer: DeliveryRow };
	"GET /shell": { path: never; query: never; body: never; answer: ShellView };
	"GET /stream": { path: never; query: never; body: never; answer: undefined };
	"GET /suggestions": { path: never; query: { for: "tags" | "event_names" | "event_properties" | "field"; field?: string; event_name?: string; q?: string }; body: never; answer: ListSuggestion };
	"DELETE /suppressions": { path: never; query: { email: string }; body: never; answer: undefined };
	"GET /suppressions": { path: never; query: { search?: string; reason?: string; cursor?: string; limit?: number }; body: never; answer: ListSuppressionRow };
	"POST /suppressions": { path: never; query: never; body: AddSuppressionRequestBody; answer: SuppressionRow };
	"POST /suppressions/bulk": { path: never; query: never; body: SuppressContactsRequestBody; answer: SuppressedContacts };
	"POST /suppressions/import": { path: never; query: never; body: ImportSuppressionsRequestBody; answer: ImportedSuppressions };
	"GET /template-starters": { path: never; query: never; body: never; answer: ListTemplateStarter };
	"GET /templates": { path: never; query: { full?: boolean; include_usage?: boolean; tags?: string | string[] }; body: never; answer: ListAnyTemplateRow };
	"POST /templates": { path: never; query: never; body: CreateTemplateRequestBody; answer: SavedTemplate };
	"DELETE /templates/{id}": { path: { id: string }; query: { force?: boolean }; body: never; answer: undefined };
	"GET /templates/{id}": { path: { id: string }; query: { include_usage?: boolean }; body: never; answer: TemplateRow };
	"PUT /templates/{id}": { path: { id: string }; query: never; body: UpdateTemplateRequestBody; answer: SavedTemplate };
	"GET /templates/{id}/binding-options": { path: { id: string }; query: never; body: never; answer: BindingOptions };
	"POST /templates/{id}/render": { path: { id: string }; query: never; body: RenderTemplateRequestBody; answer: RenderedTemplate };
	"GET /templates/{id}/schema": { path: { id: string }; query: never; body: never; answer: TemplateSchema };
	"POST /templates/{id}/validate-binding": { path: { id: string }; query: never; body: ValidateBindingRequestBody; answer: BindingVerdict };
	"GET /thumbnails": { path: never; query: { templates?: string | string[]; blocks?: string | string[]; starters?: string | string[] }; body: never; answer: ListThumbnail };
	"GET /users": { path: never; query: never; body: never; answer: ListMember };
	"POST /users/invite": { path: never; query: never; body: InviteMemberRequestBody; answer: InvitedMember };
	"DELETE /users/{id}": { path: { id: string }; query: never; body: never; answer: undefined };
	"PUT /users/{id}": { path: { id: string }; query: never; body: UpdateMemberRequestBody; answer: Member };
	"GET /working-copies": { path: never; query: { kind?: string }; body: never; answer: ListWorkingCopyRow };
	"DELETE /working-copies/{kind}/{id}": { path: { kind: string; id: string }; query: never; body: never; answer: undefined };
	"GET /working-copies/{kind}/{id}": { path: { kind: string; id: string }; query: never; body: never; answer: WorkingCopy };
	"PUT /working-copies/{kind}/{id}": { path: { kind: string; id: string }; query: never; body: WorkingCopyBody; answer: undefined };
};

// The least role that may send a request; where there is none, every caller may.
export const roles: { [route: string]: "viewer" | "editor" | "admin" | "owner" } = {
	"DELETE /assets/{id}": "editor",
	"DELETE /auth/api-keys/{id}": "admin",
	"DELETE /automations/{id}": "editor",
	"DELETE /blocks/{id}": "editor",
	"DELETE /broadcasts/{broadcast_id}": "editor",
	"DELETE /contacts/{id}": "editor",
	"DELETE /email-categories/{id}": "admin",
	"DELETE /email-types/{id}": "admin",
	"DELETE /forms/{id}": "editor",
	"DELETE /messages/{id}": "editor",
	"DELETE /mta-configs/{id}": "admin",
	"DELETE /mta-configs/{id}/messages": "admin",
	"DELETE /saved-filters/{id}": "editor",
	"DELETE /seed-lists/{id}": "editor",
	"DELETE /segments/{key}": "editor",
	"DELETE /segments/{key}/members/{contact_id}": "editor",
	"DELETE /sending-domains/{id}": "admin",
	"DELETE /sending-identities/{id}": "admin",
	"DELETE /sequences/{id}": "editor",
	"DELETE /settings/account": "owner",
	"DELETE /settings/account/identity-secret": "owner",
	"DELETE /settings/custom-fields/{id}": "admin",
	"DELETE /settings/stages/{id}": "admin",
	"DELETE /settings/webhooks/{id}": "admin",
	"DELETE /suppressions": "editor",
	"DELETE /templates/{id}": "editor",
	"DELETE /users/{id}": "admin",
	"DELETE /working-copies/{kind}/{id}": "editor",
	"GET /assets": "editor",
	"GET /audit-log": "admin",
	"GET /auth/api-keys": "admin",
	"GET /auth/api-keys/scopes": "admin",
	"GET /auth/api-keys/{id}": "admin",
	"GET /settings/webhooks": "admin",
	"GET /settings/webhooks/{id}": "admin",
	"GET /settings/webhooks/{id}/deliveries": "admin",
	"GET /settings/webhooks/{id}/deliveries/{delivery_id}": "admin",
	"GET /working-copies": "editor",
	"GET /working-copies/{kind}/{id}": "editor",
	"PATCH /auth/api-keys/{id}": "admin",
	"PATCH /contacts/{id}": "editor",
	"PATCH /messages/{id}": "editor",
	"POST /assets": "editor",
	"POST /audit-log/export": "admin",
	"POST /auth/api-keys": "admin",
	"POST /auth/api-keys/{id}/rotate": "admin",
	"POST /automations": "editor",
	"POST /blocks": "editor",
	"POST /broadcasts": "editor",
	"POST /broadcasts/bulk-archive": "editor",
	"POST /broadcasts/{broadcast_id}/archive": "editor",
	"POST /broadcasts/{broadcast_id}/cancel": "editor",
	"POST /broadcasts/{broadcast_id}/clone": "editor",
	"POST /broadcasts/{broadcast_id}/export": "editor",
	"POST /broadcasts/{broadcast_id}/pause": "editor",
	"POST /broadcasts/{broadcast_id}/reschedule": "editor",
	"POST /broadcasts/{broadcast_id}/resume": "editor",
	"POST /broadcasts/{broadcast_id}/schedule": "editor",
	"POST /broadcasts/{broadcast_id}/test-send": "editor",
	"POST /broadcasts/{broadcast_id}/unarchive": "editor",
	"POST /broadcasts/{broadcast_id}/unschedule": "editor",
	"POST /contacts": "editor",
	"POST /contacts/bulk": "editor",
	"POST /contacts/export": "editor",
	"POST /contacts/import": "editor",
	"POST /contacts/{id}/anonymize": "admin",
	"POST /contacts/{id}/restore": "editor",
	"POST /email-categories": "admin",
	"POST /email-types": "admin",
	"POST /events": "editor",
	"POST /events/batch": "editor",
	"POST /forms": "editor",
	"POST /forms/{id}/archive": "editor",
	"POST /forms/{id}/publish": "editor",
	"POST /forms/{id}/unarchive": "editor",
	"POST /forms/{id}/unpublish": "editor",
	"POST /jobs/{id}/cancel": "editor",
	"POST /jobs/{id}/undo": "editor",
	"POST /messages": "editor",
	"POST /messages/{id}/archive": "editor",
	"POST /messages/{id}/duplicate": "editor",
	"POST /mta-configs": "admin",
	"POST /mta-configs/test": "admin",
	"POST /mta-configs/{id}/test": "admin",
	"POST /saved-filters": "editor",
	"POST /seed-lists": "editor",
	"POST /seed-lists/{id}/seeds/changes": "editor",
	"POST /seed-lists/{id}/seeds/{seed_id}/pause": "editor",
	"POST /seed-lists/{id}/seeds/{seed_id}/reactivate": "editor",
	"POST /seed-lists/{id}/seeds/{seed_id}/resume": "editor",
	"POST /seed-lists/{id}/seeds/{seed_id}/retire": "editor",
	"POST /segments": "editor",
	"POST /segments/from-broadcast": "editor",
	"POST /segments/{key}/members": "editor",
	"POST /segments/{key}/members/remove": "editor",
	"POST /sending-domains": "admin",
	"POST /sending-domains/{id}/resume": "admin",
	"POST /sending-domains/{id}/rotate-dkim": "admin",
	"POST /sending-domains/{id}/verify": "admin",
	"POST /sending-identities": "admin",
	"POST /sending-identities/{id}/verify-lane": "admin",
	"POST /sequences": "editor",
	"POST /sequences/{id}/activate": "editor",
	"POST /sequences/{id}/archive": "editor",
	"POST /sequences/{id}/duplicate": "editor",
	"POST /sequences/{id}/enroll": "editor",
	"POST /sequences/{id}/enrollments/{enrollment_id}/exit": "editor",
	"POST /sequences/{id}/pause": "editor",
	"POST /sequences/{id}/resume": "editor",
	"POST /sequences/{id}/test": "editor",
	"POST /sequences/{id}/unarchive": "editor",
	"POST /settings/account/identity-secret": "owner",
	"POST /settings/account/webhook-secret": "admin",
	"POST /settings/custom-fields": "admin",
	"POST /settings/stages": "admin",
	"POST /settings/webhooks": "admin",
	"POST /settings/webhooks/{id}/deliveries/{delivery_id}/replay": "admin",
	"POST /settings/webhooks/{id}/rotate-secret": "admin",
	"POST /settings/webhooks/{id}/test": "admin",
	"POST /suppressions": "editor",
	"POST /suppressions/bulk": "editor",
	"POST /suppressions/import": "editor",
	"POST /templates": "editor",
	"POST /users/invite": "admin",
	"PUT /automations/{id}": "editor",
	"PUT /blocks/{id}": "editor",
	"PUT /broadcasts/{broadcast_id}": "editor",
	"PUT /contacts": "editor",
	"PUT /contacts/{id}": "editor",
	"PUT /email-categories/{id}": "admin",
	"PUT /email-types/{id}": "admin",
	"PUT /forms/{id}": "editor",
	"PUT /mta-configs/{id}": "admin",
	"PUT /saved-filters/{id}": "editor",
	"PUT /seed-lists/{id}": "editor",
	"PUT /seed-lists/{id}/seeds": "editor",
	"PUT /segments/{key}": "editor",
	"PUT /sending-identities/{id}": "admin",
	"PUT /sequences/{id}": "editor",
	"PUT /sequences/{id}/graph": "editor",
	"PUT /settings/account": "admin",
	"PUT /settings/brand": "admin",
	"PUT /settings/custom-fields/{id}": "admin",
	"PUT /settings/scoring": "admin",
	"PUT /settings/stages/order": "admin",
	"PUT /settings/stages/{id}": "admin",
	"PUT /settings/webhooks/{id}": "admin",
	"PUT /templates/{id}": "editor",
	"PUT /users/{id}": "admin",
	"PUT /working-copies/{kind}/{id}": "editor",
};
