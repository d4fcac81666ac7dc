package httpapi_test

import (
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/dbtest"
)

// step is a valid request. In path, query and body, {name} is replaced by a value that an earlier
// step stored under the name.
type step struct {
	op       string
	path     map[string]string
	query    string
	body     string
	status   int
	remember string // the name under which the answer's id is stored
	field    string // the field that is stored in place of id
}

// setupSteps create one record of each kind.
var setupSteps = []step{
	{op: "createEmailCategory", body: `{"name": "News", "description": "What is new", "sort_order": 3}`, status: 201, remember: "category"},
	{op: "createEmailType", body: `{"display_name": "Weekly", "category_id": "{category}", "description": null, "list_id_enabled": true, "list_key": "weekly", "utm_campaign_prefix": "w"}`, status: 201, remember: "type"},
	{op: "createSendingDomain", body: `{"domain": "{slug}.example.com", "tracking_subdomain": "go", "return_path_subdomain": "rp"}`, status: 201, remember: "domain"},
	{op: "createMtaConfig", body: `{"name": "Sink", "type": "sink"}`, status: 201, remember: "lane"},
	{op: "createMtaConfig", body: `{"name": "Relay", "type": "smtp", "settings": {"host": "smtp.example.com"}}`, status: 201, remember: "relay"},
	{op: "createSendingIdentity", body: `{"email_address": "news@{slug}.example.com", "display_name": "News", "reply_to": "re@example.org", "email_type_ids": ["{type}"], "default_mta_config_id": "{lane}", "utm_code": "n", "active": true}`, status: 201, remember: "identity"},
	{op: "createStage", body: `{"name": "Warm", "category": "prospect", "color": "#112233", "description": "d", "sort_order": 9}`, status: 201, remember: "stage"},
	{op: "createCustomField", body: `{"name": "Plan", "field_type": "string", "field_key": "plan", "default_value": "free"}`, status: 201, remember: "field"},
	{op: "createSegment", body: `{"name": "Readers {slug}", "type": "static", "tags": ["a"]}`, status: 201, remember: "segment", field: "segment_key"},
	{op: "createSegment", body: `{"name": "Germans {slug}", "definition": {"logic": "AND", "conditions": [{"field": "country", "operator": "is", "value": "DE"}, {"type": "list", "operator": "in", "segment_keys": ["{segment}"]}]}, "tags": ["a"]}`, status: 201, remember: "rule", field: "segment_key"},
	{op: "importContacts", body: "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nemail\nimported@example.org\n\r\n--x--\r\n", status: 202, remember: "imported", field: "job_id"},
	{op: "createContact", query: "include_identity_token=true", body: `{"email": "ann@example.org", "external_id": "e-1", "first_name": "Ann", "last_name": "Bee", "tags": ["x"], "stage_id": "{stage}",
		"custom_fields": {"plan": "pro"}, "subscriptions": {"weekly": true}, "timezone": "Europe/Berlin", "country": "DE", "website": "https://example.org/", "do_not_contact": false}`, status: 201, remember: "contact"},
	{op: "addSegmentMembers", path: map[string]string{"key": "{segment}"}, body: `{"contact_ids": ["{contact}"]}`, status: 200},
	{op: "recordEvent", body: `{"event_name": "order", "contact_id": "{contact}", "contact_email": "ann@example.org", "type": "order_placed", "properties": {"orderId": "A1", "value": "9.5"}, "occurred_at": "2026-02-01T00:00:00Z"}`, status: 202, remember: "event", field: "event_id"},
	{op: "recordEvents", body: `{"events": [{"event_name": "order", "contact_email": "ann@example.org", "idempotency_key": "k-1"}, {"event_name": "order"}]}`, status: 202},
	{op: "addSuppression", body: `{"email": "gone@example.org", "reason": "manual"}`, status: 201},
	{op: "importContacts", body: "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nemail,Plan,Town\nbob@example.org,pro,Rome\n\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n" + `{"mapping": {"Town": "city"}, "mode": "upsert", "tags": ["import"], "segment_key": "{segment}", "subscriptions": {"weekly": true}, "update_blank": false}` + "\r\n--x--\r\n", status: 202, remember: "import", field: "job_id"},
	{op: "createAsset", body: "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"dot.gif\"\r\n\r\nGIF89a\x01\x01\x01\x01\x01\x01\x01;\r\n--x--\r\n", status: 201, remember: "asset"},
	{op: "listAssets", query: "q=dot", status: 200},
	{op: "exportContacts", body: `{"format": "csv", "selector": {"status": "active", "search": "ann", "filters": [], "definition": null}, "fields": ["email", "custom_fields.plan"]}`, status: 202, remember: "export", field: "job_id"},
	{op: "createSavedFilter", body: `{"name": "Germans", "filters": [{"field": "country", "operator": "equals", "value": "DE"}], "definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["x"]}]},
		"search": "ann", "status": "active,pending", "sort": "email", "dir": "asc", "columns": ["email", "tags"], "shared": true}`, status: 201, remember: "filter"},
	{op: "storeWorkingCopy", path: ofCopy, body: `{"base_revision": 3, "title": "Spring {slug}", "data": {"subject": "Hi", "html": "<p>"}}`, status: 204},
	{op: "createSeedList", body: `{"name": "Vendor {slug}", "vendor_label": "Vendor", "vendor_dashboard_url": "https://vendor.example/x", "include_by_default": true, "rotation_days": 30, "rotation_grace_days": 5, "sending_identity_ids": ["{identity}"]}`, status: 201, remember: "seedlist"},
	{op: "replaceSeeds", path: map[string]string{"id": "{seedlist}"}, query: "dry_run=true&include_changes=true", body: `{"seeds": [{"email": "a.seed@gmail.com"}, {"email": "no address"}]}`, status: 200},
	{op: "replaceSeeds", path: map[string]string{"id": "{seedlist}"}, body: `{"seeds": [{"email": "a.seed@gmail.com"}, {"email": "b.seed@example.net", "provider": "outlook"}, {"email": "ann@example.org"}], "dry_run": false, "allow_large_change": true}`, status: 200},
	{op: "createBlock", body: `{"name": "Hero {slug}", "slug": "hero", "content_html": "<h1>{{param:title}}</h1>", "content_text": "{{param:title}}", "active": true, "tags": ["hero"], "slot_keys": ["hero"],
		"parameters_schema": [{"name": "title", "type": "text", "default": "Hi"}], "sections_schema": [], "groups_schema": []}`, status: 201, remember: "block"},
	{op: "createTemplate", body: `{"name": "Letter {slug}", "slug": "letter", "subject": "For {{param:reader}}", "format": "html", "content_html": "<p>{{param:reader}}</p>{{#section rows}}<b>{{item:name}}</b>{{/section}}{{slot:hero}}",
		"content_mjml": null, "content_text": "{{param:reader}}", "inline_css": false, "tags": ["a"], "parameters_schema": [{"name": "reader", "type": "text", "required": true, "sample": "Ann"}],
		"sections_schema": [{"name": "rows", "item_schema": [{"name": "name", "type": "text"}]}], "slots_schema": [{"name": "hero", "tag_filter": ["hero"]}],
		"groups_schema": [{"name": "main", "parameters": ["reader"]}], "expects_schema": [{"path": "contact.first_name", "type": "string"}]}`, status: 201, remember: "template"},
	{op: "createMessage", body: `{"name": "Welcome {slug}", "slug": "welcome", "status": "published", "tags": ["a"], "content": {"template_slug": "letter", "template_binding": {"parameters": {"reader": "Ann"}}}}`, status: 201, remember: "entry"},
	{op: "createForm", body: `{"name": "Sign up", "allowed_origins": ["https://www.{slug}.example.com"], "submit_label": "Go", "success_mode": "redirect", "success_message": "Thanks", "redirect_url": "https://example.org/thanks",
		"double_opt_in": true, "confirm_message_id": null, "confirm_redirect_url": null, "list_segment_keys": ["{segment}"], "tags": ["web"], "stage_id": "{stage}", "captcha": {"provider": "turnstile", "site_key": "0x1", "secret_key": "s"},
		"fields": [{"id": "mail", "type": "contact", "binding": "email", "label": "Email", "placeholder": "you@example.org", "help_text": "No spam.", "required": true, "input": "email", "sort_order": 1},
			{"type": "custom_field", "binding": "plan", "label": "Plan", "input": "select", "options": ["free", "pro"], "default_value": "free"}, {"type": "hidden", "binding": "company", "param": "c", "default_value": "x"},
			{"type": "consent", "binding": "weekly", "label": "Send me news", "required": true}, {"type": "text_block", "label": "About us"}]}`, status: 201, remember: "form"},
	{op: "createSequence", body: `{"name": "Onboarding", "entry_trigger": {"trigger_type": "tag_added", "trigger_config": {"tag": "vip"}}}`, status: 201, remember: "sequence"},
	{op: "createAutomation", body: `{"name": "Label", "status": "active", "trigger_type": "event", "trigger_config": {"event_name": "order"}, "definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["x"]}]},
		"actions": [{"type": "tag", "config": {"action": "add", "tags": ["buyer"]}}, {"type": "list", "config": {"action": "add", "segment_key": "{segment}"}}]}`, status: 201, remember: "automation"},
	{op: "createApiKey", body: `{"name": "CRM", "scopes": ["contacts:read"], "expires_at": "2027-01-01T00:00:00Z"}`, status: 201, remember: "apikey"},
	{op: "inviteMember", body: `{"email": "bob@{slug}.example", "role": "editor"}`, status: 201, remember: "member"},
	{op: "createWebhook", body: `{"url": "https://hooks.example.com/{slug}", "description": "CRM", "event_types": ["email.bounced", "contact.created"], "active": true}`, status: 201, remember: "webhook"},
	{op: "testWebhook", path: map[string]string{"id": "{webhook}"}, status: 202, remember: "delivery"},
	{op: "createBroadcast", body: `{"name": "Spring", "email_type_key": "weekly", "mta_config_key": "sink", "include_segment_keys": ["{segment}"], "exclude_segment_keys": [], "sending_identity_emails": ["news@{slug}.example.com"],
		"tags": ["s"], "metadata": {"wave": "1"}, "tracking_enabled": true, "scheduled_at": "2026-03-02T12:00:00Z",
		"content": {"subject": "Hi {{ first_name }}", "preheader": "p", "body_html": "<p>Hi <a href=\"https://example.org/\">you</a></p>", "body_text": "Hi", "from_name": "N", "reply_to": "re@example.org"}}`, status: 201, remember: "broadcast"},
	{op: "scheduleBroadcast", path: map[string]string{"broadcast_id": "{broadcast}"}, status: 200},
	{op: "createBroadcast", body: `{"email_type_key": "weekly", "mta_config_key": "sink", "include_segment_keys": ["{segment}"], "sending_identity_emails": ["news@{slug}.example.com"],
		"scheduled_at": "2026-03-02T12:00:00Z", "content": {"subject": "Hi", "body_html": "<p>Hi</p>"}}`, status: 201, remember: "second"},
	{op: "scheduleBroadcast", path: map[string]string{"broadcast_id": "{second}"}, status: 200},
}

