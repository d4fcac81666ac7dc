import { queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import { answer } from "../../base/queries";

/** templateQuery reads a template with its revision. */
export const templateQuery = (id: string) =>
	queryOptions({
		...answer("template", id),
		queryFn: ({ signal }) => request("GET /templates/{id}", { path: { id }, signal }),
		refetchOnWindowFocus: false,
	});

/** templateNamesQuery reads all templates without their code. */
export const templateNamesQuery = () =>
	queryOptions({ ...answer("templates.names"), queryFn: ({ signal }) => api("GET /templates", { signal }) });

/** templatesWithUseQuery reads all templates without their code, and what uses each. */
export const templatesWithUseQuery = () =>
	queryOptions({
		...answer("templates.usage"),
		queryFn: ({ signal }) => api("GET /templates", { query: { include_usage: true }, signal }),
	});

/** startersQuery reads the templates that one can begin with. */
export const startersQuery = () =>
	queryOptions({
		...answer("template_starters"),
		queryFn: ({ signal }) => api("GET /template-starters", { signal }),
		retry: false,
	});
