import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, type FieldProblem, request, type Versioned } from "../../api/client";
import type { FormBody, FormField, FormRow } from "../../api/schema";
import { useSaveOnLeave } from "../../sync/pendingSaves";
import { useKey } from "../../base/session";
import { useSource } from "../source/useSource";
import { explain } from "../../base/words/errors";

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
export const draftOf = (f: FormRow): FormDraft => ({
	name: f.name,
	fields: f.fields,
	submit_label: f.submit_label,
	success_mode: f.success_mode,
	success_message: f.success_message,
	redirect_url: f.redirect_url ?? "",
	double_opt_in: f.double_opt_in,
	confirm_message_id: f.confirm_message_id ?? "",
	confirm_redirect_url: f.confirm_redirect_url ?? "",
	list_segment_keys: f.list_segment_keys,
	tags: f.tags,
	stage_id: f.stage_id ?? "",
	captcha_provider: f.captcha.provider,
	captcha_site_key: f.captcha.site_key ?? "",
	allowed_origins: f.allowed_origins.join("\n"),
});

/** linesOf returns the lines of a text that are not blank. */
export const linesOf = (text: string) =>
	text
		.split("\n")
		.map((l) => l.trim())
		.filter(Boolean);

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** shownOf returns the request that previews a draft: what the markup of a form depends on. */
export const shownOf = (d: FormDraft): FormBody =>
	bodyOf(d, ["fields", "submit_label", "captcha_provider", "captcha_site_key"]);

/** bodyOf returns the request that saves some parts of a draft. */
function bodyOf(d: FormDraft, parts: (keyof FormDraft)[]): FormBody {
	const out: FormBody = {};
	for (const part of parts) {
		switch (part) {
			case "fields":
				out.fields = d.fields.map((f, i) => ({ ...f, options: f.options ?? [], sort_order: i }));
				break;
			case "captcha_provider":
			case "captcha_site_key":
				out.captcha = { provider: d.captcha_provider, site_key: d.captcha_site_key || null };
				break;
			case "allowed_origins":
				out.allowed_origins = linesOf(d.allowed_origins);
				break;
			case "redirect_url":
			case "confirm_redirect_url":
			case "confirm_message_id":
			case "stage_id":
				out[part] = d[part] || null;
				break;
			default:
				Object.assign(out, { [part]: d[part] });
		}
	}
	return out;
}

