import { useQuery } from "@tanstack/react-query";
import { api, newKey } from "../../api/client";
import type { CreateTemplateRequestBody, TemplateStarter } from "../../api/schema";
import { catalogue } from "../../base/words/catalogue";
import { readable } from "../../base/words/placeholders";
import { startersQuery } from "./queries";

// What the starters of the server are for, by slug.
const words = catalogue("templates.fromStarter", {
	newsletter: "Several stories, each with a picture and a link",
	announcement: "One piece of news and one button",
	offer: "A saving, a code and a last day",
	product: "Something new, with a picture and what it does",
	digest: "What is new, with pictures and prices",
	welcome: "Thanks new subscribers and explains how to start",
	receipt: "What was bought, with prices and the total",
	"event-invitation": "When, where and why, with a button to accept",
	feedback: "Asks customers what they think",
	"re-engagement": "Asks quiet subscribers whether they want to stay",
	"plain-letter": "Text only, like a letter from one person",
});

/** useStarters reads the templates that an account can begin with. */
export function useStarters(enabled = true) {
	return useQuery({ ...startersQuery(), enabled });
}

/** aboutOf says what a starter is for; one that has no words here shows its subject. */
export const aboutOf = (starter: TemplateStarter): string =>
	(words as { [slug: string]: string })[starter.slug] ?? readable(starter.subject);

/** templateOf returns the request that makes a template of a starter. */
export const templateOf = (starter: TemplateStarter): CreateTemplateRequestBody => ({
	name: starter.name,
	slug: starter.slug,
	format: starter.format,
	content_html: starter.content_html,
	content_mjml: starter.content_mjml,
	content_text: starter.content_text,
	subject: starter.subject,
	tags: starter.tags,
	parameters_schema: starter.parameters_schema as never,
	sections_schema: starter.sections_schema as never,
	slots_schema: starter.slots_schema as never,
	groups_schema: starter.groups_schema as never,
	expects_schema: starter.expects_schema as never,
});

/** bindingOf returns the sample texts of a starter. Blocks of the sample are left out, since the account need not have them. */
export function bindingOf({ sample: { slots: _, ...binding } }: TemplateStarter) {
	return binding;
}

/**
 * createFromStarter returns the content of a mail that begins with a starter: its template, which is made unless the account has
 * one of that name, with the starter's sample texts.
 */
export async function createFromStarter(starter: TemplateStarter) {
	const have = (await api("GET /templates", {})).data.find(
		(own) => own.slug === starter.slug && own.name === starter.name,
	);
	const template_slug =
		have?.slug ?? (await api("POST /templates", { body: templateOf(starter), idempotencyKey: newKey() })).slug;
	return { template_slug, template_binding: bindingOf(starter) };
}
