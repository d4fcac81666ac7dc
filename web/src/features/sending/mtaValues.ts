import type { MtaConfigBody, MtaConfigRow, ReturnPathRecordRow } from "../../api/schema";
import type { Row } from "./MtaRows";
import { bodyOfThrottle, type Throttle, throttleOf } from "./Throttles";

// The values of the form of an MTA config, and the requests that are made of them.

export type Type = MtaConfigRow["type"];
/** relays reports whether mail of a type leaves through a server of others, to which bounces may come back. */
export const relays = (type: string) => type === "smtp" || type === "ses";

const bodyOfRecord = (row: Row) => ({
	type: row.type,
	host: row.host?.trim() || null,
	value: row.value?.trim(),
	...(row.type === "MX" && row.priority && { priority: Number(row.priority) }),
});

export type Settings = { [name: string]: unknown };

export const caps = {
	max_per_second: "perSecond",
	max_per_minute: "perMinute",
	max_per_hour: "perHour",
	max_per_day: "perDay",
	max_connections: "connections",
	max_messages_per_connection: "perConnection",
} as const;

/** valuesOf returns the fields of the form. */
export function valuesOf(lane?: MtaConfigRow) {
	const settings = (lane?.settings ?? {}) as Settings;
	const text = (name: string, initial = "") => String(settings[name] ?? initial);
	const limit = (value: number | null | undefined) => String(value ?? "");
	const list = <R>(rows: unknown, toRow: (row: R) => Row) => ((rows ?? []) as R[]).map(toRow);
	return {
		type: (lane?.type ?? "smtp") as string,
		name: lane?.name ?? "",
		"settings.host": text("host"),
		"settings.port": text("port", "587"),
		"settings.tls": text("tls", "starttls"),
		"settings.auth": text("auth", "plain"),
		"settings.username": text("username"),
		"settings.password": "",
		"settings.region": text("region", "eu-central-1"),
		"settings.access_key_id": text("access_key_id"),
		"settings.secret_access_key": "",
		"settings.configuration_set": text("configuration_set"),
		active: lane?.active ?? true,
		"caps.max_per_second": limit(lane?.caps.max_per_second),
		"caps.max_per_minute": limit(lane?.caps.max_per_minute),
		"caps.max_per_hour": limit(lane?.caps.max_per_hour),
		"caps.max_per_day": limit(lane?.caps.max_per_day),
		"caps.max_connections": limit(lane?.caps.max_connections),
		"caps.max_messages_per_connection": limit(lane?.caps.max_messages_per_connection),
		domain_throttles: (lane?.domain_throttles ?? []).map(throttleOf) as Throttle[],
		"warmup.enabled": lane?.warmup.enabled ?? false,
		"warmup.start_per_day": limit(lane?.warmup.start_per_day),
		"warmup.growth_pct": limit(lane?.warmup.growth_pct),
		"warmup.started_on": lane?.warmup.started_on ?? "",
		"retry.max_age_hours": limit(lane?.retry.max_age_hours),
		"settings.ips": list<{ ip: string; helo_host: string }>(settings.ips, (row) => ({
			ip: row.ip,
			helo_host: row.helo_host,
		})),
		"settings.fail_patterns": list<{ pattern: string; response: string }>(settings.fail_patterns, (row) => ({
			pattern: row.pattern,
			response: row.response,
		})),
		return_path_records: list<ReturnPathRecordRow>(lane?.return_path_records, (row) => ({
			type: row.type,
			host: row.host ?? "",
			value: row.value,
			priority: String(row.priority ?? ""),
		})),
	};
}

export type MtaValues = ReturnType<typeof valuesOf>;

/** settingsOf returns the settings of a request: the connection, with a password if one was typed. */
export function settingsOf(values: MtaValues, lane?: MtaConfigRow): Settings {
	const type = values.type as Type;
	const stored = (lane?.settings ?? {}) as Settings;
	const settings: { [name: string]: unknown } = {};
	if (type === "smtp") {
		Object.assign(settings, {
			host: values["settings.host"].trim(),
			port: Number(values["settings.port"]),
			tls: values["settings.tls"],
			auth: values["settings.auth"],
		});
		if (values["settings.auth"] !== "none") {
			settings.username = values["settings.username"];
			if (values["settings.password"]) settings.password = values["settings.password"];
		} else if (stored.has_password) settings.password = null; // which stays with its host, and is not needed any more
	} else if (type === "direct_mx") {
		Object.assign(settings, {
			tls: values["settings.tls"],
			ips: values["settings.ips"].map((row) => ({ ip: row.ip?.trim(), helo_host: row.helo_host?.trim() })),
		});
	} else if (type === "sink") {
		settings.fail_patterns = values["settings.fail_patterns"];
	} else if (type === "ses") {
		Object.assign(settings, {
			region: values["settings.region"],
			access_key_id: values["settings.access_key_id"],
			configuration_set: values["settings.configuration_set"] || null,
		});
		if (values["settings.secret_access_key"]) settings.secret_access_key = values["settings.secret_access_key"];
	}
	return settings;
}

/** bodyOf returns the body of a create or an update. */
export function bodyOf(values: MtaValues, lane?: MtaConfigRow): MtaConfigBody {
	const type = values.type as Type;
	const settings = settingsOf(values, lane);
	const bounds: { [name: string]: unknown } = {};
	for (const name of Object.keys(caps) as (keyof typeof caps)[]) {
		const value = values[`caps.${name}`];
		// Connections always have a limit: an empty field leaves it as it is.
		if (value !== "" || (name !== "max_connections" && name !== "max_messages_per_connection"))
			bounds[name] = value === "" ? null : Number(value);
	}
	const warmup: { [name: string]: unknown } = { enabled: values["warmup.enabled"] };
	if (values["warmup.enabled"]) {
		if (values["warmup.start_per_day"]) warmup.start_per_day = Number(values["warmup.start_per_day"]);
		if (values["warmup.growth_pct"]) warmup.growth_pct = Number(values["warmup.growth_pct"]);
		warmup.started_on = values["warmup.started_on"] || null;
	}
	return {
		name: values.name,
		active: values.active,
		caps: bounds,
		domain_throttles: values.domain_throttles.map(bodyOfThrottle),
		warmup,
		...(values["retry.max_age_hours"] && { retry: { max_age_hours: Number(values["retry.max_age_hours"]) } }),
		...(relays(type) && { return_path_records: values.return_path_records.map(bodyOfRecord) }),
		...(Object.keys(settings).length > 0 && { settings }),
		...(!lane && { type }),
	} as MtaConfigBody;
}