var (
	ofBroadcast = map[string]string{"broadcast_id": "{broadcast}"}
	ofSecond    = map[string]string{"broadcast_id": "{second}"}
	ofSegment   = map[string]string{"key": "{segment}"}
	ofRule      = map[string]string{"key": "{rule}"}
	ofContact   = map[string]string{"id": "{contact}"}
	ofCopy      = map[string]string{"kind": "broadcast", "id": "new-01900000-0000-7000-8000-000000000071"}
	ofFilter    = map[string]string{"id": "{filter}"}
	ofLane      = map[string]string{"id": "{lane}"}
	ofTemplate  = map[string]string{"id": "{template}"}
	ofBlock     = map[string]string{"id": "{block}"}
	ofSeedList  = map[string]string{"id": "{seedlist}"}
	ofSeed      = map[string]string{"id": "{seedlist}", "seed_id": "{seed}"}
	ofForm      = map[string]string{"id": "{form}"}
	ofEntry     = map[string]string{"id": "{entry}"}
	ofMessage   = map[string]string{"id": "{lane}", "message_id": "{message}"}
	ofWebhook   = map[string]string{"id": "{webhook}"}
	ofSequence  = map[string]string{"id": "{sequence}"}
	ofRunning   = map[string]string{"id": "{automation}"}
	ofDelivery  = map[string]string{"id": "{webhook}", "delivery_id": "{delivery}"}
)

