import { useMemo } from "react";
import { useCollection } from "../../base/collections";
import { catalogue } from "../../base/words/catalogue";
import type { FieldInfo } from "../rules/fields";
import { useFields } from "../rules/useFields";

const words = catalogue("imports.targets", {
	groups: { consent: "Consent" },
	subscription: "Subscribed to {type}",
});

/** The fields of a contact that a column can become, besides its own fields. */
const options = [
	"email",
	"first_name",
	"last_name",
	"full_name",
	"company",
	"title",
	"phone",
	"website",
	"external_id",
	"source",
	"tags",
	"stage",
	"global_status",
	"do_not_contact",
	"city",
	"state",
	"postal_code",
	"country",
	"timezone",
];

/** useTargets returns what a column can become: fields of contacts, tags, and the consent to a type of mail. */
export function useTargets(): FieldInfo[] {
	const fields = useFields();
	const types = useCollection("email_types");
	return useMemo(() => {
		const own = fields
			.filter((field) => options.includes(field.field) || field.field.startsWith("custom_fields."))
			.map((field) => (field.field === "stage" ? { ...field, field: "stage_id" } : field));
		const consent = (types.data?.data ?? []).map(
			(emailType): FieldInfo => ({
				field: `subscriptions.${emailType.type_key}`,
				name: words.subscription({ type: emailType.display_name }),
				group: words.groups.consent,
				kind: "subscription",
			}),
		);
		return [...own, ...consent];
	}, [fields, types.data]);
}
