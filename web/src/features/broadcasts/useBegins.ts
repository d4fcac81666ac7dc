import { useEffect, useState } from "react";
import { request } from "../../api/client";
import type { BroadcastSessionView } from "../../api/schema";
import { type Begins, begins, grace } from "./begin";

const longest = 2 ** 31 - 1; // milliseconds of a timer

/** useBegins is begins, told again when the start comes. */
export function useBegins(start: string | null): Begins {
	const [, tell] = useState(0);
	const is = begins(start, Date.now());
	useEffect(() => {
		if (start === null || is === "over") return;
		const left = Date.parse(start) - Date.now();
		const timer = setTimeout(() => tell((n) => n + 1), Math.min(longest, left > grace ? left - grace : left + 1));
		return () => clearTimeout(timer);
	});
	return is;
}

/** unschedule takes a broadcast off its schedule, and drops a start that would be over in a minute, such as that of "Send now". */
export async function unschedule(id: string): Promise<BroadcastSessionView> {
	const path = { broadcast_id: id };
	const { data, revision } = await request("POST /broadcasts/{broadcast_id}/unschedule", { path });
	if (data.scheduled_at === null || begins(data.scheduled_at, Date.now()) === "later") return data;
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
