import type { DNSRecord } from "../../api/schema";

/** zoneLine writes a record as a line of a zone file (RFC 1035, section 5). */
export function zoneLine(record: DNSRecord): string {
	const value =
		record.type === "TXT"
			? (record.value.match(/.{1,255}/g) ?? [""]).map((part) => `"${part.replace(/["\\]/g, "\\$&")}"`).join(" ")
			: record.type === "MX"
				? `${record.priority ?? 10} ${record.value.replace(/\.?$/, ".")}`
				: record.value.replace(/\.?$/, ".");
	return `${record.host.replace(/\.?$/, ".")} 3600 IN ${record.type} ${value}`;
}
