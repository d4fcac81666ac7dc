import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { answer } from "../../base/queries";

/** overviewQuery reads what the first page shows of the account. */
export const overviewQuery = () =>
	queryOptions({ ...answer("overview"), queryFn: ({ signal }) => api("GET /overview", { signal }) });
