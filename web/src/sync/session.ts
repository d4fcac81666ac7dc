import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError, api } from "../api/client";
import type { SessionView } from "../api/schema";
import { clearAnswers } from "../base/persistence";
import { answer } from "../base/queries";
import { onTabMessage, notifyTabs } from "../base/tabs";
import { clearDraftStorage, deleteDraftsBefore } from "./deviceStorage";
import { discardPending, saveAll } from "./pendingSaves";
import { outside } from "../base/paths";

// Who is signed in, in all tabs of the browser, and what leaves the device when that ends.

/** For how many milliseconds what was typed stays on the device when nobody is signed in: whose session ends while they write signs in again. */
const typedWithoutSession = 24 * 3600_000;

/** sessionQuery reads the session: null when nobody is signed in. */
export const sessionQuery = () =>
	queryOptions({
		...answer("session"),
		queryFn: async (): Promise<SessionView | null> => {
			try {
				return await api("GET /api/auth/session", { silent: true });
			} catch (error) {
				if (!(error instanceof ApiError) || error.status !== 401) throw error;
				// The session may have been ended because the device was lost.
				await Promise.all([clearAnswers(), deleteDraftsBefore(Date.now() - typedWithoutSession)]);
				return null;
			}
		},
	});

/** useSessionQuery reads the session. */
export const useSessionQuery = () => useQuery(sessionQuery());

/** useSignOut ends the session and forgets everything that was loaded. */
export function useSignOut() {
	const client = useQueryClient();
	return async (to: string = outside.login) => {
		await saveAll();
		await api("POST /api/auth/logout", { silent: true }).catch(() => undefined);
		notifyTabs(null);
		client.clear();
		await Promise.all([clearAnswers(), clearDraftStorage()]);
		location.assign(to);
	};
}

/**
 * useOneSession keeps the tabs of a browser on one session. When another tab signs out, this one forgets everything and
 * leaves; when somebody else has signed in there, this one loads again as theirs.
 */
export function useOneSession(user: string | undefined) {
	const client = useQueryClient();
	useEffect(() => {
		if (!user) return;
		notifyTabs(user);
		return onTabMessage((other) => {
			if (other === user) return;
			discardPending();
			client.clear();
			if (other) location.reload();
			else void Promise.all([clearAnswers(), clearDraftStorage()]).finally(() => location.assign(outside.login));
		});
	}, [user, client]);
}
