import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type FieldProblem, request, type Versioned } from "../../api/client";
import type { FormBody, FormField, FormRow } from "../../api/schema";
import { explain, fieldSentence } from "../../base/words/errors";
import type { Problem } from "../../sync/draft";
import { equal } from "../../sync/merge";
import { useDraft } from "../../sync/useDraft";
import { ownName } from "../../base/words/fieldNames";
import { within } from "../../base/queries";
import { formQuery } from "./queries";

/** FormDraft is what is written of a form. */
export type FormDraft = {
	name: string;
	fields: FormField[];
	submit_label: string;
	success_mode: string;
	success_message: string;
	redirect_url: string;
	double_opt_in: boolean;
	confirm_message_id: string;
	confirm_redirect_url: string;
	list_segment_keys: string[];
	tags: string[];
	stage_id: string;
	captcha_provider: string;
	captcha_site_key: string;
	/** One a line. */
	allowed_origins: string;
};

/** draftOf returns what is written of a stored form. */
export const draftOf = (form: FormRow): FormDraft => ({
	name: form.name,
	fields: form.fields,
	submit_label: form.submit_label,
	success_mode: form.success_mode,
	success_message: form.success_message,
	redirect_url: form.redirect_url ?? "",
	double_opt_in: form.double_opt_in,
	confirm_message_id: form.confirm_message_id ?? "",
	confirm_redirect_url: form.confirm_redirect_url ?? "",
	list_segment_keys: form.list_segment_keys,
	tags: form.tags,
	stage_id: form.stage_id ?? "",
	captcha_provider: form.captcha.provider,
	captcha_site_key: form.captcha.site_key ?? "",
	allowed_origins: form.allowed_origins.join("\n"),
});

/** linesOf returns the lines of a text that are not blank. */
export const linesOf = (text: string) =>
	text
		.split("\n")
		.map((line) => line.trim())
		.filter(Boolean);

/** previewBody returns the request that previews a draft: what the markup of a form depends on. */
export const previewBody = (draft: FormDraft): FormBody =>
	bodyOf(draft, ["fields", "submit_label", "captcha_provider", "captcha_site_key"]);

/** bodyOf returns the request that saves some parts of a draft. */
function bodyOf(draft: FormDraft, parts: (keyof FormDraft)[]): FormBody {
	const result: FormBody = {};
	for (const part of parts) {
		switch (part) {
			case "fields":
				result.fields = draft.fields.map((field, i) => ({ ...field, options: field.options ?? [], sort_order: i }));
				break;
			case "captcha_provider":
			case "captcha_site_key":
				result.captcha = { provider: draft.captcha_provider, site_key: draft.captcha_site_key || null };
				break;
			case "allowed_origins":
				result.allowed_origins = linesOf(draft.allowed_origins);
				break;
			case "redirect_url":
			case "confirm_redirect_url":
			case "confirm_message_id":
			case "stage_id":
				result[part] = draft[part] || null;
				break;
			default:
				Object.assign(result, { [part]: draft[part] });
		}
	}
	return result;
}

/** partOf returns the part of a draft that a problem of a request is about. */
function partOf(path: string): keyof FormDraft {
	if (path.startsWith("captcha.site")) return "captcha_site_key";
	if (path.startsWith("captcha")) return "captcha_provider";
	return path.replace(/[.[].*$/, "") as keyof FormDraft;
}

const pause = 800;

/**
 * useFormDraft holds what is written of a form. Drafts save themselves a moment after the last change; what the server
 * refuses stays here and is shown at its field, and the rest is saved. Published forms are saved by hand.
 */
export function useFormDraft(server: Versioned<FormRow>, canEdit: boolean) {
	const client = useQueryClient();
	const form = server.data;
	const path = { id: form.id };
	const draft = useDraft<FormRow, FormDraft>(
		{
			kind: "form",
			id: form.id,
			title: (values) => values.name,
			load: async () => {
				const response = await request("GET /forms/{id}", { path });
				client.setQueryData(formQuery(form.id).queryKey, response);
				return response;
			},
			save: async (changed, values, revision) => {
				const body = bodyOf(values, Object.keys(changed) as (keyof FormDraft)[]);
				const response = await request("PUT /forms/{id}", { path, body, revision });
				client.setQueryData(formQuery(form.id).queryKey, response);
				void client.invalidateQueries(within("forms"));
				void client.invalidateQueries(within("form.embed", form.id));
				return response;
			},
			fieldsOf: draftOf,
			groupOf: partOf,
			refusals: (error) => [...error.fields, { path: "", message: explain(error) }],
		},
		server,
		{ autosaveAfter: form.status === "draft" && canEdit ? pause : null, readOnly: !canEdit },
	);
	const { state } = draft;
	// What keeps the form from being published, and the values that it is about.
	const [missing, setMissing] = useState<{ problems: FieldProblem[]; values: FormDraft } | null>(null);
	const problems: Problem[] = [
		...(state.status.kind === "refused" ? state.status.problems : []),
		...(missing?.problems.filter((problem) =>
			equal(missing.values[partOf(problem.path)], state.values[partOf(problem.path)]),
		) ?? []),
	];
	return {
		...state,
		form,
		dirty: state.changed.length > 0,
		set: (part: Partial<FormDraft>) => draft.change(part),
		save: () => draft.save(),
		discard: () => draft.discard(),
		store: draft,
		/** The problem of a field, by its path in the request. */
		problem: (path: string) => {
			const problem = problems.find(
				(problem) =>
					problem.path === path || problem.path.startsWith(`${path}[`) || problem.path.startsWith(`${path}.`),
			);
			return problem && fieldSentence(problem, ownName(problem.path));
		},
		problems,
		/** Tells what keeps the form from being published. */
		setMissing: (problem: FieldProblem[]) => setMissing({ problems: problem, values: state.values }),
	};
}

export type FormWork = ReturnType<typeof useFormDraft>;
