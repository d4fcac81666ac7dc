import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client";

const retryDelays = [1000, 3000, 9000];

/** newClient returns the cache of answers. Reads are tried again when the server or the network failed. */
export function newClient(): QueryClient {
	return new QueryClient({
		defaultOptions: {
			queries: {
				staleTime: 15_000,
				gcTime: 10 * 60_000,
				refetchOnWindowFocus: true,
				retry: (failures, error) =>
					failures < retryDelays.length && error instanceof ApiError && (error.status === 0 || error.status >= 500),
				retryDelay: (failures) => retryDelays[failures] ?? 9000,
			},
			mutations: { retry: false },
		},
	});
}
