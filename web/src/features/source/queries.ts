import { loadProblems } from "../../base/words/errors";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { PreviewRequestBody } from "../../api/schema";
import { answer } from "../../base/queries";

type Kind = "template" | "block" | "message";

/** touchedQuery reads which records a change of a template or a block would change, too. */
export const touchedQuery = <T>(kind: "template" | "block", id: string, read: () => Promise<T>) =>
	queryOptions({ ...answer(`${kind}.touched`, id), queryFn: read });

/** sourcePreviewQuery renders a template, a block or a library entry as it is typed; asked is the body of the request. */
export const sourcePreviewQuery = (kind: Kind, id: string, request: string) =>
	queryOptions({
		...answer(`${kind}.preview`, id, request),
		enabled: request !== "",
		retry: false,
		placeholderData: keepPreviousData,
		queryFn: async ({ signal }) => {
			const body = JSON.parse(request) as PreviewRequestBody;
			const [preview] = await Promise.all([api("POST /preview", { body, signal }), loadProblems().catch(() => {})]);
			return preview;
		},
	});
