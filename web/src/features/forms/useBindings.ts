import { useCollection } from "../../base/collections";
import { type Binding, bindingsOf } from "./bindings";

/** useBindings returns all that fields can be bound to. */
export function useBindings(): Binding[] {
	const custom = useCollection("custom_fields");
	const types = useCollection("email_types");
	const categories = useCollection("email_categories");
	return bindingsOf(custom.data?.data ?? [], types.data?.data ?? [], categories.data?.data ?? []);
}
