import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

/** valuesQuery suggests values of a field that begin as somebody types. */
export const valuesQuery = (field: string, typed: string) =>
	queryOptions({
		...answer("suggestions.field", field, typed),
		queryFn: ({ signal }) => api("GET /suggestions", { query: { for: "field", field, q: typed }, signal }),
		placeholderData: keepPreviousData,
		retry: false,
	});
