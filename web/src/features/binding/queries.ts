import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client";
import { bindingOptions } from "../../base/collections";
import { answer } from "../../base/queries";
import { type Kind, thumbnail } from "./thumbnails";

/** bindingOptionsQuery reads what a template, by its id or slug, can be filled with. */
export const bindingOptionsQuery = (template: string) =>
	queryOptions({
		...answer("template.options", template),
		// One that does not exist is asked for by itself, so that the answer says so.
		queryFn: async ({ signal }) =>
			(await bindingOptions(template)) ??
			api("GET /templates/{id}/binding-options", { path: { id: template }, signal }),
	});

/** pickedQuery asks which blocks the random slots of a binding get. */
export const pickedQuery = (template: string, record: string | undefined, binding: string) =>
	queryOptions({
		...answer("template.picked", template, record ?? "", binding),
		retry: false,
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) =>
			api("POST /templates/{id}/render", {
				path: { id: template },
				body: { template_binding: JSON.parse(binding) as unknown, lenient: true, record_id: record },
				signal,
			}),
	});

/** thumbnailQuery renders a stored template or block, or a starter, with its samples; again when it was changed. */
export const thumbnailQuery = (kind: Kind, ref: string, changed: string | undefined) =>
	queryOptions({
		...answer(`${kind}.thumb`, ref, changed ?? ""),
		retry: false,
		queryFn: () => thumbnail(kind, ref),
	});
