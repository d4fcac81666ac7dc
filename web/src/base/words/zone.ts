// Times of a day in a time zone, as fields of the browser show them: "2026-05-09T09:00".

const formats = new Map<string, Intl.DateTimeFormat>();

/** wallTime returns a time as clocks in a zone show it. */
export function wallTime(instant: Date, zone: string): string {
	let format = formats.get(zone);
	if (!format) {
		format = new Intl.DateTimeFormat("en-GB", {
			timeZone: zone,
			year: "numeric",
			month: "2-digit",
			day: "2-digit",
			hour: "2-digit",
			minute: "2-digit",
			hourCycle: "h23",
		});
		formats.set(zone, format);
	}
	const part = Object.fromEntries(format.formatToParts(instant).map((part) => [part.type, part.value]));
	return `${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}`;
}

/** timesOf returns the times at which clocks in a zone show a time: none when they jump over it, two when it comes twice. */
export function timesOf(local: string, zone: string): Date[] {
	const guess = Date.parse(`${local}:00Z`);
	if (Number.isNaN(guess)) return [];
	const hour = 3_600_000;
	const found = new Set<number>();
	for (const candidate of [guess - 26 * hour, guess, guess + 26 * hour]) {
		const offset = Date.parse(`${wallTime(new Date(candidate), zone)}:00Z`) - Math.floor(candidate / 60_000) * 60_000;
		const instant = guess - offset;
		if (wallTime(new Date(instant), zone) === local.slice(0, 16)) found.add(instant);
	}
	return [...found].sort((a, b) => a - b).map((instant) => new Date(instant));
}

/** ownZone is the zone of the browser. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** today returns the day in a zone, as "2026-05-09". */
export const today = (zone: string, now = new Date()) => wallTime(now, zone).slice(0, 10);

/** addDays returns the day that is some days after another; "" for what is no day. */
export function addDays(date: string, days: number): string {
	const instant = new Date(`${date}T00:00:00Z`);
	if (Number.isNaN(instant.getTime())) return "";
	instant.setUTCDate(instant.getUTCDate() + days);
	return instant.toISOString().slice(0, 10);
}

/** startOfDay returns the first moment of a day in a zone; undefined for what is no day, or one that the zone left out. */
export function startOfDay(date: string, zone: string): Date | undefined {
	// Where clocks jump over midnight, the day begins later.
	for (const time of ["00:00", "00:30", "01:00"]) {
		const [first] = timesOf(`${date}T${time}`, zone);
		if (first) return first;
	}
	return undefined;
}
