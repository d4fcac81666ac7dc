import { catalogue } from "./catalogue";

// Names of built-in segments, which the server has in English, and which nobody can change.

const words = catalogue("shell.builtInSegments", {
	all_sendable: "All sendable contacts",
	engaged_30_days: "Engaged in the last 30 days",
	engaged_90_days: "Engaged in the last 90 days",
	new_contacts_30_days: "New in the last 30 days",
	never_engaged: "Never engaged",
	soft_bouncing: "Soft bouncing",
	sunset_candidates: "Sunset candidates",
});

type Segment = { system_key: string | null; name: string };

/** segmentName returns the name of a segment in the language of the application, if it is built in. */
export const segmentName = ({ system_key: key, name }: Segment) =>
	(key && (words as { [key: string]: string })[key]) || name;

/** withSegmentNames returns segments with the names of those that are built in. */
export const withSegmentNames = <S extends Segment, L extends { data: S[] }>(list: L): L => ({
	...list,
	data: list.data.map((segment) => (segment.system_key ? { ...segment, name: segmentName(segment) } : segment)),
});
