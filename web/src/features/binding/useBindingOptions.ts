import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { bindingOptions } from "../../base/collections";
import { useKey } from "../../base/session";

/** useBindingOptions reads what a template can be filled with. */
export function useBindingOptions(template: string | null | undefined) {
	const key = useKey();
	return useQuery({
		queryKey: key("template", template, "options"),
		enabled: Boolean(template),
		// One that does not exist is asked for by itself, so that the answer says so.
		queryFn: async ({ signal }) =>
			(await bindingOptions(template ?? "")) ??
			api("GET /templates/{id}/binding-options", { path: { id: template ?? "" }, signal }),
	});
}
