import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

/** overviewReportQuery adds up the sends of some days, of one email type or of all. */
export const overviewReportQuery = (from: string, to: string, emailType: string) =>
	queryOptions({
		...answer("reports", from, to, emailType),
		queryFn: ({ signal }) =>
			api("GET /reports/overview", { query: { from, to, email_type_key: emailType || undefined }, signal }),
		placeholderData: keepPreviousData,
	});
