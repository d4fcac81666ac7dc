import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useSyncExternalStore } from "react";
import { ApiError, api, type Route, workspaceSlug } from "../api/client";
import { roles, type SessionMembership, type SessionView } from "../api/schema";
import { roleNames } from "../words/roles";
import { and, catalogue } from "../words/catalogue";
import { closeDevice, forgetTyped } from "./device";
import { forget } from "./kept";
import { abandonAll, saveAll } from "./leaving";
import { liveState, subscribeLive } from "./live";
import { onTabs, tellTabs } from "./tabs";

const words = catalogue({
	may: (who: string) => `Only ${who} of this workspace may do this. Ask one of them.`,
	offline: "The server cannot be reached. Try again when you are online.",
});

export type Role = "viewer" | "editor" | "admin" | "owner";

const order: Role[] = ["viewer", "editor", "admin", "owner"];

/** For how many milliseconds what was typed stays on the device when nobody is signed in: whose session ends while they write signs in again. */
const typedWithoutSession = 24 * 3600_000;

/** useSessionQuery reads the session; its data is null when nobody is signed in. */
export function useSessionQuery() {
	return useQuery({
		queryKey: ["session"],
		staleTime: 60_000,
		queryFn: async (): Promise<SessionView | null> => {
			try {
				return await api("GET /api/auth/session", { quiet: true });
			} catch (e) {
				if (!(e instanceof ApiError) || e.status !== 401) throw e;
				// The session may have been ended because the device was lost.
				await Promise.all([forget(), forgetTyped(Date.now() - typedWithoutSession)]);
				return null;
			}
		},
	});
}

/** useOptions reads what is possible before signing in. */
export function useOptions() {
	return useQuery({ queryKey: ["options"], staleTime: 60_000, queryFn: () => api("GET /api/auth/options", { quiet: true }) });
}

const Session = createContext<SessionView | null>(null);
const Workspace = createContext<SessionMembership | null>(null);

export function SessionProvider({ session, children }: { session: SessionView; children: ReactNode }) {
	return <Session value={session}>{children}</Session>;
}

export function WorkspaceProvider({ workspace, children }: { workspace: SessionMembership; children: ReactNode }) {
	return <Workspace value={workspace}>{children}</Workspace>;
}

/** useSession returns the session of the signed-in person. */
export function useSession(): SessionView {
	const session = useContext(Session);
	if (!session) throw new Error("no session");
	return session;
}

/** useWorkspace returns the membership of the workspace on the screen; null outside of workspaces. */
export const useWorkspace = () => useContext(Workspace);

/** least returns the least role that may send a request. */
export const least = (route: Route): Role => roles[route] ?? "viewer";

/** allows reports whether a role may send a request. */
export const allows = (role: Role, route: Route) => order.indexOf(role) >= order.indexOf(least(route));

/** whoMay says who may send a request. */
export function whoMay(route: Route): string {
	return words.may(and(order.slice(order.indexOf(least(route))).map((r) => roleNames[r].many)));
}

/**
 * useWhyNot returns why the signed-in person cannot send a request, and undefined if they can: the role, or
 * for what sends, creates or deletes, that the server cannot be reached.
 */
export function useWhyNot(route: Route): string | undefined {
	const workspace = useContext(Workspace);
	const live = useSyncExternalStore(subscribeLive, liveState);
	if (workspace && !allows(workspace.role as Role, route)) return whoMay(route);
	return live === "offline" && /^(POST|DELETE) /.test(route) ? words.offline : undefined;
}

/** useKey returns keys of cached answers of the workspace on the screen. */
export const useKey = () => {
	const slug = workspaceSlug();
	return useCallback((...parts: unknown[]) => [slug, ...parts], [slug]);
};

/** useSignOut ends the session and forgets everything that was loaded. */
export function useSignOut() {
	const client = useQueryClient();
	return async (to = "/app/-/login") => {
		await saveAll();
		await api("POST /api/auth/logout", { quiet: true }).catch(() => undefined);
		tellTabs(null);
		client.clear();
		await Promise.all([forget(), closeDevice()]);
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
		tellTabs(user);
		return onTabs((other) => {
			if (other === user) return;
			abandonAll();
			client.clear();
			if (other) location.reload();
			else void Promise.all([forget(), closeDevice()]).finally(() => location.assign("/app/-/login"));
		});
	}, [user, client]);
}
