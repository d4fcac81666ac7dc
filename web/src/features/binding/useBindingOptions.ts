import { useQuery } from "@tanstack/react-query";
import { bindingOptionsQuery } from "./queries";

/** useBindingOptions reads what a template can be filled with. */
export function useBindingOptions(template: string | null | undefined) {
	return useQuery({ ...bindingOptionsQuery(template ?? ""), enabled: Boolean(template) });
}
