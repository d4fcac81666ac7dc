import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import type { JobSession, ShellView } from "../api/schema";
import { pollEvery } from "./liveState";
import { answer, within } from "./queries";

// What is shown around every page comes with one request: the account, what concerns all that is sent, and the
// newest jobs.

/** isRunning reports whether a job has not ended. */
export const isRunning = (job: JobSession) => job.status === "queued" || job.status === "running";

/** shellQuery reads what is shown around every page, more often while a job is under way. */
export const shellQuery = () =>
	queryOptions({
		...answer("shell"),
		queryFn: ({ signal }) => api("GET /shell", { signal }),
		refetchInterval: (query) => (query.state.data?.jobs.some(isRunning) ? 2000 : pollEvery(30_000)()),
	});

/** useShell reads what is shown around every page. */
export const useShell = <T = ShellView>(select?: (shell: ShellView) => T) => useQuery({ ...shellQuery(), select });

const accountOf = (shell: ShellView) => shell.account;

/** useAccount reads the account. */
export const useAccount = () => useShell(accountOf);

/** jobsChanged loads the lists of jobs again after one was begun or cancelled. */
export function jobsChanged(client: QueryClient) {
	void client.invalidateQueries(within("jobs"));
	void client.invalidateQueries(within("shell"));
}
