import { equals, type Tests } from "../../base/testing";
import { guessField } from "./guessField";

const tests: Tests = {
	"headers are guessed by the field, its name or what people call it"() {
		const fields = [
			{ field: "email", name: "Email" },
			{ field: "first_name", name: "First name" },
			{ field: "custom_fields.shoe_size", name: "Size" },
			{ field: "global_status", name: "Status" },
		];
		const known: { [header: string]: string } = {
			"E-Mail": "email",
			"Email address": "email",
			FIRSTNAME: "first_name",
			status: "global_status",
			"Given Name": "first_name",
			"shoe size": "custom_fields.shoe_size",
			size: "custom_fields.shoe_size",
			"Last name": "",
			"": "",
		};
		for (const [header, expected] of Object.entries(known)) equals(guessField(header, fields), expected, header);
	},
};

export default tests;
