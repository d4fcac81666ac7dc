import type { Answer } from "../../api/client";
import { catalogue } from "../../base/words/catalogue";
import { and } from "../../base/words/formats";
import { NotSet } from "../../ui/Page";
import css from "../settings/Settings.module.css";

const words = catalogue("audit.changes", {
	count: "{count, plural, one {# change} other {# changes}}",
	field: "Field",
	before: "Before",
	after: "After",
	secret: "Changed. The value is not shown.",
	part: "Only the part that changed is shown. The whole text had {before, plural, one {# character} other {# characters}} and now has {after, plural, one {# character} other {# characters}}.",
	yes: "Yes",
	no: "No",
	fields: {
		name: "Name",
		display_name: "Name",
		description: "Description",
		active: "Active",
		enabled: "Enabled",
		status: "Status",
		tags: "Tags",
		role: "Role",
		scopes: "Scopes",
		expires_at: "Expires",
		url: "Address",
		event_types: "Events",
		rule: "Rule",
		definition: "Condition",
		actions: "Actions",
		trigger_type: "Trigger",
		trigger_config: "Trigger",
		entry_trigger: "Entry",
		exit_conditions: "Exits",
		allow_reentry: "May enter again",
		entry_node_id: "First step",
		nodes: "Steps",
		edges: "Connections",
		rules: "Rules",
		decay: "Decay",
		min: "Lowest score",
		max: "Highest score",
		settings_host: "Host",
		settings_port: "Port",
		settings_tls: "Encryption",
		settings_auth: "Authentication",
		settings_username: "Username",
		settings_password: "Password",
		settings_has_password: "Has a password",
		settings_region: "Region",
		settings_access_key_id: "Access key ID",
		settings_secret_access_key: "Secret access key",
		settings_configuration_set: "Configuration set",
		settings_ips: "Outgoing IP addresses",
		settings_fail_patterns: "Simulated refusals",
		settings_bounce_mailbox: "Mailbox of bounces",
		settings_dkim_sign: "Signs email (DKIM)",
		settings_helo_host: "Hostname",
		caps_max_per_second: "Emails per second",
		caps_max_per_minute: "Emails per minute",
		caps_max_per_hour: "Emails per hour",
		caps_max_per_day: "Emails per day",
		caps_max_connections: "Connections",
		caps_max_messages_per_connection: "Emails per connection",
		domain_throttles: "Limits of providers",
		warmup: "Warm-up",
		retry: "Retry for, in hours",
		return_path_records: "Return path records",
		timezone: "Time zone",
		locale: "Language",
		currency_code: "Currency",
		website_url: "Website",
		logo_url: "Logo",
		postal_address: "Postal address",
		colors: "Colours",
		fonts: "Fonts",
		button: "Buttons",
		logo_asset_id: "Logo",
		footer: "Footer",
		width: "Width",
		send_window: "Sending hours",
		default_sending_identity: "Default sender",
		default_email_type: "Default email type",
		default_mta_config: "Default sending server",
		tracking_defaults: "Tracking",
		retention: "Retention",
		tracked_domains: "Tracked domains",
		reply_to: "Reply-to address",
		email_type_ids: "Email types",
		utm_code: "UTM source",
		category_id: "Category",
		sort_order: "Order",
		list_key: "List label",
		subject: "Subject",
		format: "Format",
		content_html: "HTML",
		content_mjml: "MJML",
		content_text: "Plain text",
		inline_css: "CSS inlined",
		parameters_schema: "Fields",
		sections_schema: "Sections",
		slots_schema: "Places for blocks",
		groups_schema: "Groups of fields",
		expects_schema: "Expected data",
		slot_keys: "Places",
		current_version: "Version",
		slug: "Short name",
		category: "Category",
		color: "Colour",
		is_default: "Default",
		order: "Order",
		enum_values: "Choices",
		value_constraint: "Other values",
		default_value: "Default",
		allowed_origins: "Websites",
		submit_label: "Text of the button",
		success_mode: "After sending",
		success_message: "Message after sending",
		redirect_url: "Page after sending",
		double_opt_in: "Double opt-in",
		confirm_message_id: "Confirmation email",
		confirm_redirect_url: "Page after confirmation",
		list_segment_keys: "Lists",
		stage_id: "Stage",
		captcha_provider: "Captcha",
		captcha_site_key: "Captcha site key",
		captcha_secret_key: "Captcha secret key",
		fields: "Fields",
		vendor_label: "Vendor",
		vendor_dashboard_url: "Page of the vendor",
		include_by_default: "Included by default",
		rotation_days: "Days until rotation",
		rotation_grace_days: "Days of grace",
		sending_identities: "Senders",
	},
});

type Change = Answer<"GET /audit-log">["data"][number]["changes"][number];

/** nameOf names a field of a record: by its path, else by that of the object it is in, else by its last part in plain letters. */
function nameOf(path: string): string {
	const names = words.fields as { [path: string]: string };
	const parts = path.split(".");
	for (let n = parts.length; n > 0; n--) {
		const name = names[parts.slice(0, n).join("_")];
		if (name) return name;
	}
	for (const key of Object.keys(names)) if (path.startsWith(`${key}_`)) return names[key] ?? "";
	const last = (parts.at(-1) ?? "").replaceAll("_", " ");
	return last.charAt(0).toUpperCase() + last.slice(1);
}

function Value({ value }: { value: unknown }) {
	if (value === null || value === undefined || value === "") return <NotSet />;
	if (typeof value === "boolean") return value ? words.yes : words.no;
	if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
		return value.length === 0 ? <NotSet /> : and(value.map(String));
	return typeof value === "object" ? <code>{JSON.stringify(value)}</code> : String(value);
}

/** AuditChanges opens to the fields that an update changed, with their values before and after. */
export function AuditChanges({ changes }: { changes: Change[] }) {
	if (changes.length === 0) return null;
	return (
		<details className={css.changes}>
			<summary>{words.count({ count: changes.length })}</summary>
			<table>
				<thead>
					<tr>
						<th scope="col">{words.field}</th>
						<th scope="col">{words.before}</th>
						<th scope="col">{words.after}</th>
					</tr>
				</thead>
				<tbody>
					{changes.map((change) => (
						<tr key={change.field}>
							<th scope="row">{nameOf(change.field)}</th>
							{change.before === null && change.after === null ? (
								<td colSpan={2}>{words.secret}</td>
							) : (
								<>
									<td>
										<Value value={change.before} />
									</td>
									<td>
										<Value value={change.after} />
										{change.length && <small>{words.part(change.length)}</small>}
									</td>
								</>
							)}
						</tr>
					))}
				</tbody>
			</table>
		</details>
	);
}