/** partOf returns the part of a draft that a problem of a request is about. */
function partOf(path: string): keyof FormDraft {
	if (path.startsWith("captcha.site")) return "captcha_site_key";
	if (path.startsWith("captcha")) return "captcha_provider";
	return path.replace(/[.[].*$/, "") as keyof FormDraft;
}

const pause = 800;

export type Saving =
	| { state: "saved"; at: Date | null }
	| { state: "saving" }
	| { state: "waiting" }
	| { state: "refused" }
	| { state: "failed"; problem: string };

/**
 * useFormDraft holds what is written of a form. Drafts save themselves a moment after the last change; what the server
 * refuses stays here and is shown at its field, and the rest is saved. Published forms are saved by hand.
 */
export function useFormDraft(server: Versioned<FormRow>, may: boolean) {
	const key = useKey();
	const client = useQueryClient();
	const form = server.data;
	const work = useSource<FormDraft>("form", form.id, { draft: draftOf(form), revision: server.revision }, may);
	const [saving, setSaving] = useState<Saving>({ state: "saved", at: null });
	const [problems, setProblems] = useState<FieldProblem[]>([]);
	const refused = useRef(new Map<keyof FormDraft, string>()); // part → the value that was refused
	const now = useRef(work);
	now.current = work;
	// The newest revision, also before the page shows it.
	const revision = useRef(work.base.revision);
	revision.current = work.base.revision;
	const running = useRef<Promise<boolean>>(Promise.resolve(true));

	/** Sends what changed. It reports whether everything was saved. */
	const send = useCallback(async (): Promise<boolean> => {
		for (;;) {
			const { draft, base, clash, saved, sending } = now.current;
			if (clash) return false;
			const changed = (Object.keys(draft) as (keyof FormDraft)[]).filter((p) => !same(draft[p], base.draft[p]));
			const todo = changed.filter((p) => refused.current.get(p) !== JSON.stringify(draft[p]));
			if (todo.length === 0) {
				if (changed.length === 0) setProblems([]);
				setSaving(
					changed.length > 0
						? { state: "refused" }
						: (s) => (s.state === "saved" ? s : { state: "saved", at: new Date() }),
				);
				return changed.length === 0;
			}
			setSaving({ state: "saving" });
			sending(draft);
			try {
				const got = await request("PUT /forms/{id}", {
					path: { id: form.id },
					body: bodyOf(draft, todo),
					revision: revision.current ?? undefined,
				});
				revision.current = got.revision;
				for (const p of todo) refused.current.delete(p);
				setProblems((all) => all.filter((x) => !todo.includes(partOf(x.path))));
				// What was sent stays as it was typed: the server trims spaces, which somebody may be about to go on after.
				const sent = { ...base.draft, ...Object.fromEntries(todo.map((p) => [p, draft[p]])) };
				saved(sent, {
					draft: { ...draftOf(got.data), ...Object.fromEntries(todo.map((p) => [p, draft[p]])) },
					revision: got.revision,
				});
				client.setQueryData(key("form", form.id), got);
				void client.invalidateQueries({ queryKey: key("forms") });
				void client.invalidateQueries({ queryKey: key("form", form.id, "embed") });
				setSaving({ state: "saved", at: new Date() });
				if (todo.length === changed.length) return true;
				setSaving({ state: "refused" });
				return false;
			} catch (e) {
				if (e instanceof ApiError && e.code === "REVISION_CONFLICT") {
					await client.invalidateQueries({ queryKey: key("form", form.id), exact: true });
					setSaving({ state: "waiting" });
					return false;
				}
				const bad =
					e instanceof ApiError && e.status === 400 ? e.fields.filter((f) => todo.includes(partOf(f.path))) : [];
				if (bad.length === 0) {
					setSaving({ state: "failed", problem: explain(e) });
					return false;
				}
				for (const f of bad) refused.current.set(partOf(f.path), JSON.stringify(draft[partOf(f.path)]));
				const parts = bad.map((f) => partOf(f.path));
				setProblems((all) => [...all.filter((x) => !parts.includes(partOf(x.path))), ...bad]);
			}
		}
	}, [client, form.id, key]);
	const save = useCallback(() => {
		running.current = running.current.then(send, send);
		return running.current;
	}, [send]);

	const own = form.status === "draft" && may;
	const text = JSON.stringify(work.draft);
	// biome-ignore lint/correctness/useExhaustiveDependencies: after the last change, and on a new revision
	useEffect(() => {
		if (!own || !work.dirty) return;
		const timer = setTimeout(() => void save(), pause);
		return () => clearTimeout(timer);
	}, [text, own, work.dirty, work.base.revision, save]);
	useSaveOnLeave(() => (own && now.current.dirty ? save().then(() => undefined) : undefined));
	const leave = useRef(own);
	leave.current = own;
	useEffect(
		() => () => {
			if (leave.current && now.current.dirty) void save();
		},
		[save],
	);

	return {
		...work,
		form,
		saving,
		save,
		/** The revision that the next write is made on. */
		revision: () => revision.current ?? undefined,
		/** The problem of a field, by its path in the request. */
		problem: (path: string) =>
			problems.find((p) => p.path === path || p.path.startsWith(`${path}[`) || p.path.startsWith(`${path}.`))?.message,
		problems,
		setProblems,
	};
}

export type FormWork = ReturnType<typeof useFormDraft>;
