import { ApiError } from "../../api/client";
import { equals, type Tests } from "../testing";
import { explain, loadProblems, sentenceFor } from "./errors";
import { fieldName, ownName } from "./fieldNames";
import { fieldSentence, mailFix, mailProblem } from "./problems";

const headers = (all: { [name: string]: string }) =>
	({ get: (name: string) => all[name] ?? null }) as unknown as Headers;

const errorResponse = (fields: { path: string; message: string }[], headers?: Headers) =>
	new ApiError(400, "INVALID_INPUT", "of the server", { fields }, headers);

const tests: Tests = {
	async "text that is hard to read is told with its colours"() {
		await loadProblems();
		const colours = "is #dddddd on #ffffff, a contrast of 1.3 to 1: at least 4.5 is needed";
		const told = "#dddddd on #ffffff has a contrast of 1.3 to 1. It needs at least 4.5 to 1.";
		const sentenceOf = (text: string) => mailProblem({ field: "body_html", message: `${text} ${colours}` });
		equals(sentenceOf('the text "Buy “now”"'), `The text “Buy “now”” is hard to read: ${told}`);
		equals(sentenceOf('the text "Buy" and 1 more'), `The text “Buy” and one more are hard to read: ${told}`);
		equals(
			sentenceOf('in dark colours the text "Buy" and 12 more'),
			`The text “Buy” and 12 more are hard to read in dark colours: ${told}`,
		);
		equals(sentenceOf('in dark colours the text "Buy"'), `The text “Buy” is hard to read in dark colours: ${told}`);
	},

	async "a fragment becomes a sentence with the name that the page gives to the field"() {
		await loadProblems();
		const sentenceOf = (path: string, message: string, name?: string) => fieldSentence({ path, message }, name);
		equals(
			sentenceOf("custom_fields.geburtsdatum", "must be a date as YYYY-MM-DD", "Birthday"),
			"Birthday must be a date, such as 2026-05-09.",
		);
		equals(
			sentenceOf("custom_fields.geburtsdatum", "must be a date as YYYY-MM-DD"),
			"Geburtsdatum must be a date, such as 2026-05-09.",
		);
		equals(sentenceOf("password", "must have at least 10 characters"), "Password must have at least 10 characters.");
		equals(sentenceOf("name", "required, 1 to 200 characters"), "Name must have 1 to 200 characters.");
		equals(
			sentenceOf("throttle_per_hour", "must be 1 to 1000000"),
			"Limit per hour must be a number from 1 to 1000000.",
		);
		equals(
			sentenceOf("tags", "3 elements: must have 1 to 64 characters"),
			"3 entries of Tags must have 1 to 64 characters.",
		);
		equals(sentenceOf("tags", "1 element: is there twice"), "One entry of Tags must be different from the others.");
		equals(sentenceOf("", "required"), "This value must be filled in.");
	},
	async "of several problems in one text, the first is told"() {
		await loadProblems();
		equals(
			fieldSentence({
				path: "definition.conditions[0].value",
				message:
					"must be a string that is not empty; definition.conditions[0].value: must not be empty; is_set and is_not_set ask for a value at all",
			}),
			"Condition 1, value must be filled in.",
		);
		equals(
			fieldSentence({ path: "definition", message: "definition.conditions[1].value: must be a number" }),
			"Rule must be a number, such as 12.5.",
		);
	},
	async "an unknown fragment is told in general, with the request"() {
		await loadProblems();
		equals(fieldSentence({ path: "color", message: "smells of code" }), "Colour was not accepted.");
		equals(fieldSentence({ path: "", message: "smells_of code" }), "This value was not accepted.");
		equals(
			explain(errorResponse([{ path: "color", message: "smells of code" }], headers({ "X-Request-Id": "r1" }))),
			"Colour was not accepted. (Request r1)",
		);
	},
	async "clauses of the server become sentences, unless they have names of programs in them"() {
		await loadProblems();
		equals(
			sentenceFor("IN_USE", "this is the tenant's last owner; make another member an owner first"),
			"This is the last owner of the workspace. Make another member an owner first.",
		);
		equals(
			sentenceFor("IN_USE", "still used; send force=true to delete_all"),
			"It is still in use. Remove it where it is used first.",
		);
		equals(
			sentenceFor("LIMIT_EXCEEDED", "a tenant may have at most 200 email types"),
			"A workspace can have at most 200 email types. Delete some first.",
		);
		equals(
			sentenceFor("LIQUID_INVALID", 'content.body_html, line 3: unknown tag "x"'),
			"HTML, line 3: There is no tag “x”.",
		);
		equals(sentenceFor("X", "Delivery_failed"), "Something went wrong. Try again.");
	},
	async "an error tells of its fields, the first three"() {
		await loadProblems();
		const fields = ["name", "email", "city", "company"].map((path) => ({ path, message: "required" }));
		equals(explain(errorResponse(fields)), "Name must be filled in. Email must be filled in. City must be filled in.");
	},
	async "a limit says when to try again"() {
		await loadProblems();
		const limited = new ApiError(429, "RATE_LIMITED", "too many attempts", {}, headers({ "Retry-After": "23" }));
		equals(explain(limited), "Too many requests were made in a short time. Try again in 23 s.");
	},
	async "fields are named as pages name them"() {
		await loadProblems();
		equals(fieldName("settings.bounce_mailbox.host"), "Host");
		equals(fieldName("variants[1].subject"), "Version 2, subject");
		equals(fieldName("settings.ips[0]"), "Address 1");
		equals(fieldName("email_type_key"), "Email type");
		equals(fieldName("default_mta_config_id"), "Default sending server");
		equals(ownName("definition.conditions[0].value"), "Value");
	},
	async "what an author wrote stays as it is"() {
		await loadProblems();
		equals(
			mailFix("Set 'slots.promo.parameters.title' to a text of one line"),
			"Enter a text of one line for “Title”.",
		);
		equals(
			mailProblem({ field: "body_html", message: "the message has no {{ first_name }}; add it" }),
			"The mail does not contain {{ first_name }}. Add it.",
		);
		equals(
			mailProblem({ field: "subject", message: "{{param:price}} names nothing that is declared and allowed here" }),
			"{{param:price}} names nothing that is declared and allowed here.",
		);
		equals(
			mailProblem({ field: "parameters.headline", message: "is required and has no default" }),
			"Headline must be filled in.",
		);
	},
};

export default tests;
