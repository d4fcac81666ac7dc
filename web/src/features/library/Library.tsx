import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { MessageRow, TemplateStarter } from "../../api/schema";
import { useParam, useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Starters } from "../templates/Starters";
import { createFromStarter } from "../templates/fromStarter";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { List } from "../../ui/List";
import { NotSet, Page } from "../../ui/Page";
import { Empty, Failure, NoMatch, Skeleton, searched } from "../../ui/States";
import { Time } from "../../ui/Time";
import { Tools } from "../../ui/Tools";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { number } from "../../base/words/formats";
import { explain } from "../../base/words/errors";
import css from "./Library.module.css";
import { within } from "../../base/queries";
import { holders } from "./holders";
import { NewEntry } from "./NewEntry";
import { entriesQuery, size } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("library.library", {
	title: "Library",
	about:
		"Emails that you write once and use in broadcasts and sequences. Every save creates a version, and versions never change.",
	add: "New entry",
	search: "Search entries",
	status: "Status",
	current: "Not archived",
	draft: "Drafts",
	published: "Published",
	archived: "Archived",
	name: "Name",
	version: "Version",
	template: "Template",
	own: "Own code",
	used: "Used by",
	unused: "Nothing",
	tags: "Tags",
	changed: "Changed",
	empty: "The library is empty",
	emptyText:
		"Write an email here, and any sequence step or broadcast can send it. A welcome email is a good start: change it later, and everything set to use the current version sends the new one.",
	starters: "Or start with a finished email and change its texts",
	none: "No entry matches",
	none0: "No content yet",
	pages: "{from, number, short} to {to, number, short} of {of, number, short}",
	before: "Previous",
	after: "Next",
});

function Origin({ message }: { message: MessageRow }) {
	if (message.current_version === 0) return <NotSet />;
	return message.template_id ? (
		<Link href={to.template(message.template_id)}>{message.template_slug ?? message.template_id}</Link>
	) : (
		words.own
	);
}

/** Library lists the mails that are written once and used in many places. */
export default function Library() {
	const disabledReason = useDisabledReason("POST /messages");
	const [search, setSearch] = useTextParam("q");
	const [status, setStatus] = useParam("status");
	const [offset, setOffset] = useParam("offset");
	const [adding, setAdding] = useParam("new");
	const entries = useQuery(entriesQuery(search, status, offset));
	const rows = entries.data?.data ?? [];
	const total = entries.data?.total ?? rows.length;
	const from = Number(offset) || 0;
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
	const none = entries.isSuccess && rows.length === 0 && !search && !status;
	const statuses = [
		{ value: "", label: words.current },
		{ value: "draft", label: words.draft },
		{ value: "published", label: words.published },
		{ value: "archived", label: words.archived },
	];
	const find = (value: string) => {
		setSearch(value);
		setOffset("");
	};
	const choose = (value: string) => {
		setStatus(value);
		setOffset("");
	};
	return (
		<Page title={words.title} description={words.about} actions={!none && add}>
			{!none && (
				<Tools label={words.search} value={search} onChange={find}>
					<Select label={words.status} hideLabel value={status} onChange={choose} choices={statuses} />
				</Tools>
			)}
			{entries.isPending ? (
				<Skeleton rows={6} />
			) : entries.isError ? (
				<Failure error={entries.error} retry={() => void entries.refetch()} />
			) : none ? (
				<Empty title={words.empty} action={add} choices={<FromStarter />}>
					{words.emptyText}
				</Empty>
			) : rows.length === 0 ? (
				<NoMatch
					title={words.none}
					filters={[
						searched(search, find),
						status !== "" && {
							name: statuses.find((s) => s.value === status)?.label ?? status,
							remove: () => choose(""),
						},
					]}
				/>
			) : (
				<>
					<List
						label={words.title}
						rows={rows}
						rowKey={(message) => message.id}
						columns={[
							{
								id: "name",
								name: words.name,
								cell: (message) => <Link href={to.entry(message.id)}>{message.name}</Link>,
							},
							{
								id: "status",
								beside: true,
								name: words.status,
								cell: (message) => <StateBadge kind="message" state={message.status} />,
							},
							{
								id: "version",
								name: words.version,
								end: true,
								cell: (message) => (message.current_version > 0 ? number(message.current_version) : words.none0),
							},
							{ id: "template", name: words.template, cell: (message) => <Origin message={message} /> },
							{ id: "used", name: words.used, cell: (message) => holders(message.usage ?? []) || <NotSet /> },
							{ id: "tags", name: words.tags, cell: (message) => message.tags.join(", ") || <NotSet /> },
							{ id: "changed", name: words.changed, cell: (message) => <Time at={message.updated_at} /> },
						]}
					/>
					{total > size && (
						<div className={css.pages}>
							<span>{words.pages({ from: from + 1, to: from + rows.length, of: total })}</span>
							<Button
								small
								disabledReason={
									from === 0 ? words.pages({ from: from + 1, to: from + rows.length, of: total }) : undefined
								}
								onClick={() => setOffset(from > size ? String(from - size) : "")}
							>
								{words.before}
							</Button>
							<Button
								small
								disabledReason={
									from + rows.length >= total
										? words.pages({ from: from + 1, to: from + rows.length, of: total })
										: undefined
								}
								onClick={() => setOffset(String(from + size))}
							>
								{words.after}
							</Button>
						</div>
					)}
				</>
			)}
			{adding && <NewEntry onClose={() => setAdding("")} />}
		</Page>
	);
}

/** FromStarter makes an entry of a starter: its template and its sample texts, to be changed. */
function FromStarter() {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const disabledReason = useDisabledReason("POST /templates");
	const make = useMutation({
		mutationFn: async (starter: TemplateStarter) =>
			api("POST /messages", {
				body: { name: starter.name, content: await createFromStarter(starter) },
				idempotencyKey: newKey(),
			}),
		onSuccess: (created) => {
			void client.invalidateQueries(within("messages"));
			void client.invalidateQueries(within("templates"));
			navigate(to.entry(created.id, { edit: "1" }));
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
	});
	return (
		<>
			<h3 className={css.begin}>{words.starters}</h3>
			<Starters busy={make.isPending} disabledReason={disabledReason} onChoose={(starter) => make.mutate(starter)} />
		</>
	);
}
