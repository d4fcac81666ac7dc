import { type QueryClient, useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import type { JobSession, ShellView } from "../api/schema";
import { pollEvery } from "./live";
import { useKey } from "./session";

// What is shown around every page comes with one request: the account, what concerns all that is sent, and the
// newest jobs.

/** underWay reports whether a job has not ended. */
export const underWay = (j: JobSession) => j.status === "queued" || j.status === "running";

/** useShell reads what is shown around every page. */
export function useShell<T = ShellView>(select?: (shell: ShellView) => T) {
	const key = useKey();
	return useQuery({
		queryKey: key("shell"),
		queryFn: ({ signal }) => api("GET /shell", { signal }),
		staleTime: 30_000,
		refetchInterval: (q) => (q.state.data?.jobs.some(underWay) ? 2000 : pollEvery(30_000)()),
		select,
	});
}

const accountOf = (shell: ShellView) => shell.account;

/** useAccount reads the account. */
export const useAccount = () => useShell(accountOf);

/** jobsChanged loads the lists of jobs again after one was begun or cancelled. */
export function jobsChanged(client: QueryClient, key: ReturnType<typeof useKey>) {
	void client.invalidateQueries({ queryKey: key("jobs") });
	void client.invalidateQueries({ queryKey: key("shell") });
}
