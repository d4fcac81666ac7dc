import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useSyncExternalStore } from "react";
import { api, type Route } from "../api/client";
import { roles, type SessionMembership, type SessionView } from "../api/schema";
import { roleNames } from "./words/roles";
import { catalogue } from "./words/catalogue";
import { and } from "./words/formats";
import { liveState, subscribeLive } from "./liveState";
import { answer } from "./queries";

const words = catalogue("shell.session", {
	may: "Only {who} of this workspace can do this. Ask one of them.",
	offline: "The server cannot be reached. Try again when you are online.",
});

export type Role = "viewer" | "editor" | "admin" | "owner";

const order: Role[] = ["viewer", "editor", "admin", "owner"];

/** useOptions reads what is possible before signing in. */
export function useOptions() {
	return useQuery({
		...answer("options"),
		queryFn: () => api("GET /api/auth/options", { silent: true }),
	});
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

/** minimumRole returns the least role that may send a request. */
export const minimumRole = (route: Route): Role => roles[route] ?? "viewer";

/** allows reports whether a role may send a request. */
export const allows = (role: Role, route: Route) => order.indexOf(role) >= order.indexOf(minimumRole(route));

/** requiredRoleText says who may send a request. */
export function requiredRoleText(route: Route): string {
	return words.may({ who: and(order.slice(order.indexOf(minimumRole(route))).map((role) => roleNames[role].many)) });
}

/**
 * useDisabledReason returns why the signed-in person cannot send a request, and undefined if they can: the role, or
 * for what sends, creates or deletes, that the server cannot be reached.
 */
export function useDisabledReason(route: Route): string | undefined {
	const workspace = useContext(Workspace);
	const live = useSyncExternalStore(subscribeLive, liveState);
	if (workspace && !allows(workspace.role as Role, route)) return requiredRoleText(route);
	return live === "offline" && /^(POST|DELETE) /.test(route) ? words.offline : undefined;
}
