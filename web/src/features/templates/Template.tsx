import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense } from "react";
import { useParams } from "wouter";
import { api, request, type Versioned } from "../../api/client";
import type { BindingOptions, PreviewTemplate, TemplateRow, UpdateTemplateRequestBody } from "../../api/schema";
import { useCollection } from "../../base/collections";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { issuesOf } from "../binding/binding";
import { type Draft, schemaOf, templateDraft } from "../source/draft";
import { SourceEditor } from "../source/SourceEditor";
import { useStored } from "../source/useStored";
import { Switch } from "../../ui/Field";
import { isGone, NotFound } from "../../ui/NotFound";
import { Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { newMjml } from "./blankMjml";
import { templateQuery } from "./queries";
import { to } from "../../base/paths";

const BindingEditor = lazyComponent(() =>
	import("../binding/BindingEditor").then((module) => ({ default: module.BindingEditor })),
);

const words = catalogue("templates.template", {
	templates: "Templates",
	slugHelp: "Programs use this key. If you change it, drafts with the old key cannot be saved.",
	inline: "Inline CSS",
	saved: "Saved. Drafts keep the old text until they are saved again.",
	deleteText: "Emails made from it stay as they are.",
	drafts:
		"{count, plural, one {# draft keeps the old text until it is saved again.} other {# drafts keep the old text until they are saved again.}}",
	recent:
		"{count, plural, one {# broadcast in the last 30 days was made from it and stays as it is.} other {# broadcasts in the last 30 days were made from it and stay as they are.}}",
	nobody: "No drafts use it.",
});

function bodyOf(draft: Draft, format: "html" | "mjml"): UpdateTemplateRequestBody {
	return {
		name: draft.name,
		slug: draft.slug,
		subject: draft.subject || null,
		...(format === "mjml" ? { content_mjml: draft.mjml } : { content_html: draft.html }),
		content_text: draft.text || null,
		tags: draft.tags,
		inline_css: draft.inline_css,
		...(JSON.parse(draft.schema) as object),
	};
}

/** TemplatePage is the editor of a template: its code, what it declares, and how it looks. */
export default function TemplatePage() {
	const { id = "" } = useParams<{ id: string }>();
	const query = useQuery(templateQuery(id));
	if (!query.data || isGone(query.error))
		return (
			<NotFound query={query} list={words.templates} to={to.templates()} unsavedInput={{ kinds: ["template"], id }} />
		);
	return <Editor key={query.data.data.id} server={query.data} />;
}

function Editor({ server }: { server: Versioned<TemplateRow> }) {
	const { data: template, revision } = server;
	const path = { id: template.id };
	const disabledReason = useDisabledReason("PUT /templates/{id}");
	const { draft, remove } = useStored<TemplateRow>(
		{
			kind: "template",
			id: template.id,
			list: to.templates(),
			draftOf: templateDraft,
			get: () => request("GET /templates/{id}", { path }),
			put: (draft, revision) =>
				request("PUT /templates/{id}", { path, body: bodyOf(draft, template.format), revision }),
			delete: (force) =>
				api("DELETE /templates/{id}", {
					path,
					query: { force: force || undefined },
					revision: revision ?? undefined,
				}),
		},
		server,
		disabledReason !== undefined,
	);
	const client = useQueryClient();
	const all = useCollection("blocks");
	const blocks = (all.data?.data ?? []).filter(
		(block) => block.active && (template.format === "mjml" ? block.content_mjml : block.content_html) !== null,
	);
	const fitting = (tags: string[]) => blocks.filter((block) => tags.every((tag) => block.tags.includes(tag)));
	const optionsOf = (draft: Draft): BindingOptions => {
		const schema = schemaOf(draft);
		return {
			template_id: template.id,
			slug: template.slug,
			name: draft.name,
			parameters_schema: schema?.parameters_schema ?? [],
			sections_schema: schema?.sections_schema ?? [],
			groups_schema: schema?.groups_schema ?? [],
			slots_schema: (schema?.slots_schema ?? []).map((slot) => {
				const matches = fitting(slot.tag_filter ?? []);
				return {
					...slot,
					eligible_blocks: matches,
					eligible_blocks_total: matches.length,
					eligible_blocks_truncated: false,
				};
			}),
		};
	};
	return (
		<SourceEditor
			kind="template"
			id={template.id}
			list={{ name: words.templates, to: to.templates() }}
			store={draft}
			disabledReason={disabledReason}
			bodies={[template.format]}
			hasSubject
			begin={() => newMjml(client)}
			slugHelp={words.slugHelp}
			schemaParts={["parameters", "sections", "slots", "groups", "expects"]}
			eligible={(tags) => (all.data ? fitting(tags).length : undefined)}
			tags={[...new Set(blocks.flatMap((block) => block.tags))].sort()}
			settings={(draft, set) => (
				<Switch
					label={words.inline}
					checked={draft.inline_css}
					onChange={(inline_css) => set({ inline_css })}
					disabledReason={disabledReason}
				/>
			)}
			source={(draft, binding) => ({
				template: {
					format: template.format,
					...(bodyOf(draft, template.format) as PreviewTemplate),
					...(binding ? { binding } : {}),
				},
			})}
			values={(draft, values, set, problems) =>
				all.isPending ? (
					<Skeleton rows={8} />
				) : (
					<Suspense fallback={<Skeleton rows={8} />}>
						<BindingEditor
							options={optionsOf(draft)}
							value={values}
							onChange={set}
							issues={issuesOf(problems, "binding.")}
						/>
					</Suspense>
				)
			}
			affected={async () => {
				const { usage } = await api("GET /templates/{id}", {
					path: { id: template.id },
					query: { include_usage: true },
				});
				if (!usage) return [];
				return [
					usage.active_drafts > 0 ? words.drafts({ count: usage.active_drafts }) : words.nobody,
					...(usage.recent_broadcasts > 0 ? [words.recent({ count: usage.recent_broadcasts })] : []),
				];
			}}
			deleteText={words.deleteText}
			savedText={words.saved}
			remove={remove}
		/>
	);
}