// otherSteps call every other operation, in an order in which each can succeed.
var otherSteps = []step{
	{op: "getSession", status: 200},
	{op: "listActivity", query: "types=event,contact_created&event_name=&contact_id={contact}&limit=2", status: 200},
	{op: "listSuggestions", query: "for=event_properties&event_name=order&q=or", status: 200},
	{op: "streamChanges", status: 200},
	{op: "listAuditLog", query: "limit=2", status: 200},
	{op: "exportAuditLog", body: `{"format": "csv", "actor_type": "user", "action": "api_key", "since": "2026-01-01T00:00:00Z"}`, status: 202},
	{op: "listApiKeys", status: 200},
	{op: "listScopes", status: 200},
	{op: "getApiKey", path: map[string]string{"id": "{apikey}"}, status: 200},
	{op: "updateApiKey", path: map[string]string{"id": "{apikey}"}, body: `{"name": "CRM 2", "scopes": ["contacts:write"], "expires_at": null}`, status: 200},
	{op: "rotateApiKey", path: map[string]string{"id": "{apikey}"}, body: `{"grace_seconds": 60}`, status: 200},
	{op: "listWebhooks", status: 200},
	{op: "getWebhook", path: ofWebhook, status: 200},
	{op: "updateWebhook", path: ofWebhook, body: `{"url": "https://hooks.example.com/new", "description": null, "event_types": ["*"], "active": true}`, status: 200},
	{op: "rotateWebhookSecret", path: ofWebhook, status: 200},
	{op: "listWebhookDeliveries", path: ofWebhook, query: "limit=5", status: 200},
	{op: "getWebhookDelivery", path: ofDelivery, status: 200},
	{op: "replayWebhookDelivery", path: ofDelivery, status: 202},
	{op: "listBroadcasts", query: "status=scheduled&tags=s&full=true&since=2026-01-01", status: 200},
	{op: "getBroadcast", path: ofBroadcast, status: 200},
	{op: "getBroadcast", path: ofBroadcast, query: "embed=none", status: 200},
	{op: "getBroadcastReport", path: ofBroadcast, status: 200},
	{op: "listBroadcastLinks", path: ofBroadcast, status: 200},
	{op: "listBroadcastBounces", path: ofBroadcast, status: 200},
	{op: "exportBroadcast", path: ofBroadcast, body: `{"what": "recipients", "format": "csv", "status": "delivered,bounced", "variant_id": "a", "search": "ann"}`, status: 202},
	{op: "getBroadcastEngagement", path: ofBroadcast, status: 200},
	{op: "getBroadcastTiming", path: ofBroadcast, status: 200},
	{op: "listBroadcastMetrics", status: 200},
	{op: "getOverview", status: 200},
	{op: "getShell", status: 200},
	{op: "getCollections", query: "kinds=blocks,broadcasts,custom_fields,email_categories,email_types,forms,messages,mta_configs,saved_filters,seed_lists,segments,sending_identities,sequences,stages,templates&copies=template/{template}&binding_options=letter", status: 200},
	{op: "listThumbnails", query: "templates=letter,nothing&blocks=hero", status: 200},
	{op: "listTemplateStarters", status: 200},
	{op: "countContactsBySelector", body: `{"status": ["active"], "search": "ann", "filters": [], "definition": null, "lacking": ["phone"]}`, status: 200},
	{op: "getReportsOverview", status: 200},
	{op: "listBroadcastRecipients", path: ofBroadcast, query: "status=queued,sent&variant_id=a&search=ann&limit=5", status: 200},
	{op: "getBroadcastRecipient", path: map[string]string{"broadcast_id": "{second}", "contact_id": "{contact}"}, status: 200},
	{op: "pauseBroadcast", path: ofBroadcast, status: 409},
	{op: "resumeBroadcast", path: ofBroadcast, status: 409},
	{op: "rescheduleBroadcast", path: ofBroadcast, body: `{"skipped_dates": ["2999-05-01"]}`, status: 409},
	{op: "unscheduleBroadcast", path: ofBroadcast, status: 200},
	{op: "updateBroadcast", path: ofBroadcast, body: `{"name": "Summer", "tags": ["t"], "metadata": {"wave": "2"}, "email_type_key": "weekly", "include_segment_keys": ["{segment}"], "sending_identity_emails": ["news@{slug}.example.com"],
		"scheduled_at": null, "content": {"subject": "Ho", "body_html": "<p>Ho</p>", "body_text": null}}`, status: 200},
	{op: "testSendBroadcast", path: ofBroadcast, body: `{"to": ["ann@example.org"], "contact_id": "{contact}", "variant_ids": null}`, status: 200},
	{op: "cloneBroadcast", path: ofBroadcast, body: `{"name": "Autumn"}`, status: 201, remember: "clone"},
	{op: "listContacts", query: "status=active&search=ann&sort=email&dir=asc&limit=5", status: 200},
	{op: "countContacts", query: "search=ann", status: 200},
	{op: "searchContacts", body: `{"status": ["active"], "search": "ann", "sort": "email", "dir": "asc", "limit": 5, "cursor": null, "filters": [{"field": "country", "operator": "equals", "value": "DE"}],
		"definition": {"logic": "and", "conditions": [{"field": "tags", "operator": "has_any", "value": ["x"]}]}}`, status: 200},
	{op: "bulkContacts", body: `{"action": "add_tags", "contact_ids": ["{contact}"], "params": {"tags": ["bulk"]}}`, status: 200},
	{op: "bulkContacts", body: `{"action": "set_field", "selector": {"status": "active", "search": "ann", "filters": [], "definition": null}, "params": {"field": "city", "value": "Bonn"}}`, status: 202},
	{op: "listSavedFilters", status: 200},
	{op: "getSavedFilter", path: ofFilter, status: 200},
	{op: "updateSavedFilter", path: ofFilter, body: `{"name": "Austrians", "filters": [{"field": "country", "operator": "equals", "value": "AT"}], "definition": null, "status": [], "columns": []}`, status: 200},
	{op: "lookupContact", query: "email=ann@example.org", status: 200},
	{op: "getContact", path: ofContact, status: 200},
	{op: "listContactLists", path: ofContact, status: 200},
	{op: "listContactConsents", path: ofContact, status: 200},
	{op: "listContactActivity", path: ofContact, query: "types=contact_created,contact_updated&limit=5", status: 200},
	{op: "upsertContact", body: `{"email": "ann@example.org", "external_id": "e-1", "full_name": "Ann C", "tags": ["y"], "custom_fields": {"plan": null}, "category_subscriptions": {}, "stage_id_if_new": "{stage}", "city": "B"}`, status: 200},
	{op: "updateContact", path: ofContact, query: "include_identity_token=true", body: `{"email": "ann@example.org", "full_name": "Ann D", "tags": ["z"], "custom_fields": {"plan": "pro"}, "subscriptions": {"weekly": null}, "stage_id": "{stage}", "city": null, "do_not_contact": false}`, status: 200},
	{op: "patchContact", path: ofContact, body: `{"state": "BE", "tags": []}`, status: 200},
	{op: "exportContact", path: ofContact, status: 200},
	{op: "listEmailCategories", status: 200},
	{op: "updateEmailCategory", path: map[string]string{"id": "{category}"}, body: `{"name": "Newer", "description": null, "sort_order": 1}`, status: 200},
	{op: "listEmailTypes", status: 200},
	{op: "updateEmailType", path: map[string]string{"id": "{type}"}, body: `{"display_name": "Weekly 2", "category_id": "{category}", "sort_order": 2, "active": true}`, status: 200},
	{op: "listMtaConfigs", status: 200},
	{op: "getMtaConfig", path: ofLane, status: 200},
	{op: "testMtaConfigDraft", body: `{"type": "sink", "settings": {}}`, status: 200},
	{op: "testMtaConfig", path: ofLane, body: `{"to": "ann@example.org"}`, status: 200},
	{op: "listSinkMessages", path: ofLane, query: "search=hi&limit=5", status: 200},
	{op: "getSinkMessage", path: ofMessage, status: 200},
	{op: "getRawSinkMessage", path: ofMessage, status: 200},
	{op: "updateMtaConfig", path: map[string]string{"id": "{relay}"}, body: `{"name": "Relay", "active": true, "settings": {"host": "smtp.example.net", "port": 587, "tls": "starttls", "auth": "plain", "username": "u", "password": "p"}, "caps": {"max_connections": 3, "max_per_day": 5000, "max_per_hour": null},
		"domain_throttles": [{"pattern": "gmail", "max_connections": 2, "max_per_minute": 60, "max_per_hour": null}], "warmup": {"enabled": true, "start_per_day": 100, "growth_pct": 20, "started_on": "2026-03-01"}, "retry": {"max_age_hours": 24}}`, status: 200},
	{op: "listSegments", query: "type=static&tags=a&search=readers", status: 200},
	{op: "getSegment", path: ofSegment, status: 200},
	{op: "updateSegment", path: ofSegment, body: `{"name": "Readers again", "tags": ["b"]}`, status: 200},
	{op: "listSegmentMembers", path: ofSegment, query: "limit=5&search=ann&dir=asc", status: 200},
	{op: "refreshSegmentCount", path: ofSegment, status: 200},
	{op: "getSegment", path: ofRule, status: 200},
	{op: "updateSegment", path: ofRule, body: `{"definition": {"logic": "or", "conditions": [{"field": "country", "operator": "equals", "value": "AT"}, {"logic": "and", "negate": true, "conditions": [{"field": "tags", "operator": "has_any", "value": ["x"]}]}]}}`, status: 200},
	{op: "listSegmentMembers", path: ofRule, query: "limit=5&search=ann&sort=email&dir=asc", status: 200},
	{op: "refreshSegmentCount", path: ofRule, status: 200},
	{op: "previewSegment", body: `{"definition": {"logic": "and", "conditions": [{"type": "email", "event": "opened", "operator": "did_not", "window": {"in_the_last": {"amount": 30, "unit": "days"}}}]}}`, status: 200},
	{op: "createSegmentFromBroadcast", body: `{"broadcast_id": "{broadcast}", "criterion": "non_openers", "name": "Sleepers"}`, status: 201},
	{op: "removeSegmentMembers", path: ofSegment, body: `{"emails": ["nobody@example.org"], "contact_ids": ["{contact}"]}`, status: 200},
	{op: "removeSegmentMember", path: map[string]string{"key": "{segment}", "contact_id": "{contact}"}, status: 204},
	{op: "listSendingDomains", status: 200},
	{op: "getSendingDomain", path: map[string]string{"id": "{domain}"}, status: 200},
	{op: "verifySendingDomain", path: map[string]string{"id": "{domain}"}, status: 200},
	{op: "rotateSendingDomainKey", path: map[string]string{"id": "{domain}"}, status: 200},
	{op: "resumeSendingDomain", path: map[string]string{"id": "{domain}"}, status: 200},
	{op: "listSendingIdentities", status: 200},
	{op: "getSendingIdentity", path: map[string]string{"id": "{identity}"}, status: 200},
	{op: "verifySendingIdentityLane", path: map[string]string{"id": "{identity}"}, body: `{"mta_config_id": "{lane}", "to": "ann@example.org"}`, status: 200},
	{op: "updateSendingIdentity", path: map[string]string{"id": "{identity}"}, body: `{"email_address": "news@{slug}.example.com", "display_name": "N", "reply_to": null, "email_type_ids": ["{type}"], "default_mta_config_id": "{lane}", "active": true}`, status: 200},
	{op: "getAccount", status: 200},
	{op: "updateAccount", body: `{"name": "Acme", "timezone": "Europe/Berlin", "locale": "de-DE", "currency_code": "EUR", "website_url": "https://example.org/", "logo_url": null, "default_email_type_id": "{type}", "default_mta_config_id": "{lane}", "default_sending_identity_id": "{identity}",
		"postal_address": {"line1": "Way 1", "line2": null, "city": "B", "state": null, "postal_code": "1", "country": "DE"}, "unsubscribe_scope": "type", "sunset_days": 90, "sunset_min_sends": 3, "tracked_domains": [], "tracking_defaults": {"tracking_enabled": true}}`, status: 200},
	{op: "getBrand", status: 200},
	{op: "updateBrand", body: `{"colors": {"primary": "#12507b", "secondary": null, "text": "#222222", "background": "#fff", "surface": "#ffffff"}, "fonts": {"heading": "Georgia, serif", "body": null},
		"logo_asset_id": "{asset}", "button": {"color": null, "text_color": "#fff", "radius": 4}, "width": 640, "footer": "{{ account.name }}"}`, status: 200},
	{op: "updateBrand", body: `{"logo_asset_id": null}`, status: 200},
	{op: "listJobs", query: "type=export&status=completed&limit=1", status: 200},
	{op: "getJob", path: map[string]string{"id": "{export}"}, status: 200},
	{op: "downloadJobFile", path: map[string]string{"id": "{export}"}, query: "file=export", status: 200},
	{op: "undoImport", path: map[string]string{"id": "{imported}"}, status: 202},
	{op: "cancelJob", path: map[string]string{"id": "{import}"}, status: 200},
	{op: "createIdentitySecret", status: 200},
	{op: "createWebhookSecret", status: 200},
	{op: "deleteIdentitySecret", status: 204},
	{op: "listCustomFields", status: 200},
	{op: "getCustomFieldUsage", path: map[string]string{"id": "{field}"}, status: 200},
	{op: "updateCustomField", path: map[string]string{"id": "{field}"}, body: `{"name": "Plan 2", "default_value": null}`, status: 200},
	{op: "getScoring", status: 200},
	{op: "updateScoring", body: `{"enabled": true, "rules": [{"id": "big", "trigger": "event", "match": {"event_name": "order_placed", "type": null, "filters": [{"property": "items[].sku", "operator": "in", "value": ["a", "b"]}]}, "points": 30, "daily_cap": 2}],
		"decay": {"after_days": 60, "percent": 10}, "min": -10, "max": 500}`, status: 200},
	{op: "listStages", status: 200},
	{op: "updateStage", path: map[string]string{"id": "{stage}"}, body: `{"name": "Hot", "category": "customer", "color": null, "description": null, "sort_order": 2}`, status: 200},
	{op: "orderStages", body: `{"ids": ["{stage}"]}`, status: 200},
	{op: "listSuppressions", query: "search=gone&reason=manual", status: 200},
	{op: "suppressContacts", body: `{"contact_ids": ["{contact}"], "reason": "manual"}`, status: 200},
	{op: "importSuppressions", body: `{"emails": ["a@example.org", "nonsense"], "reason": "manual"}`, status: 200},
	{op: "removeSuppression", query: "email=gone@example.org", status: 204},
	{op: "listSeedLists", status: 200},
	{op: "getSeedList", path: ofSeedList, status: 200},
	{op: "updateSeedList", path: ofSeedList, body: `{"name": "Mailboxes", "vendor_label": null, "vendor_dashboard_url": null, "include_by_default": false, "rotation_days": null, "rotation_grace_days": 0, "sending_identity_ids": null}`, status: 200},
	{op: "listSeeds", path: ofSeedList, query: "search=SEED&status=active,paused&limit=1&offset=1", status: 200},
	{op: "changeSeeds", path: ofSeedList, query: "dry_run=true", body: `{"add": [{"email": "c.seed@aol.com", "provider": null}], "remove": ["b.seed@example.net", "x"], "dry_run": false, "allow_large_change": false}`, status: 200},
	{op: "changeSeeds", path: ofSeedList, body: `{"remove": ["a.seed@gmail.com", "b.seed@example.net"]}`, status: 409},
	{op: "listSeedSyncs", path: ofSeedList, status: 200},
	{op: "pauseSeed", path: ofSeed, status: 200},
	{op: "resumeSeed", path: ofSeed, status: 200},
	{op: "retireSeed", path: ofSeed, status: 200},
	{op: "reactivateSeed", path: ofSeed, status: 200},
	{op: "listTemplates", query: "full=true&include_usage=true&tags=a", status: 200},
	{op: "getTemplate", path: ofTemplate, query: "include_usage=true", status: 200},
	{op: "getTemplateSchema", path: ofTemplate, status: 200},
	{op: "getBindingOptions", path: ofTemplate, status: 200},
	{op: "validateBinding", path: ofTemplate, body: `{"template_binding": {"parameters": {"reader": "Ann"}, "sections": {"rows": [{"name": "x"}]}, "slots": {"hero": {"strategy": "fixed", "block_id": "{block}"}}}}`, status: 200},
	{op: "renderTemplate", path: ofTemplate, body: `{"template_binding": {"parameters": {"reader": "Ann"}, "slots": {"hero": {"strategy": "random"}}}, "include_options": true, "lenient": false}`, status: 200},
	{op: "previewMail", body: `{"source": {"template": {"name": "Letter", "slug": "letter", "subject": "{{param:reader}}", "format": "html", "content_html": "<p>{{param:reader}}</p>{{slot:hero}}", "parameters_schema": [{"name": "reader", "type": "text"}], "slots_schema": [{"name": "hero", "default_strategy": "random"}], "binding": {"parameters": {"reader": "Ann"}}}}, "sending_identity_email": "news@{slug}.example.com"}`, status: 200},
	{op: "previewMail", body: `{"source": {"block": {"name": "Hero", "content_html": "<h1>{{ event.plan }}{{param:x}}</h1>", "parameters_schema": [{"name": "x", "type": "text"}], "parameters": {"x": "y"}, "sections": {}, "template_slug": "letter"}}, "event": {"event_name": "order_placed", "occurred_at": "2026-03-01T10:00:00Z", "properties": {"plan": "pro"}}}`, status: 200},
	{op: "previewMail", body: `{"source": {"content": {"subject": "Hi {{ first_name }}", "body_mjml": "<mjml><mj-body><mj-nope/></mj-body></mjml>", "preheader": "{{ nobody }}"}}, "contact_id": "{contact}"}`, status: 200},
	{op: "previewSend", body: `{"name": "Plan", "email_type_key": "weekly", "include_segment_keys": ["{segment}"], "exclude_segment_keys": [], "delivery_mode": "over_days", "delivery_window_days": 3, "overflow_mode": "holdback", "throttle_per_hour": 1, "skipped_dates": []}`, status: 200},
	{op: "search", query: "q=ann&types=contact,segment&limit=3", status: 200},
	{op: "search", query: "q=we", status: 200},
	{op: "getContactEligibility", path: map[string]string{"id": "{contact}"}, query: "broadcast_id={broadcast}", status: 200},
	{op: "getContactEligibility", path: map[string]string{"id": "{contact}"}, query: "email_type_key=weekly", status: 200},
	{op: "getContactEligibility", path: map[string]string{"id": "{contact}"}, query: "sequence_id={sequence}", status: 200},
	{op: "previewSend", body: `{"broadcast_id": "{broadcast}"}`, status: 200},
	{op: "previewMail", body: `{"source": {"broadcast_id": "{broadcast}"}, "contact_id": "{contact}"}`, status: 200},
	{op: "previewMail", body: `{"source": {"message_id": "{entry}", "version": 1}}`, status: 200},
	{op: "updateTemplate", path: ofTemplate, body: `{"name": "Note", "subject": null, "content_html": "<p>{{param:reader}}</p>", "tags": [], "inline_css": true, "sections_schema": [], "slots_schema": null, "groups_schema": []}`, status: 200},
	{op: "listBlocks", query: "full=true&include_usage=true&tags=hero&slot_keys=hero,x", status: 200},
	{op: "getBlock", path: ofBlock, query: "include_usage=true", status: 200},
	{op: "updateBlock", path: ofBlock, body: `{"name": "Opening", "active": false, "content_text": null, "slot_keys": []}`, status: 200},
	{op: "listSequences", query: "status=draft,active&q=on", status: 200},
	{op: "getSequence", path: ofSequence, status: 200},
	{op: "updateSequence", path: ofSequence, body: `{"name": "Onboarding", "allow_reentry": true, "exit_conditions": null}`, status: 200},
	{op: "setSequenceGraph", path: ofSequence, body: `{"entry_node_id": "x", "nodes": [], "edges": [], "dry_run": true}`, status: 200},
	{op: "setSequenceGraph", path: ofSequence, body: `{"entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}, {"id": "out", "type": "exit"}], "edges": [{"from_node": "rest", "to_node": "out", "branch_label": null}]}`, status: 200},
	{op: "setSequenceGraph", path: ofSequence, body: `{"entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}},
		{"id": "mail", "type": "send", "config": {"message_id": "{entry}", "email_type_key": "weekly", "mta_config_key": "sink"}},
		{"id": "call", "type": "webhook", "config": {"url": "https://hooks.example.com/{slug}", "headers": {"X-Plan": "{{ event.plan }}"}, "body": {"email": "{{ email }}"}, "timeout_s": 5}},
		{"id": "tell", "type": "notify", "config": {"to": ["owner@{slug}.example"], "subject": "{{ email }}", "body": "Hi"}}],
		"edges": [{"from_node": "rest", "to_node": "mail"}, {"from_node": "mail", "to_node": "call"}, {"from_node": "call", "to_node": "tell"}]}`, status: 200},
	{op: "testSequence", path: ofSequence, body: `{"contact_id": "{contact}", "to": ["tester@example.org"]}`, status: 200},
	{op: "simulateSequence", path: ofSequence, body: `{"limit": 10}`, status: 200},
	{op: "simulateSequence", path: ofSequence, body: `{"graph": {"entry_node_id": "rest", "nodes": [{"id": "rest", "type": "wait", "config": {"mode": "duration", "amount": 1, "unit": "day"}}], "edges": []}}`, status: 200},
	{op: "activateSequence", path: ofSequence, status: 200},
	{op: "enrollContact", path: ofSequence, body: `{"contact_id": "{contact}"}`, status: 200, remember: "enrollment", field: "enrollment_id"},
	{op: "enrollContact", path: ofSequence, body: `{"email": "enrolled@example.org", "external_id": "enrolled-1", "first_name": "Ed", "last_name": null, "company": "C", "tags": ["t"], "custom_fields": {"plan": "pro"}}`, status: 200},
	{op: "listSequenceEnrollments", path: ofSequence, query: "status=active,paused&node_id=rest&limit=1", status: 200},
	{op: "listContactEnrollments", path: map[string]string{"contact_id": "{contact}"}, status: 200},
	{op: "listEnrollmentSteps", path: map[string]string{"id": "{sequence}", "enrollment_id": "{enrollment}"}, query: "limit=1", status: 200},
	{op: "exitEnrollment", path: map[string]string{"id": "{sequence}", "enrollment_id": "{enrollment}"}, status: 200},
	{op: "getSequenceReport", path: ofSequence, status: 200},
	{op: "getSequenceTiming", path: ofSequence, status: 200},
	{op: "pauseSequence", path: ofSequence, status: 200},
	{op: "resumeSequence", path: ofSequence, status: 200},
	{op: "duplicateSequence", path: ofSequence, status: 201, remember: "copy"},
	{op: "deleteSequence", path: map[string]string{"id": "{copy}"}, status: 204},
	{op: "archiveSequence", path: ofSequence, status: 200},
	{op: "unarchiveSequence", path: ofSequence, status: 200},
	{op: "listAutomations", query: "status=active,paused&q=lab&limit=1", status: 200},
	{op: "getAutomation", path: ofRunning, status: 200},
	{op: "updateAutomation", path: ofRunning, body: `{"name": "Labels", "status": "paused", "trigger_type": "tag_added", "trigger_config": {"tag": "vip"}, "definition": null,
		"actions": [{"type": "webhook", "config": {"url": "https://hooks.example.com/{slug}", "body": {"email": "{{ email }}"}}}]}`, status: 200},
	{op: "listAutomationRuns", path: ofRunning, query: "status=completed,failed&limit=1", status: 200},
	{op: "listMessages", query: "status=published,draft&search=welcome&limit=5&offset=0&embed=use", status: 200},
	{op: "getMessage", path: ofEntry, status: 200},
	{op: "rebaseMessagePreview", path: ofEntry, body: `{"version": 1}`, status: 200},
	{op: "updateMessage", path: ofEntry, body: `{"name": "Hello", "slug": "hello", "status": "draft", "tags": [], "content": {"subject": "Hi", "body_html": "<p>Hi</p>", "body_text": null, "preheader": "p", "from_name": "N", "reply_to": "re@example.org"}}`, status: 200},
	{op: "listMessageVersions", path: ofEntry, status: 200},
	{op: "getMessageVersion", path: map[string]string{"id": "{entry}", "version": "1"}, status: 200},
	{op: "archiveMessage", path: ofEntry, status: 200},
	{op: "duplicateMessage", path: ofEntry, status: 201},
	{op: "listForms", query: "status=draft,archived", status: 200},
	{op: "getForm", path: ofForm, status: 200},
	{op: "getFormEmbed", path: ofForm, status: 200},
	{op: "previewForm", path: ofForm, body: `{"submit_label": "Join us", "fields": [{"type": "contact", "binding": "email", "label": ""}]}`, status: 200},
	{op: "updateForm", path: ofForm, body: `{"name": "Join", "double_opt_in": false, "allowed_origins": [], "success_mode": "message", "redirect_url": null, "tags": null, "list_segment_keys": [], "stage_id": null, "captcha": null,
		"fields": [{"id": "mail", "type": "contact", "binding": "email", "label": "Email", "required": true}]}`, status: 200},
	{op: "publishForm", path: ofForm, status: 200},
	{op: "listFormSubmissions", path: ofForm, query: "limit=5", status: 200},
	{op: "unpublishForm", path: ofForm, status: 200},
	{op: "archiveForm", path: ofForm, status: 200},
	{op: "unarchiveForm", path: ofForm, status: 200},
	{op: "archiveForm", path: ofForm, status: 200},
	{op: "deleteForm", path: ofForm, status: 204},
	{op: "deleteAutomation", path: ofRunning, status: 204},
	{op: "listMembers", status: 200},
	{op: "updateMember", path: map[string]string{"id": "{user_viewer}"}, body: `{"role": "editor", "status": "active"}`, status: 200},

	{op: "deleteContact", path: ofContact, status: 204},
	{op: "restoreContact", path: ofContact, status: 200},
	{op: "anonymizeContact", path: ofContact, body: `{"suppress": true}`, status: 200},
	{op: "cancelBroadcast", path: ofSecond, status: 200},
	{op: "archiveBroadcast", path: ofSecond, status: 200},
	{op: "unarchiveBroadcast", path: ofSecond, status: 200},
	{op: "bulkArchiveBroadcasts", body: `{"ids": ["{second}", "{broadcast}"]}`, status: 200},
	{op: "deleteBroadcast", path: map[string]string{"broadcast_id": "{clone}"}, status: 204},
	{op: "deleteBroadcast", path: ofBroadcast, status: 204},
	{op: "deleteMessage", path: ofEntry, status: 204},
	{op: "deleteTemplate", path: ofTemplate, query: "force=true", status: 204},
	{op: "deleteBlock", path: ofBlock, status: 204},
	{op: "deleteSavedFilter", path: ofFilter, status: 204},
	{op: "listWorkingCopies", query: "kind=broadcast", status: 200},
	{op: "getWorkingCopy", path: ofCopy, status: 200},
	{op: "deleteWorkingCopy", path: ofCopy, status: 204},
	{op: "deleteSeedList", path: ofSeedList, status: 204},
	{op: "deleteSegment", path: ofSegment, status: 204},
	{op: "deleteSendingIdentity", path: map[string]string{"id": "{identity}"}, status: 204},
	{op: "deleteSendingDomain", path: map[string]string{"id": "{domain}"}, status: 204},
	{op: "clearSinkMessages", path: ofLane, status: 204},
	{op: "deleteMtaConfig", path: ofLane, status: 204},
	{op: "deleteEmailType", path: map[string]string{"id": "{type}"}, status: 204},
	{op: "deleteEmailCategory", path: map[string]string{"id": "{category}"}, status: 204},
	{op: "deleteStage", path: map[string]string{"id": "{stage}"}, query: "replacement_stage_id={stage}", status: 400},
	{op: "deleteCustomField", path: map[string]string{"id": "{field}"}, status: 204},
	{op: "deleteAsset", path: map[string]string{"id": "{asset}"}, status: 204},
	{op: "deleteWebhook", path: ofWebhook, status: 204},
	{op: "revokeApiKey", path: map[string]string{"id": "{apikey}"}, status: 204},
	{op: "removeMember", path: map[string]string{"id": "{user_editor}"}, status: 204},

	{op: "getSignInOptions", status: 200},
	{op: "listOwnSessions", status: 200},
	{op: "updateProfile", body: `{"name": "Olive Owner"}`, status: 200},
	{op: "endOwnSession", path: map[string]string{"id": "01900000-0000-7000-8000-000000000071"}, status: 404},
	{op: "logIn", body: `{"email": "owner@{slug}.example", "password": "` + testPassword + `"}`, status: 200},
	{op: "signUp", body: `{"tenant_name": "New", "tenant_slug": "new", "name": "Ann", "email": "new@example.org", "password": "` + testPassword + `", "setup_token": null}`, status: 403},
	{op: "forgotPassword", body: `{"email": "owner@{slug}.example"}`, status: 202},
	{op: "resetPassword", body: `{"token": "x", "password": "` + testPassword + `"}`, status: 400},
	{op: "acceptInvitation", body: `{"token": "x", "name": "Bob", "password": "` + testPassword + `"}`, status: 400},
	{op: "checkLink", body: `{"kind": "invitation", "token": "x"}`, status: 400},
	{op: "logInByLink", body: `{"token": "x"}`, status: 400},
	{op: "joinTenant", body: `{"token": "x"}`, status: 400},
	{op: "changePassword", body: `{"current_password": "` + testPassword + `", "new_password": "` + testPassword + ` again"}`, status: 204},
	{op: "deleteTenant", body: `{"confirm_slug": "{slug}"}`, status: 202},
	{op: "logOut", status: 204},
}

