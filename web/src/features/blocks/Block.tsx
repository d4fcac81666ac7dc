import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import { api, request, type Versioned } from "../../api/client";
import type { BlockRow, PreviewBlock, UpdateBlockRequestBody } from "../../api/schema";
import { useParam } from "../../base/params";
import { useCollection } from "../../base/collections";
import { useDisabledReason } from "../../base/session";
import { ScopeFields } from "../binding/Slot";
import { blockDraft, type Draft, schemaOf } from "../source/draft";
import { SourceEditor } from "../source/SourceEditor";
import { useStored } from "../source/useStored";
import { TagPicks } from "../source/TagPicks";
import css from "../source/Source.module.css";
import { issuesOf } from "../binding/binding";
import { Badge } from "../../ui/Badge";
import { Select, Switch } from "../../ui/Field";
import { isGone, NotFound } from "../../ui/NotFound";
import { catalogue } from "../../base/words/catalogue";
import { mailProblem } from "../../base/words/errors";
import { blockQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("blocks.block", {
	blocks: "Blocks",
	slugHelp: "Programs and content values use this key.",
	saved: "Saved. Drafts keep the old text until they are saved again.",
	deleteText:
		"Emails that contain it stay as they are. Drafts that use it cannot be saved until they use another block.",
	drafts:
		"{count, plural, one {# draft keeps the old text until it is saved again.} other {# drafts keep the old text until they are saved again.}}",
	recent:
		"{count, plural, one {# broadcast in the last 30 days contains it and stays as it is.} other {# broadcasts in the last 30 days contain it and stay as they are.}}",
	nobody: "No drafts use it.",
	active: "Active",
	activeHelp: "Offered for slots, and may be picked for random ones.",
	inactiveHelp:
		"Not offered or picked anywhere. Drafts that use it cannot be saved until they use another block. Emails that contain it stay as they are.",
	inactive: "Not offered",
	slots: "Slots",
	slotsHelp: "Names of slots it is made for. Where it is offered depends on tags, not on these.",
	within: "Preview in",
	alone: "Alone",
	noTemplate: "No template has a slot that accepts its tags and formats.",
	noValues: "This block has no fields.",
});

function bodyOf(draft: Draft): UpdateBlockRequestBody {
	return {
		name: draft.name,
		slug: draft.slug,
		content_mjml: draft.mjml || null,
		content_html: draft.html || null,
		content_text: draft.text || null,
		tags: draft.tags,
		slot_keys: draft.slot_keys,
		active: draft.active,
		...(JSON.parse(draft.schema) as object),
	};
}

/** BlockPage is the editor of a block, previewed in a template that takes it. */
export default function BlockPage() {
	const { id = "" } = useParams<{ id: string }>();
	const query = useQuery(blockQuery(id));
	if (!query.data || isGone(query.error))
		return <NotFound query={query} list={words.blocks} to={to.blocks()} unsavedInput={{ kinds: ["block"], id }} />;
	return <Editor key={query.data.data.id} server={query.data} />;
}

function Editor({ server }: { server: Versioned<BlockRow> }) {
	const { data: block, revision } = server;
	const path = { id: block.id };
	const disabledReason = useDisabledReason("PUT /blocks/{id}");
	const { draft, remove } = useStored<BlockRow>(
		{
			kind: "block",
			id: block.id,
			list: to.blocks(),
			draftOf: blockDraft,
			get: () => request("GET /blocks/{id}", { path }),
			put: (draft, revision) => request("PUT /blocks/{id}", { path, body: bodyOf(draft), revision }),
			delete: (force) =>
				api("DELETE /blocks/{id}", {
					path,
					query: { force: force || undefined },
					revision: revision ?? undefined,
				}),
		},
		server,
		disabledReason !== undefined,
	);
	const [within, setWithin] = useParam("in");
	const templates = useCollection("templates");
	const blocks = useCollection("blocks");
	const all = templates.data?.data ?? [];
	const matchingTemplates = (draft: Draft) =>
		all.filter(
			(template) =>
				(template.format === "mjml" ? draft.mjml : draft.html) !== "" &&
				template.slots_schema.some((slot) => slot.tag_filter.every((x) => draft.tags.includes(x))),
		);
	const fitting = matchingTemplates(blockDraft(block));
	const previewTemplate = within === "-" ? "" : within || (fitting[0]?.slug ?? "");
	const slotNames = [...new Set(all.flatMap((template) => template.slots_schema.map((slot) => slot.name)))].sort();
	return (
		<SourceEditor
			kind="block"
			id={block.id}
			list={{ name: words.blocks, to: to.blocks() }}
			store={draft}
			disabledReason={disabledReason}
			bodies={["mjml", "html"]}
			slugHelp={words.slugHelp}
			schemaParts={["parameters", "sections", "groups"]}
			tags={[
				...new Set([
					...all.flatMap((template) => template.slots_schema.flatMap((slot) => slot.tag_filter)),
					...(blocks.data?.data ?? []).flatMap((block) => block.tags),
				]),
			].sort()}
			status={!block.active && <Badge tone="neutral">{words.inactive}</Badge>}
			settings={(draft, set) => (
				<>
					<TagPicks
						label={words.slots}
						help={words.slotsHelp}
						options={slotNames.map((slotName) => ({ id: slotName, label: slotName }))}
						values={draft.slot_keys}
						readOnly={disabledReason !== undefined}
						onChange={(slot_keys) => set({ slot_keys })}
					/>
					<Switch
						label={words.active}
						help={draft.active ? words.activeHelp : words.inactiveHelp}
						checked={draft.active}
						onChange={(active) => set({ active })}
						disabledReason={disabledReason}
					/>
				</>
			)}
			// Which template it is shown in is known once the templates are.
			source={(draft, own) =>
				templates.isPending
					? null
					: {
							block: {
								...(bodyOf(draft) as PreviewBlock),
								template_slug: previewTemplate || null,
								...(own
									? {
											parameters: (own.parameters as PreviewBlock["parameters"]) ?? {},
											sections: (own.sections as PreviewBlock["sections"]) ?? {},
										}
									: {}),
							},
						}
			}
			values={(draft, values, set, problems) => {
				const schema = schemaOf(draft);
				const issues = issuesOf(problems, "");
				if (!schema || schema.parameters_schema.length + schema.sections_schema.length === 0)
					return <p className={css.hint}>{words.noValues}</p>;
				return (
					<div className={css.stack}>
						<ScopeFields
							scope={schema}
							path=""
							value={values}
							onChange={set}
							faults={(path) => {
								const problem = issues.find((issue) => issue.path === path);
								return problem && mailProblem({ field: path, message: problem.message });
							}}
						/>
					</div>
				);
			}}
			previewTools={
				<Select
					label={words.within}
					help={templates.data && fitting.length === 0 ? words.noTemplate : undefined}
					value={previewTemplate || "-"}
					onChange={setWithin}
					choices={[
						{ value: "-", label: words.alone },
						...fitting.map((template) => ({ value: template.slug, label: template.name })),
						...(previewTemplate && !fitting.some((template) => template.slug === previewTemplate)
							? [{ value: previewTemplate, label: previewTemplate }]
							: []),
					]}
				/>
			}
			affected={async () => {
				const { usage } = await api("GET /blocks/{id}", { path: { id: block.id }, query: { include_usage: true } });
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
