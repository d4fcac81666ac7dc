import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { CheckLinkRequestBody } from "../../api/schema";
import { answer } from "../../base/queries";

/** linkQuery asks what the link of a mail is for, and whether it still works. */
export const linkQuery = (kind: CheckLinkRequestBody["kind"], token: string) =>
	queryOptions({
		...answer("link", kind, token),
		refetchOnWindowFocus: false,
		queryFn: ({ signal }) => api("POST /api/auth/link", { body: { kind, token }, silent: true, signal }),
	});
