import { useEffect, useState } from "react";
import { request } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { type StartPhase, startPhase, undoDelay } from "./startPhase";

const maxTimeout = 2 ** 31 - 1; // milliseconds of a timer

/** useStartPhase returns startPhase, and renders again when it changes. */
export function useStartPhase(start: string | null): StartPhase {
	const [, forceUpdate] = useState(0);
	const phase = startPhase(start, Date.now());
	useEffect(() => {
		if (start === null || phase === "over") return;
		const remaining = Date.parse(start) - Date.now();
		const timer = setTimeout(
			() => forceUpdate((n) => n + 1),
			Math.min(maxTimeout, remaining > undoDelay ? remaining - undoDelay : remaining + 1),
		);
		return () => clearTimeout(timer);
	});
	return phase;
}

/** unschedule takes a broadcast off its schedule, and drops a start that would be over in a minute, such as that of "Send now". */
export async function unschedule(id: string): Promise<BroadcastSessionView> {
	const path = { broadcast_id: id };
	const { data, revision } = await request("POST /broadcasts/{broadcast_id}/unschedule", { path });
	if (data.scheduled_at === null || startPhase(data.scheduled_at, Date.now()) === "later") return data;
	try {
		return (
			await request("PUT /broadcasts/{broadcast_id}", {
				path,
				body: { scheduled_at: null },
				revision: revision ?? undefined,
			})
		).data;
	} catch {
		return data; // it is off the schedule, and the page shows that its start is over
	}
}
