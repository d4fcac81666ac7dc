import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, newKey } from "../../api/client";
import type { AddedMembers, MembersRequestBody, SegmentSession } from "../../api/schema";
import { useTextParam } from "../../base/params";
import { useDisabledReason } from "../../base/session";
import { nameOf } from "../contacts/contactFields";
import { ContactPicks, type Picked } from "../source/ContactPicks";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Copy } from "../../ui/Copy";
import { TextArea } from "../../ui/Field";
import { FormProblems } from "../../ui/FormProblems";
import { useForm } from "../../ui/form";
import { Callout } from "../../ui/Page";
import { Empty, Failure, Skeleton } from "../../ui/States";
import { Table } from "../../ui/Table";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { Tools } from "../../ui/Tools";
import { useLoadMore } from "../../ui/useLoadMore";
import { addressesIn } from "../../base/words/addresses";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import rowsCss from "../../ui/Rows.module.css";
import own from "./Segment.module.css";
import { within } from "../../base/queries";
import { membersQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("segments.members", {
	title: "Members",
	search: "Search members",
	add: "Add people",
	remove: "Remove",
	name: "Name",
	status: "Status",
	since: "Member since",
	none: "Nobody yet",
	noneText: "Add people by address, or select them on the Contacts page.",
	people: "People, by name or address",
	emails: "Or addresses, one per line",
	nothing: "Select people or paste addresses.",
	help: "Only existing contacts are added. No contacts are created.",
	cancel: "Close",
	added: "{added, number} added, {members, number} were already members.",
	missing: "{count, plural, one {# address belongs to no contact:} other {# addresses belong to no contact:}}",
	them: "the addresses",
	copy: "Copy addresses",
	removed: "{count, plural, one {Removed # member} other {Removed # members}}",
	selected: "{count, plural, one {# selected} other {# selected}}",
});

/** How many addresses one request takes. */
const batchSize = 1000;

const batches = (ids: string[]) =>
	Array.from({ length: Math.ceil(ids.length / batchSize) }, (_, index) =>
		ids.slice(index * batchSize, (index + 1) * batchSize),
	);

/** Members lists the members of a segment; those of a list can be added and removed. */
export function Members({ segment }: { segment: SegmentSession }) {
	const client = useQueryClient();
	const [, navigate] = useLocation();
	const [search, setSearch] = useTextParam("q");
	const [selected, setSelected] = useState<Set<string>>(new Set());
	const [adding, setAdding] = useState(false);
	const disabledReason = useDisabledReason("POST /segments/{key}/members");
	const list = segment.type === "static" && segment.system_key === null;
	const query = useInfiniteQuery(membersQuery(segment.segment_key, search));
	const onEnd = useLoadMore(query);
	const refresh = () => {
		void client.invalidateQueries(within("segment", segment.segment_key));
		void client.invalidateQueries(within("segments"));
	};
	const remove = useMutation({
		mutationFn: async (ids: string[]) => {
			let removed = 0;
			for (const contact_ids of batches(ids))
				removed += (
					await api("POST /segments/{key}/members/remove", {
						path: { key: segment.segment_key },
						body: { contact_ids },
					})
				).removed;
			return removed;
		},
		onSuccess: (removed, ids) => {
			setSelected(new Set());
			toast(words.removed({ count: removed }), { undo: () => restore.mutate(ids) });
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
		onSettled: refresh,
	});
	const restore = useMutation({
		mutationFn: async (ids: string[]) => {
			for (const contact_ids of batches(ids))
				await api("POST /segments/{key}/members", {
					path: { key: segment.segment_key },
					body: { contact_ids },
					idempotencyKey: newKey(),
				});
		},
		onError: (error) => toast(explain(error), { tone: "danger" }),
		onSettled: refresh,
	});
	const rows = query.data?.pages.flatMap((page) => page.data) ?? [];
	return (
		<>
			<Tools label={words.search} value={search} onChange={setSearch}>
				{list && (
					<Button disabledReason={disabledReason} onClick={() => setAdding(true)}>
						{words.add}
					</Button>
				)}
				{selected.size > 0 && (
					<>
						<span role="status">{words.selected({ count: selected.size })}</span>
						<Button disabledReason={disabledReason} onClick={() => remove.mutate([...selected])}>
							{words.remove}
						</Button>
					</>
				)}
			</Tools>
			{query.isPending ? (
				<Skeleton rows={8} height={36} />
			) : query.isError ? (
				<Failure error={query.error} retry={() => void query.refetch()} />
			) : rows.length === 0 ? (
				<Empty title={words.none}>{list && words.noneText}</Empty>
			) : (
				<Table
					found={search}
					label={words.title}
					rows={rows}
					rowKey={(contact) => contact.id}
					rowName={nameOf}
					total={segment.member_count_total ?? undefined}
					onEnd={onEnd}
					onOpen={(contact) => navigate(to.contact(contact.id))}
					selected={list ? selected : undefined}
					onSelect={list ? setSelected : undefined}
					columns={[
						{
							id: "name",
							name: words.name,
							cell: (contact) => (
								<span className={rowsCss.name}>
									<Link href={to.contact(contact.id)} tabIndex={-1}>
										{nameOf(contact)}
									</Link>
									<span>{contact.email}</span>
								</span>
							),
						},
						{
							id: "status",
							name: words.status,
							width: 150,
							cell: (contact) => <StateBadge kind="contact" state={contact.global_status} />,
						},
						...(list
							? [
									{
										id: "since",
										name: words.since,
										width: 150,
										cell: (contact: (typeof rows)[number]) => <Time at={contact.member_added_at} />,
									},
								]
							: []),
					]}
					card={(contact) => (
						<span className={rowsCss.card}>
							<span className={rowsCss.name}>
								<b>{nameOf(contact)}</b>
								<span>{contact.email}</span>
							</span>
							<StateBadge kind="contact" state={contact.global_status} />
						</span>
					)}
				/>
			)}
			{adding && (
				<Add
					segment={segment}
					onClose={() => {
						setAdding(false);
						refresh();
					}}
				/>
			)}
		</>
	);
}

function Add({ segment, onClose }: { segment: SegmentSession; onClose: () => void }) {
	const form = useForm({ emails: "" });
	const [selected, setSelected] = useState<Picked[]>([]);
	const [done, setDone] = useState<AddedMembers | null>(null);
	const emails = [...new Map(addressesIn(form.values.emails).map((email) => [email.toLowerCase(), email])).values()];
	const send = () =>
		form.submit(async () => {
			const sum: AddedMembers = { added: 0, already_members: 0, not_found: [] };
			const parts: MembersRequestBody[] =
				selected.length > 0 ? [{ contact_ids: selected.map((option) => option.id) }] : [];
			for (let i = 0; i < emails.length; i += batchSize) parts.push({ emails: emails.slice(i, i + batchSize) });
			for (const [index, body] of parts.entries()) {
				const part = await api("POST /segments/{key}/members", {
					path: { key: segment.segment_key },
					body,
					idempotencyKey: newKey(),
				});
				sum.added += part.added;
				sum.already_members += part.already_members;
				sum.not_found.push(...part.not_found);
				// What is added is not sent again, should a later part fail.
				setDone({ ...sum });
				if (body.contact_ids) setSelected([]);
				form.set({
					emails: parts
						.slice(index + 1)
						.flatMap((part) => part.emails ?? [])
						.join("\n"),
				});
			}
		});
	const isEmpty = emails.length === 0 && selected.length === 0;
	return (
		<Dialog
			title={words.add}
			onClose={onClose}
			onSubmit={() => !isEmpty && void send()}
			submit={{
				label: words.add,
				cancel: words.cancel,
				busy: form.busy,
				disabledReason: isEmpty ? words.nothing : undefined,
			}}
		>
			<FormProblems problems={form.problems} />
			<ContactPicks label={words.people} selected={selected} onChange={setSelected} />
			<TextArea
				rows={6}
				label={words.emails}
				help={words.help}
				path="emails"
				value={form.values.emails}
				onChange={(value) => form.set({ emails: value })}
				error={form.problems.byPath.emails}
			/>
			{done && (
				<Callout
					tone={done.not_found.length ? "warning" : "success"}
					title={words.added({ added: done.added, members: done.already_members })}
				>
					{done.not_found.length > 0 && (
						<>
							<p>{words.missing({ count: done.not_found.length })}</p>
							{/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll */}
							<p className={own.missing} tabIndex={0}>
								{done.not_found.join(", ")}
							</p>
							<Copy text={done.not_found.join("\n")} subject={words.them}>
								{words.copy}
							</Copy>
						</>
					)}
				</Callout>
			)}
		</Dialog>
	);
}
