// What the headers of a table mean.

const normalized = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, "");

const aliases: { [header: string]: string } = {
	mail: "email",
	emailaddress: "email",
	emailadresse: "email",
	address: "email",
	firstname: "first_name",
	givenname: "first_name",
	vorname: "first_name",
	lastname: "last_name",
	surname: "last_name",
	familyname: "last_name",
	nachname: "last_name",
	familienname: "last_name",
	name: "full_name",
	organisation: "company",
	organization: "company",
	firma: "company",
	unternehmen: "company",
	ort: "city",
	stadt: "city",
	land: "country",
	zip: "postal_code",
	postcode: "postal_code",
	plz: "postal_code",
	postleitzahl: "postal_code",
	telephone: "phone",
	telefon: "phone",
	mobile: "phone",
	tag: "tags",
	labels: "tags",
	language: "locale",
	status: "global_status",
	subscriberstatus: "global_status",
	subscriptionstatus: "global_status",
};

/** guessField returns the field that a column's header means, among those that exist; "" if none. */
export function guessField(header: string, fields: { field: string; name: string }[]): string {
	const h = normalized(header);
	const found =
		fields.find(
			(field) =>
				normalized(field.field) === h ||
				normalized(field.field.replace("custom_fields.", "")) === h ||
				normalized(field.name) === h,
		) ?? fields.find((field) => field.field === aliases[h]);
	return found?.field ?? "";
}
