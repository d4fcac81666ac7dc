/** "Send now" begins this long from now, in milliseconds, so that it can be undone. */
export const grace = 60_000;

/** When a send begins: once Send is pressed, at its time, or never as it is, because its time is over. */
export type Begins = "sent" | "later" | "over";

/** begins tells when a send with a start begins. A start that is over would send at once, which nobody chooses by a date. */
export function begins(start: string | null, now: number): Begins {
	if (start === null) return "sent";
	const left = Date.parse(start) - now;
	return left < 0 ? "over" : left <= grace ? "sent" : "later";
}
