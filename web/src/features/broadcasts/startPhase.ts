/** "Send now" begins this long from now, in milliseconds, so that it can be undone. */
export const undoDelay = 60_000;

/** StartPhase is when a send begins: once Send is pressed, at its time, or never as it is, because its time is over. */
export type StartPhase = "sent" | "later" | "over";

/** startPhase returns when a send with a start begins. A start that is over would send at once, which nobody chooses by a date. */
export function startPhase(start: string | null, now: number): StartPhase {
	if (start === null) return "sent";
	const remaining = Date.parse(start) - now;
	return remaining < 0 ? "over" : remaining <= undoDelay ? "sent" : "later";
}
