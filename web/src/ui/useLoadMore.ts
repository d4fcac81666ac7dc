import { useCallback } from "react";

type Pages = {
	hasNextPage: boolean;
	isFetching: boolean;
	fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<unknown>;
};

/**
 * useLoadMore returns what a table calls near the end of its rows: it loads the next page. It waits until nothing else of
 * the query is under way, which would be cancelled, and is another function then, so that the table calls it again.
 */
export function useLoadMore({ hasNextPage, isFetching, fetchNextPage }: Pages) {
	return useCallback(() => {
		if (hasNextPage && !isFetching) void fetchNextPage({ cancelRefetch: false });
	}, [hasNextPage, isFetching, fetchNextPage]);
}
