import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

/** valuesQuery suggests values of a field that begin as somebody types. */
export const valuesQuery = (field: string, search: string) =>
	queryOptions({
		...answer("suggestions.field", field, search),
		queryFn: ({ signal }) => api("GET /suggestions", { query: { for: "field", field, q: search }, signal }),
		placeholderData: keepPreviousData,
		retry: false,
	});
