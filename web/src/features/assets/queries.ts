import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

/** assetsQuery reads the images of the account that a search finds. */
export const assetsQuery = (search: string) =>
	queryOptions({
		...answer("assets", search),
		queryFn: ({ signal }) => api("GET /assets", { query: { q: search }, signal }),
		placeholderData: keepPreviousData,
	});