// requestFor returns the request of a step for a tenant.
func (s *conformance) requestFor(slug string, st step) testRequest {
	var pairs []string
	for name, value := range s.records[slug] {
		pairs = append(pairs, "{"+name+"}", value)
	}
	fill := strings.NewReplacer(pairs...)
	x := testRequest{name: "valid request", op: s.ops[st.op], slug: slug, body: fill.Replace(st.body), path: map[string]string{}}
	for name, value := range st.path {
		x.path[name] = fill.Replace(value)
	}
	if strings.HasPrefix(st.body, "--x\r\n") {
		x.headers = map[string]string{"Content-Type": "multipart/form-data; boundary=x"}
	}
	if st.query != "" {
		x.query, _ = url.ParseQuery(fill.Replace(st.query))
	}
	switch {
	case x.op.open():
	case x.op.session():
		x.caller = s.records[slug]["owner"]
	default:
		x.caller = s.keys[slug]
	}
	return x
}

// runStep sends the request of a step, and checks and stores its answer.
func (s *conformance) runStep(t testing.TB, slug string, st step) {
	t.Helper()
	if _, ok := s.ops[st.op]; !ok {
		t.Fatalf("no operation %s", st.op)
	}
	x := s.requestFor(slug, st)
	a := s.send(t, x)
	if s.called != nil {
		s.called(slug, st)
	}
	s.checkResponse(t, x, a)
	if a.Code != st.status {
		t.Errorf("%s = %d %s, want %d\n%s", st.op, a.Code, a.Body, st.status, x.body)
	}
	if st.remember != "" {
		field := st.field
		if field == "" {
			field = "id"
		}
		s.records[slug][st.remember], _ = a.body[field].(string)
	}
}

// Every operation is called, by an API key where keys are allowed and by a session, and each answer
// matches the OpenAPI document.
func TestEveryOperationMatchesItsSchema(t *testing.T) {
	sequential(t)
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newConformance(t, db)
		before := s.checksums(t, "other")
		called := map[string]bool{}
		for _, st := range slices.Concat(setupSteps, otherSteps) {
			called[st.op] = true
		}
		for name := range s.ops {
			if !called[name] {
				t.Errorf("no step calls %s", name)
			}
		}
		for _, st := range otherSteps {
			s.runStep(t, "acme", st)
			if op := s.ops[st.op]; op.method == "GET" && !op.session() && !op.open() {
				x := s.requestFor("acme", st)
				x.name, x.caller = "with a session", s.records["acme"]["owner"]
				s.checkResponse(t, x, s.send(t, x))
			}
		}
		s.checkUnchanged(t, "other", before)
	})
}

// checkUnchanged fails if a tenant's rows differ from before.
func (s *conformance) checkUnchanged(t testing.TB, slug string, before map[string]string) {
	t.Helper()
	for table, sum := range s.checksums(t, slug) {
		if sum != before[table] {
			t.Errorf("%s of %s: %s, was %s", table, slug, sum, before[table])
		}
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}
