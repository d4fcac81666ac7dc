import type { DNSRecord } from "../../api/schema";

/** zoneLine writes a record as a line of a zone file (RFC 1035, section 5). */
export function zoneLine(r: DNSRecord): string {
	const value =
		r.type === "TXT"
			? (r.value.match(/.{1,255}/g) ?? [""]).map((part) => `"${part.replace(/["\\]/g, "\\$&")}"`).join(" ")
			: r.type === "MX"
				? `${r.priority ?? 10} ${r.value.replace(/\.?$/, ".")}`
				: r.value.replace(/\.?$/, ".");
	return `${r.host.replace(/\.?$/, ".")} 3600 IN ${r.type} ${value}`;
}
