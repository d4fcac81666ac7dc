import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { BlockRow } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { BlockThumb, Tags } from "../binding/Slot";
import { Badge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Radios, Select, TextField } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { number } from "../../base/words/formats";
import css from "./Blocks.module.css";
import { within } from "../../base/queries";
import { blocksWithUseQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("blocks.blocks", {
	title: "Blocks",
	titleField: "Title",
	about: "Parts of emails that fill slots in templates: a promotion, a quote, a footer.",
	add: "New block",
	search: "Search blocks",
	tag: "Tag",
	anyTag: "All tags",
	picture: "Picture",
	name: "Name",
	tags: "Tags",
	formats: "Formats",
	values: "Values",
	used: "Used by",
	changed: "Changed",
	state: "State",
	active: "Active",
	inactive: "Not offered",
	drafts: "{count, plural, one {# draft} other {# drafts}}",
	recent: "{count, plural, one {# recent broadcast} other {# recent broadcasts}}",
	empty: "No blocks yet",
	emptyText:
		"Write a block once and use it in many emails. A template's slot lists the tags it accepts, and blocks with these tags are offered there.",
	none: "No block matches",
	new: "New block",
	format: "Format",
	mjml: "MJML",
	mjmlHelp: "For templates in MJML.",
	html: "HTML",
	htmlHelp: "For templates in HTML.",
	create: "Create",
});

const initialSource = {
	mjml: `<mj-section>\n  <mj-column>\n    <mj-text>{{param:title}}</mj-text>\n  </mj-column>\n</mj-section>\n`,
	html: `<h2>{{param:title}}</h2>\n`,
};

/** Blocks lists the parts that fill slots. */
export default function Blocks() {
	const disabledReason = useDisabledReason("POST /blocks");
	const [search, setSearch] = useTextParam("q");
	const [tag, setTag] = useParam("tag");
	const [adding, setAdding] = useParam("new");
	const blocks = useQuery(blocksWithUseQuery());
	const all = (blocks.data?.data ?? []) as BlockRow[];
	const rows = all.filter(
		(block) =>
			`${block.name} ${block.slug}`.toLowerCase().includes(search.trim().toLowerCase()) &&
			(!tag || block.tags.includes(tag)),
	);
	const tags = [...new Set(all.flatMap((block) => block.tags))].sort();
	const none = blocks.isSuccess && all.length === 0;
	const add = (
		<Button
			variant="primary"
			icon={<Plus aria-hidden />}
			disabledReason={disabledReason}
			onClick={() => setAdding("1")}
		>
			{words.add}
		</Button>
	);
	return (
		<Page title={words.title} description={words.about} actions={!none && add}>
			{all.length > 0 && (
				<Tools label={words.search} value={search} onChange={setSearch}>
					{tags.length > 0 && (
						<Select
							label={words.tag}
							hideLabel
							value={tag}
							onChange={setTag}
							choices={[{ value: "", label: words.anyTag }, ...tags.map((tag) => ({ value: tag, label: tag }))]}
						/>
					)}
				</Tools>
			)}
			{blocks.isPending ? (
				<Skeleton rows={6} height={64} />
			) : blocks.isError ? (
				<Failure error={blocks.error} retry={() => void blocks.refetch()} />
			) : none ? (
				<Empty title={words.empty} action={add} example={<pre>{initialSource.mjml}</pre>}>
					{words.emptyText}
				</Empty>
			) : rows.length === 0 ? (
				<NoMatch
					title={words.none}
					filters={[searched(search, setSearch), tag !== "" && { name: tag, remove: () => setTag("") }]}
				/>
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(block) => block.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (block) => (
								<span className={css.named}>
									<BlockThumb slug={block.slug} name={block.name} changed={block.updated_at} width={96} height={56} />
									<Link href={to.block(block.id)}>{block.name}</Link>
								</span>
							),
						},
						{
							id: "state",
							beside: true,
							name: words.state,
							cell: (block) => (
								<Badge tone={block.active ? "success" : "neutral"}>
									{block.active ? words.active : words.inactive}
								</Badge>
							),
						},
						{
							id: "tags",
							name: words.tags,
							cell: (block) => (block.tags.length > 0 ? <Tags tags={block.tags} /> : <NotSet />),
						},
						{
							id: "formats",
							name: words.formats,
							cell: (block) =>
								[block.content_mjml !== null && words.mjml, block.content_html !== null && words.html]
									.filter(Boolean)
									.join(", "),
						},
						{
							id: "values",
							name: words.values,
							end: true,
							cell: (block) => number(block.parameters_schema.length + block.sections_schema.length),
						},
						{
							id: "used",
							name: words.used,
							cell: (block) =>
								[
									block.usage && block.usage.active_drafts > 0 && words.drafts({ count: block.usage.active_drafts }),
									block.usage &&
										block.usage.recent_broadcasts > 0 &&
										words.recent({ count: block.usage.recent_broadcasts }),
								]
									.filter(Boolean)
									.join(", ") || <NotSet />,
						},
						{ id: "changed", name: words.changed, cell: (block) => <Time at={block.updated_at} /> },
					]}
				/>
			)}
			{adding && <NewBlock onClose={() => setAdding("")} />}
		</Page>
	);
}

function NewBlock({ onClose }: { onClose: () => void }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const form = useForm({ name: "" });
	const [format, setFormat] = useState("mjml");
	const make = useMutation({
		mutationFn: () =>
			api("POST /blocks", {
				body: {
					name: form.values.name,
					...(format === "mjml" ? { content_mjml: initialSource.mjml } : { content_html: initialSource.html }),
					parameters_schema: [{ name: "title", type: "text", label: words.titleField, sample: form.values.name }],
				},
				idempotencyKey: newKey(),
			}),
	});
	return (
		<Dialog
			title={words.new}
			onClose={onClose}
			onSubmit={() =>
				void form.submit(async () => {
					const created = await make.mutateAsync();
					void client.invalidateQueries(within("blocks"));
					navigate(to.block(created.id));
				})
			}
			submit={{ label: words.create, busy: form.busy }}
		>
			<FormProblems problems={form.problems} />
			<TextField
				label={words.name}
				path="name"
				value={form.values.name}
				onChange={(name) => form.set({ name })}
				error={form.problems.byPath.name}
				autoFocus
			/>
			<Radios
				label={words.format}
				value={format}
				onChange={setFormat}
				choices={[
					{ value: "mjml", label: words.mjml, help: words.mjmlHelp },
					{ value: "html", label: words.html, help: words.htmlHelp },
				]}
			/>
		</Dialog>
	);
}
