import { createContext } from "react";

/**
 * StartEvent is the name of the event that starts the sequence or the automation around a rule; empty if another trigger
 * does, null where rules cannot ask about it.
 */
export const StartEvent = createContext<string | null>(null);

/** startEventOf returns the name of the event that a trigger waits for, as StartEvent has it. */
export const startEventOf = (type: string, config: { event_name?: unknown }) =>
	type === "event" ? String(config.event_name ?? "") : "";
