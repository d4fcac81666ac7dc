import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { AnyTemplateRow, CreateTemplateRequestBody } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Thumb } from "../../ui/Thumb";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { Tools } from "../../ui/Tools";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import { newMjml } from "./blankMjml";
import { Starters } from "./Starters";
import own from "./Starters.module.css";
import { templateOf } from "./fromStarter";
import { within } from "../../base/queries";
import { templatesWithUseQuery } from "./queries";
import { thumbnailQuery } from "../binding/queries";
import { to } from "../../base/paths";

const words = catalogue("templates.templates", {
	title: "Templates",
	about: "The design of your emails, with fields that each email fills in.",
	add: "New template",
	search: "Search templates",
	name: "Name",
	format: "Format",
	places: "Fields",
	sections: "Sections",
	slots: "Slots",
	tags: "Tags",
	used: "Used by",
	drafts: "{count, plural, one {# draft} other {# drafts}}",
	recent: "{count, plural, one {# recent broadcast} other {# recent broadcasts}}",
	picture: "Preview of {name}",
	changed: "Changed",
	empty: "No templates yet",
	emptyText: "Start with a starter template or with your own code.",
	none: "No template matches",
	starters: "Start with",
	blank: "Empty MJML",
	blankText: "Write your own code from scratch.",
	cancel: "Cancel",
});

/** Templates lists the templates. */
export default function Templates() {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /templates");
	const [search, setSearch] = useTextParam("q");
	const [choosing, setChoosing] = useParam("new");
	const templates = useQuery(templatesWithUseQuery());
	const all = templates.data?.data ?? [];
	const rows = all.filter((template) => template.name.toLowerCase().includes(search.toLowerCase()));
	const make = useMutation({
		mutationFn: async (body: CreateTemplateRequestBody | null) =>
			api("POST /templates", {
				body: body ?? { name: words.blank, format: "mjml", content_mjml: await newMjml(client), content_html: "" },
				idempotencyKey: newKey(),
			}),
		onSuccess: (template) => {
			void client.invalidateQueries(within("templates"));
			navigate(to.template(template.id));
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	const none = templates.isSuccess && all.length === 0;
	const add = (
		<Button kind="create" disabledReason={disabledReason} onClick={() => setChoosing("1")}>
			{words.add}
		</Button>
	);
	const starters = (
		<Starters
			busy={make.isPending}
			disabledReason={disabledReason}
			own={{
				name: words.blank,
				text: words.blankText,
				onChoose: () => make.mutate(null),
			}}
			onChoose={(starter) => make.mutate({ ...templateOf(starter), slug: undefined })}
		/>
	);
	return (
		<Page title={words.title} description={words.about} actions={add}>
			{!none && <Tools label={words.search} value={search} onChange={setSearch} />}
			{templates.isPending ? (
				<Skeleton rows={6} />
			) : templates.isError ? (
				<Failure error={templates.error} retry={() => void templates.refetch()} />
			) : none ? (
				<Empty title={words.empty} choices={starters}>
					{words.emptyText}
				</Empty>
			) : rows.length === 0 ? (
				<NoMatch title={words.none} filters={[searched(search, setSearch)]} />
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(template) => template.id}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (template) => (
								<span className={own.named}>
									<Picture template={template} />
									<Link href={to.template(template.id)}>{template.name}</Link>
								</span>
							),
						},
						{ id: "format", name: words.format, cell: (template) => template.format.toUpperCase() },
						{ id: "places", name: words.places, end: true, cell: (template) => template.parameter_count },
						{ id: "sections", name: words.sections, end: true, cell: (template) => template.section_count },
						{ id: "slots", name: words.slots, end: true, cell: (template) => template.slot_count },
						{ id: "tags", name: words.tags, cell: (template) => template.tags.join(", ") || <NotSet /> },
						{
							id: "used",
							name: words.used,
							cell: (template) =>
								[
									template.usage &&
										template.usage.active_drafts > 0 &&
										words.drafts({ count: template.usage.active_drafts }),
									template.usage &&
										template.usage.recent_broadcasts > 0 &&
										words.recent({ count: template.usage.recent_broadcasts }),
								]
									.filter(Boolean)
									.join(", ") || <NotSet />,
						},
						{ id: "changed", name: words.changed, cell: (template) => <Time at={template.updated_at} /> },
					]}
				/>
			)}
			{choosing && (
				<Dialog
					drawer="wide"
					title={words.starters}
					onClose={() => setChoosing("")}
					footer={<Button onClick={() => setChoosing("")}>{words.cancel}</Button>}
				>
					{starters}
				</Dialog>
			)}
		</Page>
	);
}

/** Picture shows a template with its samples, once it is in view. */
function Picture({ template }: { template: AnyTemplateRow }) {
	const [inView, setInView] = useState(false);
	const html = useQuery({ ...thumbnailQuery("template", template.slug, template.updated_at), enabled: inView });
	return (
		<Thumb
			html={html.data}
			label={words.picture({ name: template.name })}
			width={72}
			height={72}
			onView={() => setInView(true)}
		/>
	);
}
